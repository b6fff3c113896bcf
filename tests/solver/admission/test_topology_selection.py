"""The best set of topologies, against cases that can be counted by hand and brute force."""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.solver.admission import topology_selection as moves_module
from slotwise.solver.admission.topology_selection import (
    Moves,
    best_set,
    fewest_moves,
    filled,
    rejecting,
)
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.solve import solve


def instance(nodes: list[int], topologies: list[tuple[int, int, int]]) -> Instance:
    """Topologies as (tasks, cpu of one, priority), called t0, t1, ..."""
    return Instance(
        "test",
        Cluster(
            tuple(Node(f"n{i}", "r", resources={"cpu": Decimal(c)}) for i, c in enumerate(nodes))
        ),
        tuple(
            Topology(f"t{i}", (Component("s", "spout", n, {"cpu": cpu}),), priority=priority)
            for i, (n, cpu, priority) in enumerate(topologies)
        ),
    )


def test_all_where_all_fit() -> None:
    found = best_set(instance([100, 100], [(2, 50, 0), (1, 100, 0)]))
    assert (found.left_out, found.proven) == ((), True)


def test_one_important_beats_two_that_are_not() -> None:
    made = instance([100], [(1, 60, 0), (1, 50, 9), (1, 50, 9)])
    assert best_set(made).left_out == (1, 2)


def test_two_beat_one_of_the_same_priority() -> None:
    made = instance([100], [(1, 60, 5), (1, 50, 5), (1, 50, 5)])
    assert best_set(made).left_out == (0,)


def test_a_guarantee_beats_every_priority() -> None:
    made = instance([100], [(1, 60, 29), (1, 50, 0), (1, 50, 0)])
    assert best_set(made).left_out == (0,)
    assert best_set(made, guaranteed={0}).left_out == (1, 2)


def test_fragments_are_put_together_with_few_moves() -> None:
    """Two halves on two nodes leave no whole node; moving one of them makes room."""
    made = instance([100, 100], [(1, 50, 5), (1, 50, 5), (1, 100, 5)])
    running = {"t0": {"s[0]": Place("n0", 1)}, "t1": {"s[0]": Place("n1", 1)}}
    found = best_set(replace(made, running=running))
    assert found.left_out == ()
    assert found.moved == Moves(1, 1)


def test_moves_are_counted_where_the_model_would_be_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_large(*words: object) -> Outcome:
        raise NotTakenError("too large")

    monkeypatch.setattr(moves_module, "CP_SAT", replace(CP_SAT, run=too_large))
    made = instance([100, 100], [(1, 50, 5), (1, 50, 5)])
    running = {"t0": {"s[0]": Place("n0", 1)}, "t1": {"s[0]": Place("n1", 1)}}
    there = Placement((0, 0), (1, 2))
    found = fewest_moves(replace(made, running=running), there, (), Limits(5.0), RunToken())
    assert found is not None
    assert (found.moves, found.placement) == (Moves(1, None), there)


def test_what_fits_beside_the_hint_is_added() -> None:
    """Even where the engines have no time for more."""
    made = instance([100, 100], [(2, 50, 5), (1, 100, 5), (1, 101, 5)])
    hint = Placement((0, 0, -1, -1), (0, 0, -1, -1))
    problem = rejecting(made, ())
    placement, interrupted = filled(problem, hint, Limits(10), RunToken())
    assert (placement.nodes, interrupted) == ((0, 0, 1, -1), False)
    found = best_set(made, hint=hint)
    assert (found.left_out, found.proven) == ((2,), True)


def test_a_topology_that_is_too_large_for_the_model_is_left_to_the_search() -> None:
    bolts = tuple(Component(f"b{at}", "bolt", 1, {"cpu": Decimal(10 + at)}) for at in range(21))
    nodes = tuple(
        Node(f"n{at}", "r", slots=4, resources={"cpu": Decimal(100)}) for at in range(1000)
    )
    made = Instance("wide", Cluster(nodes), (Topology("t", bolts),))
    nowhere = Placement((-1,) * 21, (-1,) * 21)
    placement, interrupted = filled(rejecting(made, ()), nowhere, Limits(10), RunToken())
    assert (placement, interrupted) == (nowhere, False)


def test_soft_resources_leave_nobody_out() -> None:
    made = replace(instance([100], [(1, 90, 0), (1, 90, 0)]), objective=Objective(soft={"cpu": 1}))
    assert best_set(made).left_out == ()


def test_without_time_nothing_is_claimed() -> None:
    found = best_set(instance([100] * 9, [(5, 30, 0)] * 9), limits=Limits(1e-9))
    assert not found.proven
    assert (found.bound or 0) < found.cost


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_all_subsets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [int(c) * 10 for c in rng.integers(5, 12, 2)]
    made = instance(
        nodes,
        [(int(n), int(c) * 10, int(p)) for n, c, p in rng.integers((1, 1, 0), (4, 6, 3), (4, 3))],
    )
    guaranteed = {int(t) for t in np.flatnonzero(rng.integers(0, 2, 4))}
    found = best_set(made, guaranteed)
    problem = rejecting(made, guaranteed)
    assert found.proven
    assert judge(problem, found.placement).valid
    costs = {
        chosen: sum(problem.rules[t].reject_weight for t in range(4) if t not in chosen)
        for k in range(5)
        for chosen in itertools.combinations(range(4), k)
    }
    fitting = [cost for chosen, cost in costs.items() if _fits(made, chosen)]
    assert found.cost == found.bound == min(fitting)


def _fits(made: Instance, chosen: tuple[int, ...]) -> bool:
    """Whether the exhaustive engine places these topologies, and no others, whole."""
    part = replace(
        made,
        topologies=tuple(made.topologies[t] for t in chosen),
        objective=Objective(("nodes",)),
    )
    return solve(part, engine="exhaustive", time_limit_s=30).status == Status.OPTIMAL
