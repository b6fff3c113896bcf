"""The optimum of each instance: from which placement, by what limit, and whether it is believed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from slotwise.benchmarks.grade import by_work, grade
from slotwise.benchmarks.grading.batch.folder import address_of, read
from slotwise.benchmarks.grading.batch.local_frame import arrow_schema
from slotwise.benchmarks.grading.grade_summary import GradeSummary
from slotwise.benchmarks.grading.oracle.disagreement import (
    DisagreementError,
    stop_where_rows_disagree,
)
from slotwise.benchmarks.grading.oracle.stages import with_hints
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import COLUMNS, KEY, MEASURED, SCHEMA, Kind, Row, term_values
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.benchmarks.grading.store import ROWS, Store
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.certificates import read_certificate
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.verification.verify import verify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METHODS = ("ras-default", "r-storm", "round-robin")
COUNT, UNITS = 3, 0.1
LIMITS = replace(by_work(RunLimits(UNITS, 1, 0, None)), crosscheck=True)

Rows = dict[tuple[str, str, str], Row]


def graded_by_work(out: Path, methods: Sequence[str] = METHODS) -> GradeSummary:
    return grade(
        "rstorm",
        methods=list(methods),
        time_limit_s=UNITS,
        count=COUNT,
        out=out,
        deterministic=True,
        crosscheck=1.0,
    )


def rows_of(out: Path) -> Rows:
    rows = Store(out).rows(crosschecks=True)
    return {(row["instance"], row["kind"], row["method"]): row for row in rows}


def stable(row: Row) -> dict[str, Any]:
    """Return the columns that must not differ from one execution to the next."""
    return {name: value for name, value in row.items() if name not in MEASURED}


@pytest.fixture(scope="module")
def graded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("graded")
    summary = graded_by_work(out)
    assert (summary.planned, summary.skipped) == (COUNT * (len(METHODS) + 2), 0)
    return out


def made_here() -> list[Row]:
    """Return the rows of the same plan, made in this process in another order."""
    load, found = Loader(), []
    plan = make_plan(read_cases(["rstorm"], 0, COUNT), METHODS, "auto", LIMITS)
    methods = [run for run in plan if run.kind == Kind.HEURISTIC]
    rows = [row_of(run, load) for run in reversed(methods)]
    for run in reversed([run for run in plan if run.kind == Kind.EXACT]):
        valid = [r for r in rows if r["instance"] == run.case.name and r["status"] == "valid"]
        best = min(valid, key=lambda row: (list(term_values(row).values()), row["method"]))
        exact = row_of(replace(run, hint=best["placement"], hint_from=best["method"]), load)
        checks = [one for one in plan if (one.kind, one.case) == (Kind.CROSSCHECK, run.case)]
        found += [exact, *(row_of(replace(one, against=exact["proofs"]), load) for one in checks)]
    return [*rows, *found]


def row_of(run: PlannedRun, load: Loader) -> Row:
    blank: Row = dict.fromkeys(COLUMNS)
    return {**blank, **run.columns(), **outcome(run, load)}


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.spark
def test_rows_do_not_depend_on_order_and_process(graded: Path) -> None:
    rows = rows_of(graded)
    here = made_here()
    assert len(here) == len(rows) == COUNT * (len(METHODS) + 2)
    for row in here:
        there = rows[row["instance"], row["kind"], row["method"]]
        assert stable(there) == stable(row)
    exact = [row for row in here if row["kind"] == Kind.EXACT]
    assert all(row["work"] is not None and row["work_limit"] == UNITS for row in exact)
    assert all(row["time_limit_s"] == 60 + 10 * UNITS for row in here)
    assert all(row["version"].endswith(", 0.1 units of work") for row in here)


@pytest.mark.spark
def test_exact_runs_start_from_the_best_placement(graded: Path) -> None:
    rows = rows_of(graded)
    starts = {name: row["hint_from"] for (name, kind, _), row in rows.items() if kind == "exact"}
    assert len(starts) == COUNT
    for name, start in starts.items():
        values = {m: list(term_values(rows[name, "heuristic", m]).values()) for m in METHODS}
        assert start == min(METHODS, key=lambda method: (values[method], method))
    # linear-b: r-storm and ras-default are equally good, and r-storm is first by its name.
    assert starts == {"linear-a": "ras-default", "linear-b": "r-storm", "diamond-a": "r-storm"}


@pytest.mark.spark
def test_a_batch_that_was_stopped_before_the_exact_runs_gives_the_same(
    spark: SparkSession, graded: Path, tmp_path: Path
) -> None:
    rows = rows_of(graded)
    # The best method's rows came in another call, and a method of another plan is there as well.
    for kept in (["r-storm"], ["ras-default", "round-robin"]):
        keep(spark, graded, tmp_path, [r for r in rows.values() if r["method"] in kept])
    perfect = dict(rows["linear-a", "exact", "auto"]) | {"kind": "heuristic", "method": "oracle"}
    keep(spark, graded, tmp_path, [perfect | {"status": "valid"}])
    summary = graded_by_work(tmp_path)
    assert summary.skipped == COUNT * len(METHODS)
    again = rows_of(tmp_path)
    del again["linear-a", "heuristic", "oracle"]
    assert {key: stable(row) for key, row in again.items()} == {
        key: stable(row) for key, row in rows.items()
    }


@pytest.mark.spark
def test_without_a_placement_there_is_no_hint(
    spark: SparkSession, graded: Path, tmp_path: Path
) -> None:
    failed = [dict(row) | {"status": "broken rule"} for row in rows_of(graded).values()]
    keep(spark, graded, tmp_path, failed)
    rows = read(spark, address_of(tmp_path), ROWS, SCHEMA)
    exact = rows.where("kind = 'exact'").select(*KEY)
    for plan in (rows.select(*KEY), exact):  # all methods fail; none is graded
        found = with_hints(exact, plan, rows).collect()
        assert [row["hint"] for row in found] == [None] * COUNT


@pytest.mark.spark
def test_a_second_engine_of_another_family_confirms(graded: Path) -> None:
    rows = rows_of(graded)
    checks = {name: row for (name, kind, _), row in rows.items() if kind == Kind.CROSSCHECK}
    assert set(checks) == {"linear-a", "linear-b", "diamond-a"}
    assert {row["engine"].split()[0] for row in checks.values()} == {"cp-sat"}
    exact = rows["linear-b", "exact", "auto"]
    assert exact["engine"].startswith("configurations ")
    assert not [row for row in Store(graded).rows() if row["kind"] == Kind.CROSSCHECK]


def lying(status: Status) -> Engine:
    """Return an engine that claims its first placement, or that there is none, to be proven."""

    def run(problem: Problem, limits: Limits, hint: object, reporter: object = None) -> Outcome:
        if status is Status.INFEASIBLE:
            return Outcome(status, None, None, (None,) * len(problem.terms), "a lie")
        placement = run_method(problem, find_method("round-robin"), 0)
        assert isinstance(placement, Placement)
        values = judge(problem, placement).scaled
        return Outcome(status, placement, values, values, "a lie")

    return Engine("cp-sat", run, lambda problem: None, lambda: "lying")


@pytest.mark.spark
def test_a_lying_engine_stops_the_batch(
    spark: SparkSession, graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact, lie = with_lie(graded, monkeypatch, Status.OPTIMAL)
    keep(spark, graded, tmp_path, [exact, lie])
    with pytest.raises(DisagreementError) as raised:
        graded_by_work(tmp_path, [])
    assert str(raised.value).startswith(
        "linear-a: crosscheck run of cp-sat proved the bound overload 0, network 962, above the "
        "overload 0, network 656 that exact run of configurations found; one of them is wrong"
    )
    check_certificates(graded, tmp_path, str(raised.value))


@pytest.mark.spark
def test_infeasible_against_a_placement_is_a_disagreement(
    spark: SparkSession, graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(spark, graded, tmp_path, with_lie(graded, monkeypatch, Status.INFEASIBLE))
    with pytest.raises(DisagreementError) as raised:
        check(spark, tmp_path)
    assert str(raised.value).startswith(
        "linear-a: crosscheck run of cp-sat proved that there is no placement, against the one "
        "with overload 0, network 656 that exact run of configurations found"
    )
    check_certificates(graded, tmp_path, str(raised.value))


@pytest.mark.spark
def test_a_heuristic_below_a_proven_bound_is_a_disagreement(
    spark: SparkSession, graded: Path, tmp_path: Path
) -> None:
    rows = rows_of(graded)
    keep(spark, graded, tmp_path, list(rows.values()))
    check(spark, tmp_path)  # nothing is wrong with these
    wrong = dict(rows["linear-b", "exact", "auto"])
    wrong["terms"] = [wrong["terms"][0], {"term": "network", "value": "53", "bound": "53"}]
    keep(spark, graded, tmp_path, [wrong | {"batch": "9"}])
    with pytest.raises(DisagreementError, match=r"^linear-b: exact run of configurations proved"):
        check(spark, tmp_path)


def check(spark: SparkSession, folder: Path) -> None:
    rows = read(spark, address_of(folder), ROWS, SCHEMA)
    stop_where_rows_disagree(spark, address_of(folder), rows, rows)


def with_lie(graded: Path, monkeypatch: pytest.MonkeyPatch, status: Status) -> list[Row]:
    """Return the exact row of an instance, and that of a cross-check by a lying engine."""
    case = next(c for c in read_cases(["rstorm"], 0, COUNT) if c.name == "linear-a")
    exact = rows_of(graded)["linear-a", "exact", "auto"]
    monkeypatch.setitem(ENGINES, "cp-sat", lying(status))
    run = make_plan([case], [], "auto", LIMITS)[-1]
    lie = row_of(replace(run, against=exact["proofs"]), Loader())
    assert (lie["kind"], lie["status"]) == ("crosscheck", str(status))
    return [exact, lie]


def keep(spark: SparkSession, graded: Path, folder: Path, rows: list[Any]) -> None:
    """Add rows to a folder, with the instances of another."""
    shutil.copytree(graded / "instances", folder / "instances", dirs_exist_ok=True)
    store = Store(folder)
    store.prepare(())
    store.append(pa.Table.from_pylist(rows, arrow_schema(spark, SCHEMA)))


def check_certificates(graded: Path, folder: Path, said: str) -> None:
    files = sorted((folder / "disagreements").iterdir())
    names = [file.name.split("-", 1)[1] for file in files]
    assert names == ["crosscheck-auto.json", "exact-auto.json"]
    assert all(str(file) in said for file in files)
    certificates = [read_certificate(file) for file in files]
    problem = Store(graded).problem(certificates[0].instance)
    assert problem is not None
    assert [verify(problem, one).findings for one in certificates] == [(), ()]
