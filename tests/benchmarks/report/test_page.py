from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest
from graded_folder import EVIL, make_graded
from graded_rows import optimum
from graded_rows import row as made_row
from made_rows import made_rows

from slotwise.api.reporting import report
from slotwise.benchmarks.grading.plan import RunLimits, make_plan
from slotwise.benchmarks.grading.rows import COLUMNS, Row
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.report.case_table import CaseLine, case_lines
from slotwise.benchmarks.report.failures import failures
from slotwise.models.errors import InputError


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """A folder with the rows of two methods on a feasible and an infeasible instance."""
    return make_graded(tmp_path)


class _Page(HTMLParser):
    """Collects what a page would fetch, its visible text, and how many scripts it has."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.scripts = 0
        self.text = ""
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self._in_script = tag == "script"
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data") and not (value or "").startswith("#"):
                self.fetched.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if not self._in_script:
            self.text += data


def read_page(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def lines_of(rows: list[Row], most: int = 1000) -> tuple[CaseLine, ...]:
    judged = judged_rows(rows)
    methods = sorted({row["method"] for row in rows if row["kind"] != "exact"})
    newest = [rows[number] for number in judged.runs["row"]]
    return case_lines(newest, judged, methods, most)


def test_page_is_self_contained(graded: Path) -> None:
    path = report(graded)
    page = read_page(path)
    assert path == graded / "report.html"
    assert page.fetched == []
    assert "default-src 'none'" in path.read_text(encoding="utf-8")


def test_names_of_users_are_text(graded: Path) -> None:
    page = read_page(report(graded))
    assert page.scripts == 2, "the page's and the viewer's"
    assert f"{EVIL} & co" in page.text


def test_page_tells_what_was_found(graded: Path) -> None:
    text = " ".join(read_page(report(graded)).text.split())
    for part in (
        "1 of 2 proven optimal",
        "1 proven infeasible",
        "auto: proven optimum",
        "Gap = (value - optimum) / optimum",
        "optimal on 1 of 1",
        "Compared on 1 instance, without 1 proven infeasible.",
        "Right answers, and no failures: 1 refusal",
        "round-robin",
        "R-Storm as its authors ran it up to December 2014: tasks of neighbours",
        "Storm's even scheduler: deals executors in turn",
        "git revision",
    ):
        assert part in text, part


def test_each_placement_is_drawn(graded: Path) -> None:
    text = report(graded).read_text(encoding="utf-8")
    rows = [row for row in Store(graded).rows() if row["placement"]]
    assert len(re.findall(r' class="pv-pane[ "]', text)) == len(rows) >= 3


def test_report_is_the_same_again_and_leaves_nothing_behind(graded: Path) -> None:
    first = report(graded).read_bytes()
    assert report(graded).read_bytes() == first
    assert sorted(p.name for p in graded.iterdir()) == ["instances", "report.html", "rows"]


def test_rows_without_their_instance_are_reported_but_not_drawn(graded: Path) -> None:
    for path in (graded / "instances").iterdir():
        path.unlink()
    text = report(graded).read_text(encoding="utf-8")
    assert "pv-pane" not in text.partition("</style>")[2].partition("<script>")[0]
    assert "round-robin" in text


@pytest.mark.parametrize(
    ("name", "rule"), [("empty", "has no rows"), ("missing", "is not a folder of a grading")]
)
def test_folder_without_rows_is_bad_input(tmp_path: Path, name: str, rule: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=rule) as caught:
        report(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_foreign_parquet_is_named(graded: Path) -> None:
    (graded / "rows" / "rows-00000009-x.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match="rows-00000009-x"):
        report(graded)


def test_labels_stand_for_methods(graded: Path) -> None:
    text = report(graded, methods={"mine & yours": "r-storm"}).read_text(encoding="utf-8")
    page = " ".join(read_page(graded / "report.html").text.split())
    assert "mine & yours" in page
    assert "mine & yours</" not in text, "escaped"
    assert "r-storm. R-Storm as its authors ran it" in page, "what a label stands for"
    with pytest.raises(InputError, match=r"did you mean .r-storm."):
        report(graded, methods={"mine": "r-strom"})


def test_failures_are_grouped_and_right_refusals_are_none(graded: Path) -> None:
    text = " ".join(read_page(report(graded)).text.split())
    failures = text.rpartition("Right answers, and no failures")[2].partition("Instances Of")[0]
    assert "round-robin fails on 1 of 2 (breaks capacity: 1)" in failures
    assert "r-storm" not in failures


def test_failures_on_one_instance_are_told_apart_by_their_seeds() -> None:
    rows = [made_row("a", "m", "refused", seed=seed) for seed in (0, 7)]
    (found,) = failures(rows, judged_rows(rows))
    assert [one.instance for one in found.groups[0].examples] == ["a", "a (seed 7)"]


def test_table_has_the_worst_cases_and_says_how_many_there_are() -> None:
    rows = made_rows(30, 3)
    every, some = (lines_of(rows, most) for most in (1000, 10))
    assert (len(every), len(some)) == (30, 10)
    left_out = {line.name for line in every} - {line.name for line in some}
    worst = max(line.badness for line in every if line.name in left_out)
    assert all(line.badness >= worst for line in some)
    assert [line.name for line in some] == sorted(line.name for line in some)


def test_the_seconds_of_a_crash_are_its_own() -> None:
    """Means count a crash at the limit; a line of the table says what was measured."""
    rows = [optimum("a", "0", "5"), made_row("a", "broken", "crashed", wall_s=0.05)]
    (line,) = lines_of(rows)
    assert [cell.seconds for cell in line.cells] == ["0.05"]


CELLS = {
    "at the optimum": (("0", "10"), "optimal"),
    "above": (("0", "12"), "+20 % network"),
    "above an optimum of 0": (("3", "5"), "+3 overload"),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_has_the_gap_of_the_first_term_that_differs(name: str) -> None:
    values, text = CELLS[name]
    (line,) = lines_of([optimum("a", "0", "10"), made_row("a", "m", "valid", values)])
    assert line.cells[0].gap == text
    assert line.states == (("proven", "attained") if text == "optimal" else ("proven", "missed"))


def test_seeds_share_what_they_are_above_an_optimum_of_0() -> None:
    rows = [optimum("a", "0", "5")]
    rows += [made_row("a", "m", "valid", (str(n), "5"), seed=n) for n in (0, 3)]
    (line,) = lines_of(rows)
    assert line.cells[0].gap == "+1.5 (2 seeds: +0 to +3) overload"


def test_without_a_proof_a_cell_goes_from_the_best_known_to_the_bound() -> None:
    exact = made_row("a", "auto", "feasible", ("0", "10"), ("0", "8"))
    (line,) = lines_of([exact, made_row("a", "m", "valid", ("0", "12"))])
    assert (line.value, line.bound) == ("overload 0, network 10", "overload 0, network 8")
    assert line.cells[0].gap == "20 to 50 % network"
    assert line.states == ("bounded",)


def test_seeds_share_a_line_and_a_method_that_does_not_apply_has_not_failed() -> None:
    rows = [optimum("a", "0", "10")]
    rows += [made_row("a", "m", "valid", ("0", str(n)), seed=n - 11) for n in (11, 12, 13)]
    rows += [made_row("a", "other", "does not apply", reason="reads no racks")]
    (line,) = lines_of(rows)
    drawn, other = sorted(line.cells, key=lambda cell: cell.method)
    assert drawn.gap == "+20 % (3 seeds: 10 to 30 %) network"
    assert (other.gap, other.failed, other.key) == ("does not apply", False, None)


def test_a_method_that_places_less_says_so(tmp_path: Path) -> None:
    cases = read_cases(["rstorm"], 0, 5)
    store = Store(tmp_path / "out")
    store.prepare(cases)
    plan = make_plan(cases, ["r-storm", "r-storm-1.0"], "auto", RunLimits(20.0, 1, 0, None))
    runs = [run for run in plan if run.kind == "heuristic"]
    rows = [{**dict.fromkeys(COLUMNS), **r.columns(), **outcome(r, Loader())} for r in runs]
    store.append(pa.Table.from_pylist(rows))
    text = " ".join(read_page(report(store.folder)).text.split())
    # r-storm-1.0 refuses star-a, which r-storm overloads by 720; nothing is proven here.
    assert "fails in 1 of 5 runs (refused: 1)" in text
    assert "r-storm-1.04 of 5" in text
    assert "5 without a proven optimum" in text


def test_page_of_a_family_says_what_differs_from_its_source(tmp_path: Path) -> None:
    cases = read_cases(["rstorm"], 0, 1)
    store = Store(tmp_path / "out")
    store.prepare(cases)
    plan = make_plan(cases, ["r-storm"], "auto", RunLimits(20.0, 1, 0, None))[1:]
    rows = [{**dict.fromkeys(COLUMNS), **r.columns(), **outcome(r, Loader())} for r in plan]
    store.append(pa.Table.from_pylist(rows))
    text = " ".join(read_page(report(store.folder)).text.split())
    assert "rstormR-Storm's nine benchmark topologies" in text
    assert "6 machines of 12 for Linear, 7 for Diamond and half of them for Star" in text
    assert "round robin" not in text, "whatever was graded, results are not in a note"


@pytest.mark.slow
def test_page_of_graphs_to_partition_has_edge_cuts(tmp_path: Path, graded: Path) -> None:
    cases = read_cases(["partition"], 0, 1)
    store = Store(tmp_path / "graphs")
    store.prepare(cases)
    plan = make_plan(cases, ["hash", "ldg"], "auto", RunLimits(20.0, 1, 0, None))
    rows = [{**dict.fromkeys(COLUMNS), **r.columns(), **outcome(r, Loader())} for r in plan]
    store.append(pa.Table.from_pylist(rows))
    text = " ".join(read_page(report(store.folder)).text.split())
    table = text.partition("Edge cuts and balance")[2].partition("Compared on")[0]
    cut = {row["method"]: float(row["terms"][0]["value"]) for row in rows}
    assert cut["auto"] < cut["ldg"] < cut["hash"]
    for method in ("ldg", "hash"):
        over_optimum, over_hash = (f"{cut[method] / cut[other]:.3g}" for other in ("auto", "hash"))
        line = f"partition{method}1of1{over_optimum}{over_hash}-"
        assert line in table.replace(" ", "")
    assert "Edge cuts" not in read_page(report(graded)).text, "nothing is partitioned there"
