"""Text of others on one line, harmless on a terminal."""

from __future__ import annotations


def one_line(text: str, most: int | None = None) -> str:
    """Return `text` with every character that is no printable one written as an escape.

    Parameters
    ----------
    text
        From anywhere: a file, another program. Runs of white space become one blank.
    most
        Longest result; what is longer keeps its end. ``None`` = any length.
    """
    text = " ".join(text.split())
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if most is None or len(text) <= most else "..." + text[-most:]
