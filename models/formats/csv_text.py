"""Text as cells of CSV files, which spreadsheets must not take for formulas."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?", re.IGNORECASE)
_FORMULA = re.compile(r"'*[-=+@\t\r]")


def csv_cell(text: str) -> str:
    """Return text as a cell: with a ``'`` before what a spreadsheet would run as a formula.

    That is text that begins with ``=``, ``@``, ``+``, ``-``, a tab or a carriage return; numbers
    stay numbers. Where quotes stand before such a sign there is one more, so that `text_of_cell`
    gives every text back.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def text_of_cell(cell: str) -> str:
    """Return the text that `csv_cell` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
