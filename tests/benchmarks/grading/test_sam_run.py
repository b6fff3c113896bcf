"""Allocation cases in a grading: which runs there are, and how each ends as a row. No Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from sam_cases import chain, model

import slotwise
from slotwise.api.reporting import report
from slotwise.benchmarks.grade import grade
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import COLUMNS, MEASURED, Row, RunOutcome
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import Case, read_cases
from slotwise.benchmarks.grading.store import Store
from slotwise.heuristics.sam.pairs import PAIRS
from slotwise.models.allocation.case import AllocationCase, case_text
from slotwise.models.dataflow import Dataflow, DataflowTask, Stream
from slotwise.models.errors import InputError
from slotwise.models.families.sam import SAM

LIMITS = RunLimits(20.0, 1, 0, None)


def sam(count: int = 1) -> tuple[Case, ...]:
    return read_cases(["sam"], 0, count)


def plan(cases: Sequence[Case], *methods: str, limits: RunLimits = LIMITS) -> dict[str, PlannedRun]:
    """Method -> its run on the last case."""
    return {run.method: run for run in make_plan(cases, methods, "auto", limits)}


def ended(run: PlannedRun) -> RunOutcome:
    return outcome(run, Loader())


def test_methods_run_where_they_apply() -> None:
    cases = (*sam(), *read_cases(["rstorm"], 0, 1))
    runs = [
        (run.case.name, run.method) for run in make_plan(cases, ["r-storm", *PAIRS], "x", LIMITS)
    ]
    placement = cases[-1].name
    assert sorted(runs) == sorted(
        [
            (placement, "x"),
            (placement, "r-storm"),
            ("sam-linear-50", "optimal"),
            *(("sam-linear-50", pair) for pair in PAIRS),
        ]
    )


@pytest.mark.parametrize(
    ("sources", "methods", "engine", "message"),
    [
        (["sam"], ["mba+sam", "r-storm"], "auto", "method = 'r-storm': is for cases of placement"),
        (["rstorm"], ["mba+sam"], "auto", "method = 'mba.sam': is for cases of allocation"),
        (["sam"], ["mba+sma"], "auto", r"did you mean 'mba\+sam'"),
        (["sam"], ["lsa+sam"], "auto", "did you mean"),
        (["sam"], ["mba+sam"], "cp-sat", "engine = 'cp-sat': is for cases of placement"),
    ],
)
def test_what_applies_to_no_case_is_refused_before_anything_runs(
    sources: list[str], methods: list[str], engine: str, message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match=message):
        grade(sources, methods=methods, engine=engine, count=1, out=out)
    assert not out.exists()


def test_files_and_folders_hold_cases_beside_instances(examples: Path, tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(case_text(SAM.make(0, 0)), encoding="utf-8")
    (tmp_path / "instance.yaml").write_bytes((examples / "shared-cluster.yaml").read_bytes())
    case, instance = read_cases([str(tmp_path)], 0, None)
    assert (case.subject, instance.subject) == ("allocation", "placement")
    assert (case.hash, case.tasks, case.nodes) == (sam()[0].hash, 5, 0)
    assert read_cases([str(path)], 0, None) == (case,)
    assert ended(plan([case], "mba+sam")["mba+sam"])["status"] == "valid"


def test_a_plan_that_reaches_its_rate_is_valid() -> None:
    found = ended(plan(sam(), "mba+sam")["mba+sam"])
    assert found["status"] == "valid"
    assert found["terms"] == [{"term": "slots", "value": "4", "bound": None}]
    assert (found["violation_count"], found["violations"], found["reason"]) == (0, [], None)


def test_a_plan_that_does_not_is_invalid_and_names_the_slot_that_fails_most() -> None:
    found = ended(plan(sam(), "lsa+dsm")["lsa+dsm"])
    assert found["status"] == "broken rule"
    assert found["terms"] == [{"term": "slots", "value": "7", "bound": None}]
    assert found["violation_count"] == len(found["violations"] or ()) > 0
    worst = (found["violations"] or [""])[0]
    assert worst.startswith("rate: slot ")
    assert "task blob needs" in worst
    assert (found["reason"] or "").startswith("supports ")
    assert (found["reason"] or "").endswith(" of 50 tuples/s")


def test_a_failing_plan_says_which_rate_it_supports() -> None:
    found = ended(plan(sam(), "mba+dsm")["mba+dsm"])
    assert (found["status"], found["reason"]) == ("broken rule", "supports 40 of 50 tuples/s")


def test_a_refusal_is_refused(tmp_path: Path) -> None:
    models = {"a": model("a", (1, 0, 50, 20), (2, 10, 60, 30))}
    path = tmp_path / "case.json"
    path.write_text(case_text(AllocationCase("no", chain("a"), models, Fraction(5))), "utf-8")
    runs = plan(read_cases([str(path)], 0, None), "lsa+dsm", "mba+sam")
    found = ended(runs["lsa+dsm"])
    assert (found["status"], found["terms"]) == ("refused", None)
    assert found["reason"] == "lsa: one thread of task 'a' supports 0 tuples/s"
    assert ended(runs["mba+sam"])["status"] == "valid"
    assert ended(runs["optimal"])["status"] == "optimal"


def test_a_case_with_nothing_to_allocate_takes_0_slots(tmp_path: Path) -> None:
    """It was an error."""
    path = tmp_path / "case.json"
    tasks = (DataflowTask("source", None), DataflowTask("a", "a"))
    idle = Dataflow("idle", tasks, (Stream("source", "a", Fraction(0)),))
    path.write_text(
        case_text(AllocationCase("idle", idle, {"a": model("a", (1, 1, 1, 1))}, Fraction(5))),
        "utf-8",
    )
    store = Store(tmp_path / "graded")
    cases = read_cases([str(path)], 0, None)
    store.prepare(cases)
    blank: Row = dict.fromkeys(COLUMNS)
    rows: list[Row] = []
    for run in plan(cases, *PAIRS).values():
        found = ended(run)
        exact = run.method == "optimal"
        assert found["status"] == ("optimal" if exact else "valid")
        assert found["terms"] == [{"term": "slots", "value": "0", "bound": "0" if exact else None}]
        rows.append({**blank, **run.columns(), **found})
    store.append(pa.Table.from_pylist(rows))
    assert "slots\N{NO-BREAK SPACE}0<" in report(store.folder).read_text(encoding="utf-8")


def test_the_exact_run_is_the_optimum_with_its_bound() -> None:
    found = ended(plan(sam())["optimal"])
    assert (found["status"], found["gap"]) == ("optimal", 0.0)
    assert found["terms"] == [{"term": "slots", "value": "3", "bound": "3"}]
    assert (found["engine"] or "").startswith("slots, highspy ")


def test_without_time_the_exact_run_claims_no_optimum() -> None:
    found = ended(plan(sam(), limits=replace(LIMITS, time_limit_s=1e-9))["optimal"])
    assert found["status"] in ("feasible", "unknown")
    assert found["terms"] is not None
    (term,) = found["terms"]
    assert term["bound"] is not None
    assert int(term["bound"]) <= 3


def test_a_family_that_makes_another_case_is_an_error() -> None:
    run = plan(sam(), "mba+sam")["mba+sam"]
    other = replace(run, case=replace(run.case, hash="sha256:0"))
    found = ended(other)
    assert found["status"] == "error"
    assert "different versions of slotwise" in (found["error"] or "")


def test_the_same_seed_gives_the_same_rows() -> None:
    cases = read_cases(["sam"], 3, 11)[-1:]
    first, second = (
        [
            {k: v for k, v in ended(run).items() if k not in MEASURED}
            for run in make_plan(cases, PAIRS, "auto", replace(LIMITS, seed=3))
        ]
        for _ in range(2)
    )
    assert first == second
    assert cases[0].name == "sam-3-0010"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two allocations and two placements in one folder, each with its own methods."""
    cases = (*sam(2), *read_cases(["rstorm"], 0, 2))
    store = Store(tmp_path_factory.mktemp("graded"))
    store.prepare(cases)
    runs = make_plan(cases, ["round-robin", "mba+sam", "lsa+dsm"], "baseline", LIMITS)
    blank: Row = dict.fromkeys(COLUMNS)
    load = Loader()
    store.append(
        pa.Table.from_pylist([{**blank, **run.columns(), **outcome(run, load)} for run in runs])
    )
    return store.folder


