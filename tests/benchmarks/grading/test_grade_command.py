"""The commands grade and report."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.spark
def test_grade_and_report(cli, examples, spark):
    words = ("grade", "word-count.json", "--methods", "r-storm,round-robin", "--out", "graded")
    first = cli(*words, "--json")
    assert first.code == 0
    assert first.json["run"] == 3
    again = cli(*words)
    assert again.code == 0
    assert "0 run now" in again.out
    page = cli("report", "graded", "--json")
    assert page.code == 0
    assert Path(page.json["report"]).read_text().startswith("<!")
