"""Whose seconds a row holds: those of the call, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from slotwise.benchmarks.grading import exact_run
from slotwise.benchmarks.grading import run as running
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan
from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.heuristics import registry
from slotwise.heuristics import run as place
from slotwise.heuristics.method import Method, MethodError
from slotwise.heuristics.one_by_one import ROUND_ROBIN
from slotwise.models.problem.problem import Problem

CALL_S = 1.0
BESIDE_S = 1000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, Any], Any]:
    """Lend functions a duration, on a clock that only they move."""
    now = [0.0]
    monkeypatch.setattr(running, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def lasting(seconds: float, function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            now[0] += seconds
            return function(*arguments, **options)

        return call

    for name in ("preload", "compile_problem", "judge", "instance_from_text", "placement_text"):
        monkeypatch.setattr(running, name, lasting(BESIDE_S, getattr(running, name)))
    return lasting


def runs(method: str) -> dict[str, PlannedRun]:
    plan = make_plan(read_cases(["rstorm"], 0, 1), [method], "auto", RunLimits(20.0, 1, 0, None))
    return {run.kind: run for run in plan}


def test_a_method_is_timed_alone(
    clock: Callable[[float, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Method("round-robin", "a test", clock(CALL_S, ROUND_ROBIN.place))
    find = clock(BESIDE_S, lambda name, time_limit_s: slow)
    monkeypatch.setattr(registry, "find_method", find)
    row = outcome(runs("round-robin")[Kind.HEURISTIC], Loader())
    assert (row["status"], row["wall_s"]) == ("valid", CALL_S)


def test_a_solve_is_timed_alone(
    clock: Callable[[float, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_run, "solve", clock(CALL_S, exact_run.solve))
    row = outcome(runs("round-robin")[Kind.EXACT], Loader())
    assert (row["status"], row["wall_s"]) == ("optimal", CALL_S)


def test_a_call_that_fails_is_timed_too(
    clock: Callable[[float, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(problem: Problem, method: Method, seed: int, *rest: object) -> None:
        raise MethodError("exit code 1")

    monkeypatch.setattr(place, "run_method", clock(CALL_S, fails))
    row = outcome(runs("round-robin")[Kind.HEURISTIC], Loader())
    assert (row["status"], row["error"], row["wall_s"]) == ("crashed", "exit code 1", CALL_S)


IMPORTS_LATE = """
import json, sys
from slotwise.benchmarks.grading.preload import preload, warm
from slotwise.benchmarks.grading.run import *
from slotwise.heuristics.run import run_method
from slotwise.models.families.registry import FAMILIES
preload(Kind.HEURISTIC)
heavy = {"ortools", "highspy"} & set(sys.modules)
from slotwise.heuristics.ours import HEURISTICS
problem = compile_problem(FAMILIES["rstorm"].make(0, 0))
for method in HEURISTICS:
    warm(method)
before = set(sys.modules)
for method in HEURISTICS.values():
    run_method(problem, method, 0)
late = sorted(set(sys.modules) - before)
preload(Kind.EXACT)
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve
from slotwise.solver.core.not_taken import UntakenError
before = set(sys.modules)
for engine in ("auto", *ENGINES):
    try:
        solve(problem, engine=engine, time_limit_s=0.3)
    except UntakenError:
        pass
late += sorted(set(sys.modules) - before)
print(json.dumps([sorted(heavy), late, sorted({"ortools", "highspy", "numba"} & before)]))
"""


@pytest.mark.slow
def test_nothing_is_imported_on_the_clock() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS_LATE], capture_output=True, text=True, check=True
    )
    heavy, late, loaded = json.loads(done.stdout.splitlines()[-1])
    assert heavy == [], "a heuristic needs no solver"
    assert loaded == ["highspy", "numba", "ortools"]
    assert {name.partition(".")[0] for name in late} <= set(sys.stdlib_module_names)
