"""Tables of a summary as data for programs: JSON, CSV, and LaTeX for papers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slotwise.models.formats.text import csv_lines

if TYPE_CHECKING:
    import pandas as pd

INFINITE = "inf"
"""How infinity is written where numbers are text, and in JSON, which has none."""

_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Signs of ours that pdflatex does not know as text.
    "\N{EN DASH}": "--",
    "\N{MINUS SIGN}": "$-$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{INFINITY}": r"$\infty$",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
}


def plain_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON-ready objects: missing is ``None``, infinity a text."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else INFINITE
    return value


def csv_text(table: pd.DataFrame) -> str:
    """Return the table as CSV with a head; a missing cell is empty, no text is a formula."""
    head = [str(name) for name in table.columns]
    records = (record.values() for record in plain_records(table))
    return "".join(csv_lines([head, *records]))


def latex_escaped(text: str) -> str:
    """Return the text with every sign escaped that LaTeX takes as a command, or does not know."""
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def latex_text(heads: Mapping[str, bool], rows: Sequence[Sequence[str]], caption: str) -> str:
    r"""Return a floating table in the style of booktabs (``\usepackage{booktabs}``).

    Parameters
    ----------
    heads
        Head -> whether its column has numbers, which stand to the right.
    rows
        Cells, as plain text.
    caption
        As plain text.
    """
    kinds = "".join("r" if is_number else "l" for is_number in heads.values())
    lines = [" & ".join(map(latex_escaped, cells)) + r" \\" for cells in (list(heads), *rows)]
    return floating_table(rf"\caption{{{latex_escaped(caption)}}}", kinds, lines)


def floating_table(caption: str, kinds: str, lines: Sequence[str]) -> str:
    r"""Return a floating table in the style of booktabs; all parts are LaTeX, the head comes first.

    `kinds` has a letter for each column, as ``tabular`` takes them.
    """
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering",
            caption,
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        )
    )
