"""What a process that failed wrote last, for a message of one line."""

from __future__ import annotations

STDERR_TAIL = 300
"""So many last characters of stderr stand in a reason."""


def last_words(stderr: bytes) -> str:
    """Return the end of what it wrote to stderr on one line; empty where it wrote nothing."""
    text = " ".join(stderr.decode(errors="replace").split())
    if not text:
        return ""
    return "; stderr: " + (text if len(text) <= STDERR_TAIL else "..." + text[-STDERR_TAIL:])
