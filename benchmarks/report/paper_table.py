"""A table for a paper, as CSV and in LaTeX, and the captions of charts.

LaTeX: booktabs, longtable for long ones, every special sign escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.benchmarks.judged.method_table import NO_NUMBER
from slotwise.benchmarks.judged.plain_table import floating_table, latex_escaped
from slotwise.benchmarks.report.text import DASH
from slotwise.models.formats.text import csv_lines


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table: stable name for files, caption, heads, and cells as text.

    `plain`: heads and rows of the CSV file where its cells are not those of the table.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    plain: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None = None

    def csv_text(self) -> str:
        """Return it as CSV with a head; a cell without a number is empty, no text is a formula.

        Cells are numbers, infinity is ``inf``: units stand in the head, and what is several
        numbers for people (``1 to 2 %``, ``3 of 4``, ``2 proven, 1 open``) is several columns.
        """
        heads, rows = self.plain or (self.columns, self.rows)
        columns: list[Sequence[str]] = []
        for head, cells in zip(heads, zip(*rows, strict=True), strict=True):
            columns += _plain_columns(head, cells)
        return "".join(csv_lines(zip(*columns, strict=True)))


_ONE = r"[-+\N{MINUS SIGN}]?(?:\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|\N{INFINITY})"
_RANGE = re.compile(rf"({_ONE})(?: %)?(?: to ({_ONE})(?: %)?)?(?: \[({_ONE}), ({_ONE})\])?")
_OF = re.compile(r"(\d+) of (\d+)")
_COUNTS = re.compile(r"\d+ [a-z]+(?:, \d+ [a-z]+)*")
_ENDS = (" from", " to", " 95 % interval from", " 95 % interval to")
_EMPTY = ("", DASH, NO_NUMBER)
_NAMES = ("method", "instance", "family", "for example")
"""Heads of columns whose cells may look like numbers and are none."""


def _plain_columns(head: str, cells: Sequence[str]) -> list[Sequence[str]]:
    """Return the columns of numbers that a column's cells hold, heads first; of texts the same."""
    parts = [None if head in _NAMES else _numbers(cell) for cell in cells]
    if None in parts or not any(parts):
        return [(head, *("" if cell in _EMPTY else cell for cell in cells))]
    columns = [part or {} for part in parts]
    if all(part.get(" from") == part.get(" to") for part in columns):
        columns = [{"" if name == " from" else name: number for name, number in part.items()
                  if name != " to"} for part in columns]  # fmt: skip
    names = dict.fromkeys(name for part in columns for name in part)
    unit = ", %" if any(" %" in cell for cell in cells) else ""
    return [(f"{head}{name}{unit}", *(part.get(name, "") for part in columns)) for name in names]


def _numbers(cell: str) -> dict[str, str] | None:
    """Return the numbers in a cell by what follows the head of their column; ``None`` = text."""
    if cell in _EMPTY:
        return {}
    if match := _OF.fullmatch(cell):
        return {"": match[1], " of": match[2]}
    if _COUNTS.fullmatch(cell):
        words = (one.split() for one in cell.split(", "))
        return {f" {word}": count for count, word in words}
    if match := _RANGE.fullmatch(cell):
        ends = (match[1], match[2] or match[1], match[3], match[4])
        return {name: _plain(end) for name, end in zip(_ENDS, ends, strict=True) if end}
    return None


def _plain(number: str) -> str:
    text = number.removeprefix("+").replace(",", "")
    return text.replace("\N{MINUS SIGN}", "-").replace("\N{INFINITY}", "inf")


MOST_ON_A_PAGE = 40
"""A table with more rows is a ``longtable``, which goes on over pages."""

_NUMBER = re.compile(r"[-+\N{MINUS SIGN}]?[\d,.]+(e[-+]?\d+)?( %)?|[\N{EN DASH}\N{INFINITY}-]|")


def escaped(text: str) -> str:
    """Return plain text for LaTeX, on one line."""
    return latex_escaped(" ".join(text.split()))


def latex_table(table: PaperTable) -> str:
    r"""Return the table with caption and label ``tab:NAME``; it needs ``\usepackage{booktabs}``."""
    head, *body = map(_line, (table.columns, *table.rows))
    kinds = "".join("r" if _is_number(table, i) else "l" for i in range(len(table.columns)))
    caption = rf"\caption{{{escaped(table.caption)}}}\label{{tab:{table.name}}}"
    if len(body) <= MOST_ON_A_PAGE:
        return floating_table(caption, kinds, (head, *body))
    return "\n".join(
        (
            rf"\begin{{longtable}}{{{kinds}}}",
            rf"{caption}\\",
            *(r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"),
            *body,
            *(r"\end{longtable}", ""),
        )
    )


def latex_figure(name: str, caption: str) -> str:
    """Return a floating figure that includes the PDF of that name; it needs graphicx."""
    return "\n".join(
        (
            *(r"\begin{figure}", r"\centering", rf"\includegraphics[width=\linewidth]{{{name}}}"),
            rf"\caption{{{escaped(caption)}}}\label{{fig:{name}}}",
            *(r"\end{figure}", ""),
        )
    )


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def _is_number(table: PaperTable, column: int) -> bool:
    return all(_NUMBER.fullmatch(row[column]) for row in table.rows)
