"""The compiled loop of the local search: valid at every moment, its values are the judge's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from conftest import DEEP
from solved import first_solved

from slotwise.models.families.storm_like_family import STORM_LIKE
from slotwise.models.instance.instance import Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.baseline import BASELINE
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.local_search.compiled import CompiledSearch, LocalSearchParams, is_plain
from slotwise.solver.local_search.engine import LOCAL_SEARCH

FEW = LocalSearchParams(compiled_steps=2)


def plain(problem: Problem) -> Problem:
    """Return the problem with its network, capacities, heaps, slots and workers only."""
    objective = Objective(("network",))
    (network,) = compile_problem(replace(problem.instance, objective=objective)).terms
    return replace(
        problem,
        instance=replace(problem.instance, objective=objective, running=None),
        classes=tuple(replace(one, home=None) for one in problem.classes),
        soft_weight=np.zeros_like(problem.soft_weight),
        hard=np.ones_like(problem.hard),
        matrix=None,
        linear=None,
        regions=(),
        move_limit=NO_LIMIT,
        terms=(network,),
    )


COUNT = 400 if DEEP else 150


@pytest.mark.slow
def test_it_never_breaks_a_rule_and_often_finds_the_optimum(note: list[str]) -> None:
    tally: Counter[str] = Counter()
    for one in first_solved(COUNT):
        problem = plain(one.problem)
        assert is_plain(problem)
        start = BASELINE.run(problem, Limits(), None).placement
        if start is None or LOCAL_SEARCH.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, Limits(), None)
        search = CompiledSearch(problem, start, 0, FEW)
        first = judge(problem, start).scaled
        assert search.best_values == first
        for _ in range(60):
            if search.advance():
                verdict = judge(problem, search.best)
                assert not verdict.violations
                assert verdict.scaled == search.best_values
        assert truth.status is Status.OPTIMAL
        assert truth.values is not None
        assert truth.values <= search.best_values <= first
        tally["improved"] += search.best_values < first
        tally["optimal"] += search.best_values == truth.values
        tally["all"] += 1
    note.append(f"compiled local search on tiny instances: {dict(tally)}")
    assert tally["all"] >= COUNT // 2
    assert tally["improved"] >= COUNT // 20
    assert tally["optimal"] >= 0.9 * tally["all"]


@pytest.mark.slow
def test_a_large_topology_gets_better_in_few_steps_and_always_the_same() -> None:
    (*_, instance) = STORM_LIKE.generate(1, 7)
    problem = compile_problem(instance)
    start = BASELINE.run(problem, Limits(), None).placement
    assert start is not None
    limits = Limits(time_s=60, seed=3, deterministic_work=100)
    first, second = (LOCAL_SEARCH.run(problem, limits, start) for _ in "ab")
    assert first.placement == second.placement
    assert first.values is not None
    assert first.values[1] < 0.92 * judge(problem, start).scaled[1]


def test_what_is_on_a_node_starts_on_the_largest_free_node_of_its_rack() -> None:
    """Single tasks that go there alone would cost flow: step by step no search gets there."""
    sizes = (("small", "near", 100), ("large", "near", 120), ("far", "away", 500))
    instance = instance_from_data(
        {
            "format": "slotwise.instance/1",
            "name": "three nodes",
            "cluster": {
                "nodes": [
                    {"id": name, "rack": rack, "slots": 4, "resources": {"cpu": cpu}}
                    for name, rack, cpu in sizes
                ]
            },
            "topologies": [
                {
                    "id": "t",
                    "components": [
                        {"id": c, "kind": kind, "parallelism": 4, "resources": {"cpu": 10}}
                        for c, kind in (("a", "spout"), ("b", "bolt"))
                    ],
                    "streams": [{"from": "a", "to": "b", "grouping": "shuffle"}],
                }
            ],
        }
    )
    problem = compile_problem(instance)
    start = Placement((0,) * 8, (0, 1) * 4)
    assert judge(problem, start).valid
    search = CompiledSearch(problem, start, 0, FEW)
    assert search.best.nodes == (1,) * 8
    assert search.best_values == judge(problem, search.best).scaled == judge(problem, start).scaled
