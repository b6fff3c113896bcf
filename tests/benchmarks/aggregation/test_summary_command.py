"""The command summary, and the table at the end of grade."""

from __future__ import annotations

import csv
import io

import pytest
from graded_rows import row, write_rows

import slotwise
from slotwise.benchmarks.aggregation.plain_table import latex_escaped, latex_text

ROWS = [
    one
    for number in range(6)
    for one in (
        row(f"i{number}", "auto", "optimal", ("0", "10"), family="f"),
        row(f"i{number}", "a_b", "valid", ("0", str(11 + number)), family="f"),
        row(f"i{number}", "cmd:x & y", "valid", ("0", "20"), family="f"),
    )
] + [row("last", "auto", "optimal", ("0", "10")), row("last", "a_b", "refused", reason="full")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("graded"), ROWS)


@pytest.fixture(scope="module")
def summaries(folder, spark):
    """What the command would compute anew for each test."""
    return {by: slotwise.summary(folder, by=by) for by in ("", "family")}


@pytest.fixture
def summed(cli, folder, summaries, monkeypatch):
    """Run the command on summaries that are there."""

    def found(given, *, by, **_):
        assert given == str(folder)
        return summaries[by]

    monkeypatch.setattr("slotwise.api.gradings.summing.summary", found)
    return lambda *options: cli("summary", folder, *options)


def line_of(text, name):
    return next(line.split() for line in text.splitlines() if line.strip().startswith(name))


@pytest.mark.slow
def test_the_table(summed):
    answer = summed()
    assert (answer.code, answer.err) == (0, "")
    assert "overload: every placement is at the optimum." in answer.out
    # Gaps of 10 % to 60 % and a failure: the median of seven is the fourth.
    assert " ".join(line_of(answer.out, "a_b")[:6]) == "a_b 6 of 7 40 %"
    assert line_of(answer.out, "auto")[-3:] == ["-", "-", "1"]
    assert "refused: full" in answer.out
    assert "network p=0.031" in " ".join(answer.out.split())


def test_csv(summed):
    answer = summed("--csv", "--by", "family")
    rows = {(r["family"], r["method"]): r for r in csv.DictReader(io.StringIO(answer.out))}
    told = rows["f", "a_b"]
    assert (told["solved"], told["runs"], told["wins"]) == ("6", "6", "6")
    assert float(told["network_over_optimum_all_median"]) == pytest.approx(0.35)
    assert float(told["network_gap_common_mean"]) == pytest.approx(
        sum(n / (10 + n) for n in range(1, 7)) / 6
    )
    assert rows["(files)", "a_b"]["network_over_optimum_all_p95"] == "inf"
    assert rows["(files)", "a_b"]["network_gap_common_mean"] == ""


def test_json_has_every_table(summed):
    document = summed("--json").json
    assert document["terms"] == ["overload", "network"]
    assert {"methods", "gaps", "ecdf", "pairs", "tests", "profiles", "failures"} < set(document)
    tests = {row["term"]: row for row in document["tests"]}
    assert tests["network"]["p"] == pytest.approx(2 / 64)
    assert tests["overload"]["p"] is None
    assert document["failures"][0]["why"] == "refused: full"


def test_latex(summed):
    answer = summed("--latex")
    lines = answer.out.splitlines()
    assert lines[0] == r"\begin{table}"
    assert r"\toprule" in lines
    assert any(line.startswith(r"a\_b & 6 of 7 & 40 \%") and r"\infty" in line for line in lines)
    assert any(line.startswith(r"cmd:x \& y & 6 of 6 & 100 \%") for line in lines)


BAD = {
    (
        "--by",
        "familly",
    ): "--by = 'familly': is none of family, size, tightness; did",
    ("--csv", "--json"): "cannot be given together: --csv and --json",
    ("--master", "spark"): "--master",
}


@pytest.mark.parametrize("options", BAD, ids=" ".join)
def test_bad_options_are_one_line(cli, folder, options):
    answer = cli("summary", folder, *options)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert BAD[options] in answer.err


def test_folders_without_rows_are_one_line(cli, tmp_path, spark):
    missing = cli("summary", tmp_path / "nothing")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "is no folder of a grading" in missing.err
    empty = cli("summary", tmp_path)
    assert (empty.code, empty.err.count("\n")) == (2, 1)
    assert "holds no rows of a grading" in empty.err
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "rows-00000000-x.parquet").write_text("no parquet")
    broken = cli("summary", tmp_path)
    assert (broken.code, broken.err.count("\n")) == (2, 1)
    assert "rows-00000000-x.parquet" in broken.err


def test_a_summary_shows_itself_in_one_line(summaries, folder):
    summary = summaries[""]
    assert repr(summary) == f"Summary {folder}: auto 7 of 7, cmd:x & y 6 of 6, a_b 6 of 7"
    assert summary.to_frame().equals(summary.methods)


def test_grade_ends_with_the_table(cli, examples, spark):
    answer = cli("grade", "word-count.json", "--methods", "r-storm", "--out", "graded")
    assert answer.code == 0
    assert "1 of 1" in " ".join(line_of(answer.out, "r-storm"))


def test_names_cannot_be_commands_of_latex():
    assert latex_escaped(r"a_b{50%} \x ~^") == (
        r"a\_b\{50\%\} \textbackslash{}x \textasciitilde{}\textasciicircum{}"
    )
    assert latex_escaped("a\N{RIGHTWARDS ARROW}b \N{INFINITY}") == r"a$\rightarrow$b $\infty$"
    table = latex_text({"method": False, "n": True}, [("x&y", "1")], "100 %")
    assert r"\begin{tabular}{lr}" in table
    assert r"x\&y & 1 \\" in table
    assert r"\caption{100 \%}" in table
