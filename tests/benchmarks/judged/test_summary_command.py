"""The command summary; its table at the end of grade: ../grading/test_grade_command.py."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import pytest
from graded_rows import row, write_rows

import slotwise
from slotwise.benchmarks.judged.plain_table import latex_escaped, latex_text
from slotwise.benchmarks.judged.summary import TABLES

ROWS = [
    one
    for number in range(6)
    for one in (
        row(f"i{number}", "auto", "optimal", ("0", "10"), family="f"),
        row(f"i{number}", "a_b", "valid", ("0", str(11 + number)), family="f"),
        row(f"i{number}", "cmd:x & y", "valid", ("0", "20"), family="f"),
    )
] + [
    row("last", "auto", "optimal", ("0", "10")),
    row("last", "a_b", "refused", reason="full"),
    row("last", "cmd:x & y", "valid", ("0", "20")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("graded"), ROWS)


@pytest.fixture
def summed(cli, folder):
    return lambda *options: cli("summary", folder, *options)


def line_of(text, name):
    return next(line.split() for line in text.splitlines() if line.strip().startswith(name))


def test_the_table(summed):
    answer = summed()
    assert (answer.code, answer.err) == (0, "")
    # Gaps of 10 % to 60 % and a failure: the median of seven is the fourth.
    line = " ".join(line_of(answer.out, "a_b"))
    assert line.startswith("a_b 6 of 7 0 1 35 % [")
    assert "] 40 % ∞ 6" in line
    assert line_of(answer.out, "auto")[1:4] == ["7", "proven", "7"]
    text = " ".join(answer.out.split())
    assert "Compared on 6 instances, without 1 that not all these methods" not in text
    assert "refused: full" in text
    assert "network p=0.031" in text
    assert "Gap = (value - optimum) / optimum" in text


def test_solver_gaps_are_named(summed):
    text = " ".join(summed("--solver-gap").out.split())
    assert "Solvers' gap = (value - bound) / value" in text


def test_csv(summed):
    answer = summed("--csv", "--by", "family")
    rows = {(r["family"], r["method"]): r for r in csv.DictReader(io.StringIO(answer.out))}
    told = rows["f", "a_b"]
    assert (told["placed"], told["runs"], told["wins"]) == ("6", "6", "6")
    assert float(told["network_median_low"]) == pytest.approx(0.35)
    assert float(told["network_mean_low"]) == pytest.approx(0.35)
    assert rows["(files)", "a_b"]["network_p95_low"] == "inf"
    assert rows["(files)", "a_b"]["network_mean_low"] == ""


def test_json_has_every_table(summed):
    document = summed("--json").json
    assert document["terms"] == ["overload", "network"]
    assert set(TABLES) < set(document)
    tests = {row["term"]: row for row in document["tests"]}
    assert tests["network"]["p"] == pytest.approx(2 / 64)
    assert tests["overload"]["p"] is None
    assert document["failures"][0]["why"] == "refused: full"


def test_latex(summed):
    answer = summed("--latex")
    lines = answer.out.splitlines()
    assert lines[0] == r"\begin{table}"
    assert r"\toprule" in lines
    assert any(line.startswith(r"a\_b & 6 of 7 &") and r"\infty" in line for line in lines)
    assert any(line.startswith(r"cmd:x \& y & 7 of 7 & 0") for line in lines)


BAD = {
    (
        "--by",
        "familly",
    ): "--by = 'familly': is not a class of instances; did",
    ("--csv", "--json"): "cannot be given together: --csv and --json",
    ("--master", "spark"): "--master",
}


@pytest.mark.parametrize("options", BAD, ids=" ".join)
def test_bad_options_are_one_line(cli, folder, options):
    answer = cli("summary", folder, *options)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert BAD[options] in answer.err


def test_folders_without_rows_are_one_line(cli, tmp_path):
    missing = cli("summary", tmp_path / "nothing")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "is not a folder of a grading" in missing.err
    empty = cli("summary", tmp_path)
    assert (empty.code, empty.err.count("\n")) == (2, 1)
    assert "holds no rows of a grading" in empty.err
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "rows-00000000-x.parquet").write_text("no parquet")
    broken = cli("summary", tmp_path)
    assert (broken.code, broken.err.count("\n")) == (2, 1)
    assert "rows-00000000-x.parquet" in broken.err


def test_a_summary_shows_itself_in_one_line(folder):
    summary = slotwise.summary(folder)
    assert repr(summary) == f"Summary {folder}: auto 7 of 7, cmd:x & y 7 of 7, a_b 6 of 7"
    assert summary.to_frame().equals(summary.methods)


def test_names_cannot_be_commands_of_latex():
    assert latex_escaped(r"a_b{50%} \x ~^") == (
        r"a\_b\{50\%\} \textbackslash{}x \textasciitilde{}\textasciicircum{}"
    )
    assert latex_escaped("a\N{RIGHTWARDS ARROW}b \N{INFINITY}") == r"a$\rightarrow$b $\infty$"
    table = latex_text({"method": False, "n": True}, [("x&y", "1")], "100 %")
    assert r"\begin{tabular}{lr}" in table
    assert r"x\&y & 1 \\" in table
    assert r"\caption{100 \%}" in table


def test_a_summary_imports_nothing_that_it_does_not_need(folder):
    code = (
        "import sys, slotwise; slotwise.summary(sys.argv[1])\n"
        "heavy = {'scipy.stats', 'networkx', 'matplotlib', 'slotwise.heuristics.ours'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
