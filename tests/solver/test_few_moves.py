"""Engine ``few-moves`` against exhaustive search, and where it does not apply."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from slotwise.benchmarks.experiments.proofs.running_clusters import running_clusters
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.memory import MB, RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.few_moves import FEW_MOVES, FEW_MOVES_DEFAULTS, FewMoves, FewMovesParams
from slotwise.solver.solve import solve
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=60.0)


def limited(instance: Instance, moves: int) -> Problem | None:
    """The instance with at most `moves` moves; ``None`` where the engine does not take it."""
    objective = replace(instance.objective, limits={"moved": moves})
    try:
        problem = compile_problem(replace(instance, objective=objective))
    except InputError:  # nothing runs
        return None
    return problem if FEW_MOVES.supports(problem) is None else None


@pytest.mark.slow
def test_equals_exhaustive_search() -> None:
    rng = np.random.default_rng(3)
    statuses: list[Status] = []
    for _ in range(1500):
        problem = limited(tiny_instance(rng), int(rng.integers(0, 4)))
        if problem is None:
            continue
        truth = ENGINES["exhaustive"].run(problem, LIMITS, None)
        found = FEW_MOVES.run(problem, LIMITS, None)
        assert (found.status, found.values) == (truth.status, truth.values)
        statuses.append(found.status)
        if len(statuses) == 40:
            break
    assert {Status.OPTIMAL, Status.INFEASIBLE} <= set(statuses)
    assert len(statuses) == 40


def test_one_table_has_all_numbers_of_moves() -> None:
    instance = next(running_clusters(0))
    problem = limited(replace(instance, objective=Objective(("network",))), 3)
    assert problem is not None
    tables = FewMoves(problem, 3, FEW_MOVES_DEFAULTS, RunToken())
    for moves in range(4):
        alone = limited(replace(instance, objective=Objective(("network",))), moves)
        assert alone is not None
        found = FEW_MOVES.run(alone, LIMITS, None)
        placement = tables.best(moves)
        assert placement is not None
        assert judge(problem, placement).scaled == found.values


def test_too_many_ways_are_declined() -> None:
    problem = limited(next(running_clusters(0)), 3)
    assert problem is not None
    few = FewMovesParams(max_all_pairs=1000)
    with pytest.raises(NotTakenError, match="3 moves can be made in too many ways"):
        FewMoves(problem, 3, few, RunToken())


def large(components: int, parallelism: int) -> Instance:
    """One topology that runs on four nodes, a chain of components that all differ."""
    chain = tuple(
        Component(f"c{i}", "bolt" if i else "spout", parallelism) for i in range(components)
    )
    streams = tuple(Stream(f"c{i - 1}", f"c{i}", rate=i) for i in range(1, components))
    nodes = tuple(Node(f"n{i}", "r", slots=4) for i in range(4))
    running = {
        f"c{i}[{j}]": Place(f"n{j % 4}", 0) for i in range(components) for j in range(parallelism)
    }
    topology = Topology("t", chain, streams, worker_max_heap_mb=None)
    objective = Objective(("network",))
    return Instance(
        "large", Cluster(nodes), (topology,), running={"t": running}, objective=objective
    )


@pytest.mark.parametrize(
    ("components", "parallelism", "moves"), [(20, 10, 30), (20, 4, 10), (1, 9000, 8000)]
)
def test_too_many_ways_are_declined_before_they_are_listed(
    components: int, parallelism: int, moves: int
) -> None:
    problem = limited(large(components, parallelism), moves)
    assert problem is not None
    tracemalloc.start()
    try:
        with pytest.raises(NotTakenError, match="moves can be made in too many ways"):
            FewMoves(problem, moves, FEW_MOVES_DEFAULTS, RunToken())
        assert tracemalloc.get_traced_memory()[1] < 50 * MB
    finally:
        tracemalloc.stop()


def test_the_changes_of_a_worker_are_counted_exactly() -> None:
    """Of the five tasks of each of four components the worker on n0 holds two."""
    problem = limited(large(4, 5), 3)
    assert problem is not None
    count = sum(sum(map(abs, net)) <= 3 for net in product(range(-2, 4), repeat=4))
    FewMoves(problem, 3, FewMovesParams(max_changes=count), RunToken())
    with pytest.raises(NotTakenError, match="3 moves can be made in too many ways"):
        FewMoves(problem, 3, FewMovesParams(max_changes=count - 1), RunToken())


def test_it_needs_a_limit_and_homes() -> None:
    instance = next(running_clusters(0))
    assert FEW_MOVES.supports(compile_problem(instance)) == "moves have no limit"
    some = dict(list(instance.running["t"].items())[1:])  # type: ignore[index]
    objective = replace(instance.objective, limits={"moved": 1})
    partly = compile_problem(replace(instance, running={"t": some}, objective=objective))
    assert FEW_MOVES.supports(partly) == "not every task runs now"


def test_auto_asks_it_first() -> None:
    objective = Objective(("network",), limits={"moved": 2})
    found = solve(replace(next(running_clusters(0)), objective=objective), time_limit_s=60)
    assert found.status is Status.OPTIMAL
    assert "few-moves" in [pick.engine for pick in found.picked]
    assert [term.bound_kind for term in found.objective] == ["exact tables of few moves"]