def test_pairs_are_compared_with_their_optimum_alone(graded: Path) -> None:
    summary = slotwise.summary(graded)
    methods = summary.methods.set_index("method")
    gaps = summary.gaps.set_index(["method", "term"]).loc[("mba+sam", "slots")]
    assert (gaps["instances"], gaps["median_low"]) == (2, pytest.approx((1 / 3 + 2 / 5) / 2))
    assert tuple(methods.loc["mba+sam", ["placed", "wins", "losses"]]) == (2, 2, 0)
    assert tuple(methods.loc["lsa+dsm", ["failed", "wins", "losses"]]) == (2, 0, 2)
    assert tuple(methods.loc["optimal", ["at_optimum", "failed"]]) == (2, 0)
    assert methods.loc["round-robin", "group"] != methods.loc["mba+sam", "group"]
    assert summary.groups["subject"].tolist() == ["placement", "allocation"]


def test_the_page_shows_slots_and_what_a_failing_plan_supports(graded: Path) -> None:
    page = report(graded).read_text(encoding="utf-8")
    assert "slots\N{NO-BREAK SPACE}4 " in page
    assert "+33.3 % slots" in page
    assert "of 50 tuples/s<br>rate: slot " in page
    assert "Threads from the performance model, in full bundles (MBA)" in page
    assert "the optimum is that of slot-aware routing" in page
