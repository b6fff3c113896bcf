"""A table for a paper, as CSV and in LaTeX, and the captions of charts.

LaTeX: booktabs, longtable for long ones, every special sign escaped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.benchmarks.judged.plain_table import floating_table, latex_escaped
from slotwise.benchmarks.report.text import DASH
from slotwise.models.formats.text import csv_cell


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table: stable name for files, caption, heads, and cells as text."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def csv_text(self) -> str:
        """Return it as CSV with a head; a cell without a number is empty, text is no formula."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(csv_cell, self.columns))
        writer.writerows(
            ["" if cell == DASH else csv_cell(cell) for cell in row] for row in self.rows
        )
        return out.getvalue()


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
