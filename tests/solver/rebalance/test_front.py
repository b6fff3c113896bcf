"""Fronts over the number of moves, against exhaustive search."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from slotwise.benchmarks.experiments.proofs.running_clusters import running_clusters
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.moves import judged_running
from slotwise.solver.core.result import Limits, Result, Status
from slotwise.solver.rebalance import front as front_module
from slotwise.solver.rebalance.front import (
    FrontPoint,
    SharedColumns,
    best_within,
    front,
    with_bound,
)
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.solve import solve
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=120.0)


def tiny_running(rng: np.random.Generator) -> Instance:
    """A tiny instance on which something runs, in any state, without a limit of moves."""
    while True:
        instance = tiny_instance(rng)
        if instance.running is not None and instance.cluster.matrix is None:
            return replace(instance, objective=replace(instance.objective, limits={}))


def test_every_point_equals_exhaustive_search() -> None:
    rng = np.random.default_rng(8)
    statuses = set()
    for _ in range(6):
        instance = tiny_running(rng)
        found = front(instance, 3, LIMITS)
        for point in found.points:
            truth = solve(
                with_limit(instance, point.max_moves), engine="exhaustive", time_limit_s=60
            )
            values = None if truth.verdict is None else truth.verdict.scaled
            assert (point.status, point.values) == (truth.status, values)
            statuses.add(point.status)
        free = solve(with_limit(instance, None), engine="exhaustive", time_limit_s=60)
        assert found.free.values == (None if free.verdict is None else free.verdict.scaled)
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_from_what_runs_to_the_free_optimum(examples: Path) -> None:
    instance = read_instance("running.json")
    seen: list[FrontPoint] = []
    found = front(instance, 100, LIMITS, on_point=seen.append)
    now = judged_running(found.problem)
    assert now is not None
    values = [point.values for point in found.points]
    assert values[0] == now.scaled
    assert values == sorted(values, key=lambda one: one or (), reverse=True)
    assert all(point.is_proven for point in found.points)
    assert found.points[-1].values == found.free.values
    assert found.points[-1].max_moves == found.free.max_moves == found.free.moves
    assert found.fewest_moves == found.points[-1].max_moves == len(found.points) - 1
    assert [point.max_moves for point in seen] == list(range(len(found.points)))
    assert [point.max_moves for point in found.points if point.seconds == 0] == [0, len(seen) - 1]


def test_the_fewest_moves_are_unknown_where_only_a_bound_on_them_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The costs of the free optimum are proven, its number of moves is not; the bound holds."""
    instance = replace(next(running_clusters(0)), objective=Objective(("network",)))
    proven = front(instance, 1, LIMITS)
    assert proven.fewest_moves == proven.free.moves == 10

    def stopped(*arguments: Any, **options: Any) -> Result:
        result = solve(*arguments, **options)
        if result.objective[-1].term != "moved":
            return result
        *others, moves = result.objective
        return replace(
            result, objective=(*others, replace(moves, bound=Fraction(2))), status=Status.FEASIBLE
        )

    monkeypatch.setattr(front_module, "solve", stopped)
    found = front(instance, 1, LIMITS)
    assert found.free.is_proven
    assert found.fewest_moves is None
    assert [(point.values, point.bounds) for point in found.points] == [
        (point.values, point.bounds) for point in proven.points
    ]


def test_its_own_limit_ends_the_front() -> None:
    objective = Objective(("network",), limits={"moved": 1})
    found = front(replace(next(running_clusters(0)), objective=objective), 100, LIMITS)
    assert len(found.points) == 2


def test_out_of_time_every_point_has_a_bound() -> None:
    instance = replace(next(running_clusters(0)), objective=Objective(("network",)))
    found = front(instance, 5, Limits(time_s=1e-3))
    assert len(found.points) == 6
    for point in found.points:
        assert point.values is not None
        assert point.open_bounds[0] is not None
        assert point.open_bounds <= point.values


def test_one_point_takes_what_others_prove() -> None:
    instance = replace(next(running_clusters(0)), objective=Objective(("network",)))
    problem = with_limit(instance, None)
    one = best_within(problem, 1, time_limit_s=60)
    two = best_within(problem, 2, time_limit_s=60, hint=one.placement, bounds=(740,))
    assert one.status is two.status is Status.OPTIMAL
    assert [int(r.objective[0].value or 0) for r in (one, two)] == [752, 752]


def test_a_bound_is_compared_term_by_term() -> None:
    point = FrontPoint(1, Status.FEASIBLE, None, None, (4, 7), "")
    assert with_bound(point, (4, 6)).bounds == (4, 7)
    assert with_bound(point, (5, None)).bounds == (5, None)
    assert with_bound(point, (5, None)).status is Status.FEASIBLE


def test_columns_are_listed_anew_where_every_task_may_move() -> None:
    """All on n0 is best: t in its worker 0, and u in a new one, which must not be called 0, too."""
    topologies = tuple(
        Topology(name, (Component("a", "spout", 2),), worker_max_heap_mb=None) for name in "tu"
    )
    nodes = tuple(Node(f"n{i}", "r", slots=2) for i in range(2))
    instance = Instance(
        "shared",
        Cluster(nodes),
        topologies,
        running={
            name: {f"a[{i}]": Place(node, 0) for i in range(2)}
            for name, node in (("t", "n0"), ("u", "n1"))
        },
        objective=Objective(("nodes",)),
    )
    engine = SharedColumns().engine()
    for moves, value in ((1, 2), (3, 1), (4, 1)):
        found = solve(with_limit(instance, moves), engine=engine, time_limit_s=60)
        assert (found.status, found.objective[0].value) == (Status.OPTIMAL, value)


def test_nothing_runs() -> None:
    instance = replace(next(running_clusters(0)), objective=Objective(("network",)), running=None)
    with pytest.raises(InputError, match="running: needs an instance with `running`"):
        front(instance, 2, LIMITS)
