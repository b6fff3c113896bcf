"""Orphans: engine ``orphans`` against exhaustive search, and the first placement at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import islice

import numpy as np
import pytest
from numpy.random import Generator

from slotwise.benchmarks.experiments.proofs.lost_machines import lost_machines
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import TERM_PARTS, Instance, Objective, Place
from slotwise.models.instance.lost_nodes import without_nodes
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.declared_rules import unknown
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.orphans.engine import ORPHANS, PARTS, RULES
from slotwise.solver.orphans.first_placement import first_placement
from slotwise.solver.orphans.partial_placement import PartialPlacement
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.solve import CURRENT, solve
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=60.0)


def drawn(rng: Generator, moves: int) -> Iterator[Problem]:
    """Tiny problems that the engine declares and on which something runs, half short of a node."""
    while True:
        instance = tiny_instance(rng)
        if instance.running is None:
            continue
        nodes = [node.id for node in instance.cluster.nodes]
        if len(nodes) > 1 and rng.random() < 0.5:
            instance = without_nodes(instance, {nodes[int(rng.integers(len(nodes)))]})
        if instance.still_running:
            problem = with_terms(instance, rng, moves)
            if unknown(problem, RULES, PARTS) is None:
                yield problem


def with_terms(instance: Instance, rng: Generator, moves: int) -> Problem:
    """The instance with one to four of the engine's terms in any order, and a limit of moves."""
    pool = [part for part in TERM_PARTS if part in PARTS]
    pool = [term for term in pool if term != "linear" or instance.linear]
    terms = tuple(rng.permutation(pool)[: int(rng.integers(1, 5))].tolist())
    if instance.linear and "linear" not in terms:
        terms = (*terms, "linear")
    objective = Objective(terms, instance.objective.soft, {"moved": moves})
    return compile_problem(replace(instance, objective=objective))


def test_equals_exhaustive_search() -> None:
    ends: Counter[str] = Counter()
    for problem in islice(drawn(np.random.default_rng(5), 0), 100):
        assert ORPHANS.supports(problem) is None
        truth = ENGINES["exhaustive"].run(problem, LIMITS, None)
        try:
            found = ORPHANS.run(problem, LIMITS, None)
        except NotTakenError:  # flow between orphans, distances by matrix
            assert problem.matrix is not None
            continue
        assert (found.status, found.values) == (truth.status, truth.values)
        ends[found.status] += 1
    assert ends[Status.OPTIMAL] > 20
    assert ends[Status.INFEASIBLE] > 20


@pytest.mark.parametrize("moves", [0, 2])
def test_the_first_placement_is_valid_and_nearly_always_there(moves: int) -> None:
    missed = found = 0
    for problem in islice(drawn(np.random.default_rng(6), moves), 80):
        placement = first_placement(problem, RunToken())
        if placement is not None:
            assert judge(problem, placement).valid
            found += 1
        elif ENGINES["exhaustive"].run(problem, LIMITS, None).status is Status.OPTIMAL:
            missed += 1
    assert found > 15
    assert missed <= 1


@pytest.mark.parametrize(("moves", "most"), [(0, 30), (10, 1500)])
def test_the_first_placement_gives_up_soon(
    moves: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tasks of 45 % are on every node: one of 60 % fits on none, whichever of them moves."""
    count = 600
    nodes = tuple(Node(f"n{n}", "r", resources={"cpu": Decimal(100)}) for n in range(count))
    components = (
        Component("a", "spout", 2 * count, {"cpu": Decimal(45)}),
        Component("b", "bolt", 1, {"cpu": Decimal(60)}),
    )
    running = {"t": {f"a[{n}]": Place(f"n{n // 2}", 0) for n in range(2 * count)}}
    topology = Topology("t", components, (Stream("a", "b"),), worker_max_heap_mb=None)
    copies = []

    def copied(state: PartialPlacement) -> PartialPlacement:
        copies.append(state)
        return copy(state)

    copy = PartialPlacement.copy
    monkeypatch.setattr(PartialPlacement, "copy", copied)
    instance = Instance("full", Cluster(nodes), (topology,), running=running)
    assert first_placement(with_limit(instance, moves), RunToken()) is None
    assert len(copies) < most


def test_a_running_task_without_room_may_go_back_when_another_moves() -> None:
    """Both run on n0, which holds one of them: with one move the smaller one goes to n1."""
    nodes = (
        Node("n0", "r", resources={"cpu": Decimal(100)}),
        Node("n1", "r", resources={"cpu": Decimal(50)}),
    )
    components = tuple(
        Component(name, "bolt", 1, {"cpu": Decimal(cpu)}) for name, cpu in (("a", 50), ("b", 60))
    )
    running = {"t": {"a[0]": Place("n0", 0), "b[0]": Place("n0", 0)}}
    topology = Topology("t", components, ())
    problem = with_limit(Instance("full", Cluster(nodes), (topology,), running=running), 1)
    placement = first_placement(problem, RunToken())
    assert placement is not None
    assert placement.nodes == (1, 0)


def test_room_for_an_orphan_is_found_among_thousands_of_tasks() -> None:
    """Nodes 80 and 90 have room for 10 more, the orphan needs 15: one task moves from the one."""
    count = 100
    nodes = tuple(Node(f"n{n}", "r", resources={"cpu": Decimal(100)}) for n in range(count))
    places = [f"n{n}" for n in range(count) for _ in range(9 if n in (80, 90) else 10)]
    components = (
        Component("a", "spout", len(places), {"cpu": Decimal(10)}),
        Component("b", "bolt", 1, {"cpu": Decimal(15)}),
    )
    running = {"t": {f"a[{task}]": Place(node, 0) for task, node in enumerate(places)}}
    topology = Topology("t", components, (), worker_max_heap_mb=None)
    problem = with_limit(Instance("full", Cluster(nodes), (topology,), running=running), 1)
    placement = first_placement(problem, RunToken())
    assert placement is not None
    assert judge(problem, placement).valid


def test_dead_machines_leave_places_at_once_and_proven() -> None:
    for case in islice(lost_machines(0), 4):
        problem = with_limit(case.left, 0)
        placement = first_placement(problem, RunToken())
        assert placement is not None
        first = judge(problem, placement)
        assert first.valid
        result = solve(problem, time_limit_s=60)
        assert result.status is Status.OPTIMAL
        assert result.verdict is not None
        assert result.verdict.scaled <= first.scaled
        assert result.moves == ()


def test_the_first_placement_begins_every_solve_of_what_runs() -> None:
    problem = with_limit(next(lost_machines(0)).left, 3)
    seen: list[str] = []
    solve(
        problem,
        engine="milp",
        time_limit_s=0.5,
        on_progress=lambda progress: seen.append(progress.engine),
    )
    assert seen[0] == CURRENT


def test_it_needs_a_limit_of_no_moves_and_something_that_runs() -> None:
    case = next(lost_machines(0))
    assert ORPHANS.supports(with_limit(case.left, 1)) == "running tasks may move"
    nothing = replace(case.left, running=None)
    assert ORPHANS.supports(compile_problem(nothing)) == "running tasks may move"
