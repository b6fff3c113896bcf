"""Two gradings compared, from rows made by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from graded_folder import EVIL, make_graded
from graded_rows import optimum, row
from scipy.stats import wilcoxon

import slotwise
from slotwise.benchmarks.report.comparison.change import Change, MethodChanges
from slotwise.benchmarks.report.comparison.compare import compare_rows
from slotwise.benchmarks.report.comparison.page import change_chart
from slotwise.models.errors import InputError

BEFORE = [
    optimum("a", "0", "10"),
    row("a", "m", "valid", ("0", "12")),
    row("b", "m", "valid", ("0", "12")),
    row("c", "m", "valid", ("3", "12")),
    row("d", "m", "valid", ("0", "12")),
    row("e", "m", "valid", ("0", "12")),
    row("f", "m", "refused"),
    row("g", "m", "timeout", error="no answer"),
    row("h", "m", "refused"),
    row("old", "m", "valid", ("0", "1")),
    row("a", "gone", "valid", ("0", "1")),
]
AFTER = [
    optimum("a", "0", "10"),
    row("a", "m", "valid", ("0", "11")),
    row("b", "m", "valid", ("0", "15")),
    row("c", "m", "valid", ("1", "99")),
    row("d", "m", "valid", ("0", "12")),
    row("e", "m", "broken rule", violations=["capacity: node n1"], violation_count=1),
    row("f", "m", "valid", ("0", "7")),
    row("g", "m", "refused"),
    row("h", "m", "refused"),
    row("h", "auto", "infeasible"),
    row("new", "m", "valid", ("0", "1"), seed=3),
]


def changes(method: str = "m") -> MethodChanges:
    found = compare_rows(BEFORE, AFTER)
    return next(one for one in found.methods if one.method == method)


def test_every_class_of_change() -> None:
    classes = {pair.instance: (pair.change, pair.term) for pair in changes().pairs}
    assert classes == {
        "a": (Change.BETTER, "network"),
        "b": (Change.WORSE, "network"),
        "c": (Change.BETTER, "overload"),
        "d": (Change.UNCHANGED, None),
        "e": (Change.NEWLY_FAILING, None),
        "f": (Change.NEWLY_SOLVED, None),
        "g": (Change.BOTH_FAIL, None),
    }, "h is proven infeasible: refusing it is right"
    assert changes("auto").count(Change.UNCHANGED) == 1
    (failing,) = changes().of(Change.NEWLY_FAILING)
    assert (failing.before, failing.after) == ("overload 0, network 12", "breaks capacity")


def test_terms_are_apart() -> None:
    overload, network = changes().terms
    # c decides in overload; its network, 12 to 99, says nothing.
    assert (overload.term, overload.pairs, overload.better, overload.worse) == ("overload", 4, 1, 0)
    assert overload.mean == pytest.approx(-2 / 4)
    assert (network.term, network.pairs, network.better, network.worse) == ("network", 3, 1, 1)
    assert network.mean == pytest.approx((-1 + 3 + 0) / 3)
    assert network.p_value is None
    assert network.verdict == "too few differ"


def test_what_one_grading_alone_has_is_said() -> None:
    found = compare_rows(BEFORE, AFTER)
    assert found.only_before.methods == ("gone",)
    assert found.only_after.methods == ()
    assert found.only_before.instances == ("old",)
    assert found.only_after.instances == ("new (seed 3)",)
    assert found.cases == 8
    assert found.infeasible == 1


def test_the_test_is_paired_and_corrected() -> None:
    before = [row(f"i{i}", m, "valid", ("0", "100")) for i in range(20) for m in "xy"]
    after = [row(f"i{i}", "x", "valid", ("0", str(90 - i))) for i in range(20)]
    after += [row(f"i{i}", "y", "valid", ("0", str(100 + (-1) ** i * (i + 1)))) for i in range(20)]
    x, y = compare_rows(before, after).methods
    network = x.terms[1]
    raw = wilcoxon([90 - i - 100 for i in range(20)]).pvalue
    assert network.p_value == pytest.approx(2 * raw), "Holm: two tests have a p-value"
    assert network.verdict == "better"
    assert network.low is not None
    assert network.high is not None
    assert network.low < network.mean < network.high < 0
    assert y.terms[1].verdict == "no clear difference"
    assert x.terms[0].verdict == "the same"


def test_the_last_run_stands_for_a_method() -> None:
    before = [
        row("a", "m", "timeout", error="x"),
        row("a", "m", "valid", ("0", "5"), time_limit_s=60.0),
    ]
    found = compare_rows(before, [row("a", "m", "valid", ("0", "5"))])
    assert found.methods[0].count(Change.UNCHANGED) == 1
    assert found.cautions == ("The time limits differ: 60 s before, 10 s after.",)


def test_a_contradiction_is_said() -> None:
    (caution,) = compare_rows(BEFORE[1:3], [row("a", "auto", "infeasible"), BEFORE[2]]).cautions
    assert caution.startswith("Contradiction: m has a valid placement of a")


def test_two_methods_with_one_label_are_compared() -> None:
    before = [row("a", "cmd:./v1", "valid", ("0", "5"))]
    after = [row("a", "cmd:./v2", "valid", ("0", "4"))]
    assert compare_rows(before, after).methods == ()
    (mine,) = compare_rows(before, after, {"cmd:./v1": "mine", "cmd:./v2": "mine"}).methods
    assert (mine.method, mine.count(Change.BETTER)) == ("mine", 1)


def test_the_chart_counts_what_the_table_says() -> None:
    chart = change_chart(compare_rows(BEFORE, AFTER))
    assert chart is not None
    cells = {r[0]: dict(zip(chart.columns, r, strict=True)) for r in chart.rows}
    assert cells["m"] == {
        "method": "m", "newly solved": "1", "better": "2", "unchanged": "1", "worse": "1",
        "newly failing": "1", "both fail": "1", "runs": "7",
    }  # fmt: skip
    assert ElementTree.fromstring(chart.figure().svg).get("role") == "img"


def test_folders_are_compared_on_a_page(tmp_path: Path) -> None:
    before = make_graded(tmp_path)
    after = Path(shutil.copytree(before, tmp_path / "after"))
    found = slotwise.compare(before, after)
    page = found.write_page()
    text = page.read_text(encoding="utf-8")
    assert page == after / "comparison.html"
    assert EVIL not in text
    assert "https://" not in text.replace("http://www.w3.org", "")
    assert "2 unchanged" in repr(found) or "1 unchanged" in repr(found)
    document = json.loads(json.dumps(found.to_document()))
    assert {one["method"] for one in document["methods"]} == {"auto", "r-storm", "round-robin"}
    assert not (before / "comparison.html").exists()
    with pytest.raises(InputError, match="was not graded"):
        slotwise.compare(before, after, methods=["mine=nosuch"])
    with pytest.raises(InputError, match=r"after = .*is not a folder of a grading"):
        slotwise.compare(before, tmp_path / "nothing")
