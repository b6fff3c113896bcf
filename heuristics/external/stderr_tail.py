"""What a process that failed wrote last, for a message of one line."""

from __future__ import annotations

from slotwise.models.one_line import one_line

STDERR_TAIL = 300
"""So many last characters of stderr stand in a reason."""

STDERR_BYTES = 4096
"""So many last bytes of stderr are looked at."""


def last_words(stderr: bytes) -> str:
    """Return the end of what it wrote to stderr on one line; empty where it wrote nothing."""
    text = one_line(stderr[-STDERR_BYTES:].decode(errors="replace"), STDERR_TAIL)
    return f"; stderr: {text}" if text else ""


def last_line(said: bytes) -> str:
    """Return the end of the last line that a process wrote; empty where it wrote nothing."""
    lines = said.decode(errors="replace").strip().splitlines()
    return one_line(lines[-1], STDERR_TAIL) if lines else ""
