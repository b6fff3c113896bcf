"""Short texts and small HTML tables of objects, for interactive sessions and notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import islice
from typing import Any, TextIO

MOST_LINES = 3
"""Lines below the first one of a `repr`, before ``... and N more``."""
MOST_NAMES = 8
MOST_WIDE = 110
"""Characters of a line."""
MOST_ROWS = 20
"""Rows of a table in a notebook."""


def takes_escapes(stream: TextIO) -> bool:
    """Return whether to write colours, bold and moving lines: a terminal, and no ``NO_COLOR``."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 node``, ``3 nodes``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def kind_of(value: object) -> str:
    """Return what kind of object a value is: ``an int``, ``a Placement``, ``None``."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeio' else 'a'} {name}"


def listed(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return the first names with commas between, and how many there are if that is not all."""
    more = f", ... ({len(names):,} in all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def block(head: str, lines: Sequence[str]) -> str:
    """Return a line and the first few of those below it, indented: five lines at most."""
    shown = [f"  {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"  ... and {len(lines) - MOST_LINES:,} more")
    return "\n".join(_cut(line) for line in (head, *shown))


def _cut(line: str) -> str:
    return line if len(line) <= MOST_WIDE else line[: MOST_WIDE - 3] + "..."


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], count: int) -> str:
    """Return the first rows as an HTML table, everything escaped.

    Parameters
    ----------
    heads
        Of the columns.
    rows
        One text per column.
    count
        How many rows there are; where they are more than are shown, a line says so.
    """
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
        for row in islice(rows, MOST_ROWS)
    )
    more = html_line(f"... and {count - MOST_ROWS:,} more rows") if count > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


_DRAW: list[Callable[[Any], str]] = []
"""What draws a judged placement, if any: who can draw it is above this package."""


def draw_with(draw: Callable[[Any], str]) -> None:
    """Have notebooks show the HTML that `draw` returns for a `Verdict`, with all that it shows."""
    _DRAW[:] = [draw]


def drawn(verdict: object) -> str:
    """Return the drawing of a `Verdict` as HTML; empty before `draw_with` was called."""
    return "".join(draw(verdict) for draw in _DRAW)


def html_line(text: str) -> str:
    """Return a line of HTML, escaped."""
    return f"<div>{escape(text)}</div>"
