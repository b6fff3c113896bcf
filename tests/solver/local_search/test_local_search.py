"""Local search: every rule holds at every moment, values are the judge's, nothing gets worse."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import DEEP, EXAMPLES
from hard_instances import hard_instance
from solved import first_solved

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.cancellation import CancellationToken
from slotwise.models.formats.text import read_data
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data, instance_from_text, read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.local_search.engine import LOCAL_SEARCH, LocalSearch
from slotwise.solver.solve import solve


def starts(problem: Problem) -> list[Placement]:
    """Return valid placements to start from."""
    found = [run_method(problem, HEURISTICS[m], 0) for m in ("r-storm-pseudocode", "round-robin")]
    return [p for p in found if isinstance(p, Placement) and judge(problem, p).valid]


COUNT = 400 if DEEP else 150


@pytest.mark.slow
def test_it_never_breaks_a_rule_and_often_finds_the_optimum(note: list[str]) -> None:
    tally: Counter[str] = Counter()
    for one in first_solved(COUNT):
        problem, truth = one.problem, one.truth
        if LOCAL_SEARCH.supports(problem) is not None:
            continue
        for start in starts(problem)[:1]:
            assert truth.values is not None
            search = LocalSearch(problem, start, 0, CancellationToken())
            assert search.best_values == judge(problem, start).scaled
            for _ in range(25):
                better = search.advance()
                if better:
                    verdict = judge(problem, search.best)
                    assert not verdict.violations
                    assert verdict.scaled == search.best_values
            assert truth.values <= search.best_values <= judge(problem, start).scaled
            tally["improved"] += search.best_values < judge(problem, start).scaled
            tally["optimal"] += search.best_values == truth.values
            tally["all"] += 1
    note.append(f"local search on tiny instances: {dict(tally)}")
    assert tally["all"] >= COUNT // 4
    assert tally["improved"] >= COUNT // 20
    assert tally["optimal"] >= 0.7 * tally["all"]


@pytest.mark.slow
def test_the_same_seed_and_steps_give_the_same_placement() -> None:
    problem = compile_problem(instance_from_text(hard_instance()))
    start = starts(problem)[0]
    limits = Limits(time_s=60, seed=5, deterministic_work=60)
    first, second = (LOCAL_SEARCH.run(problem, limits, start) for _ in "ab")
    assert first.placement == second.placement
    assert first.deterministic_work == 60
    assert first.values is not None
    assert first.values < judge(problem, start).scaled
    other = LOCAL_SEARCH.run(problem, replace(limits, seed=6), start)
    assert other.placement != first.placement


def test_it_needs_a_placement_to_start_from() -> None:
    problem = compile_problem(read_instance(EXAMPLES / "word-count.json"))
    with pytest.raises(NotTakenError):
        LOCAL_SEARCH.run(problem, Limits(time_s=1), None)


def test_auto_polishes_what_it_cannot_prove() -> None:
    problem = compile_problem(instance_from_text(hard_instance()))
    start = min(judge(problem, p).scaled for p in starts(problem))
    result = solve(
        problem, time_limit_s=3, workers=1, deterministic=True
    )  # by work: whatever else runs
    assert result.status is Status.FEASIBLE
    assert "local-search" in [pick.engine for pick in result.picked]
    value = result.objective[0].value
    assert value is not None
    assert value < start[0]


def test_a_large_topology_of_storm_gets_better_at_once(shared: Path) -> None:
    data, _ = read_data(shared / "storm/clusters/largeCluster01.json")
    instance = instance_from_data(data, topology="TopologyName00031", worker_min_cpu="0")
    problem = compile_problem(instance)
    start = starts(problem)[0]
    assert judge(problem, start).scaled == (0, 22308)
    found = LOCAL_SEARCH.run(problem, Limits(deterministic_work=100), start)
    assert found.values is not None
    assert found.values[1] < 21_000
