"""Cells of CSV files: text never runs as a formula, numbers stay numbers, every text comes back."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.benchmarks.judged.plain_table import csv_text
from slotwise.benchmarks.report.paper_table import PaperTable
from slotwise.models.formats.text import csv_cell, text_of_cell

FORMULAS = (
    "=1+1",
    "@SUM(A1)",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "\t=1",
    "\r=1",
    "-",
    "-x",
    "'=1",
    "''@",
)
NUMBERS = ("-1", "+2.5", "-1,234.5", "-3 %", "+0.5%", "-1e-9", "1e+5", "0")
TEXTS = ("", "a=b", "r-storm", "a@b", "'quoted'", "it's", "10 - 3")


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_a_quote(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", [*NUMBERS, *TEXTS])
def test_numbers_and_other_texts_stay(text: str) -> None:
    assert csv_cell(text) == text


@given(st.text("'=@+-\t\r1a", max_size=5))
def test_every_text_comes_back(text: str) -> None:
    cell = csv_cell(text)
    assert text_of_cell(cell) == text
    assert cell == text or cell.startswith("'")


def test_a_summary_as_csv() -> None:
    table = pd.DataFrame({"method": ["=cmd()", "a"], "gap": [-0.5, 2.0], "=head": ["", None]})
    written = list(csv.reader(io.StringIO(csv_text(table))))
    assert written == [["method", "gap", "'=head"], ["'=cmd()", "-0.5", ""], ["a", "2.0", ""]]


def test_a_table_for_a_paper_as_csv() -> None:
    table = PaperTable("t", "", ("method", "@gap"), (("-x", "-1.5 %"), ("@b", "+2")))
    assert table.csv_text() == "method,\"'@gap, %\"\n'-x,-1.5\n'@b,2\n"
