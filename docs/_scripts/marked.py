"""What scripts write into pages: the text between ``<!-- begin NAME -->`` and ``<!-- end -->``."""

from __future__ import annotations

import re
from pathlib import Path

BLOCK = re.compile(r"<!-- begin ([^>]+?) -->\n(.*?)<!-- end -->", re.DOTALL)


def blocks(text: str) -> dict[str, str]:
    """Return what stands between markers, by name."""
    return {name: body.strip("\n") for name, body in BLOCK.findall(text)}


def replaced(text: str, name: str, body: str) -> str:
    """Return the text with another body between the markers of a name.

    Raises
    ------
    KeyError
        When the text has no such markers.
    """
    if name not in blocks(text):
        raise KeyError(f"no markers <!-- begin {name} --> ... <!-- end -->")
    block = f"<!-- begin {name} -->\n\n{body}\n\n<!-- end -->"
    return BLOCK.sub(lambda match: block if match[1] == name else match[0], text)


def write(page: Path, name: str, body: str) -> None:
    """Write the body between the markers of a page."""
    page.write_text(replaced(page.read_text("utf-8"), name, body), "utf-8")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], text_columns: int = 1) -> str:
    """Return a Markdown table, all but the first columns aligned right."""
    rule = ["---"] * text_columns + ["--:"] * (len(head) - text_columns)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, tuple(rule), *rows))
