"""What several racks cost at least: judged by NetworkX and by exhaustive search."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from engine_cases import LIMITS, racked

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.portfolio.auto import run_auto
from slotwise.solver.presolve import rack_cut
from slotwise.solver.presolve.rack_cut import (
    all_in_one_rack,
    least_cut,
    one_rack,
    over_racks,
    racks_are_alike,
)


def task_graph(problem: Problem) -> nx.Graph[int]:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(problem.task_count))
    for (a, b), weight in problem.pair_flows().items():
        for one in problem.classes[a].tasks:
            for other in problem.classes[b].tasks:
                graph.add_edge(one, other, weight=weight)
    return graph


def test_the_least_cut_is_that_of_the_task_graph() -> None:
    rng = np.random.default_rng(3)
    seen: Counter[bool] = Counter()
    for number in range(80):
        problem = compile_problem(racked(rng))
        graph = task_graph(problem)
        if graph.number_of_nodes() < 2:
            assert least_cut(problem) is None
            continue
        connected = nx.is_connected(graph)
        expected = nx.stoer_wagner(graph)[0] if connected else 0
        assert least_cut(problem) == expected, number
        seen[connected] += 1
    assert min(seen.values()) >= 10
    assert len(seen) == 2


def two_stages(tasks: int, racks: tuple[Node, ...]) -> Problem:
    """Return two components that send to each other's every task, on these nodes."""
    components = (Component("a", "spout", tasks), Component("b", "bolt", tasks))
    topology = Topology("t", components, (Stream("a", "b"),))
    instance = Instance("t", Cluster(racks), (topology,), objective=Objective(("network",)))
    return compile_problem(instance)


TWO_RACKS = (Node("n0", "r0"), Node("n1", "r1"))


def test_too_many_pairs_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rack_cut, "MOST_PAIRS", 15)
    assert least_cut(two_stages(3, TWO_RACKS)) is not None
    monkeypatch.setattr(rack_cut, "_edges", None)
    assert least_cut(two_stages(4, TWO_RACKS)) is None


def test_the_search_for_the_least_cut_can_be_ended() -> None:
    problem = two_stages(3, TWO_RACKS)
    with pytest.raises(CancelledError):
        least_cut(problem, CancellationToken(deadline=0))
    outer = Outcome(Status.OPTIMAL, None, (0,), (0,), "")
    inner = Outcome(Status.OPTIMAL, None, (9,), (9,), "")
    assert over_racks(problem, outer, inner).bounds != (None,)
    assert over_racks(problem, outer, inner, CancellationToken(deadline=0)).bounds == (None,)


@pytest.mark.parametrize("many", range(1, 7))
def test_the_rack_that_offers_most_is_chosen_whatever_has_no_limit(many: int) -> None:
    large = tuple(
        Node(f"l{i}", "large", "", 4, {"cpu": 100, "memory_mb": None}) for i in range(many)
    )
    small = tuple(Node(f"s{i}", "small", "", 4, {"cpu": 10, "memory_mb": None}) for i in range(8))
    problem = two_stages(2, (*large, *small))
    assert one_rack(problem).nodes == tuple(range(many))


@pytest.mark.slow
def test_bounds_over_racks_hold(note: list[str]) -> None:
    rng = np.random.default_rng(4)
    seen: Counter[str] = Counter()
    for number in range(100):
        problem = compile_problem(racked(rng))
        if EXHAUSTIVE.supports(problem) is not None:
            continue
        outer = EXHAUSTIVE.run(all_in_one_rack(problem).problem, LIMITS, None)
        inner = EXHAUSTIVE.run(one_rack(problem).problem, LIMITS, None)
        bounds = over_racks(problem, outer, inner).bounds
        whole = EXHAUSTIVE.run(problem, LIMITS, None)
        if bounds[0] is None:
            assert inner.status != Status.OPTIMAL
            seen["unknown"] += 1
            continue
        assert whole.values is not None
        assert bounds[0] <= whole.values[0], number
        seen["proven" if bounds[0] == whole.values[0] else "below"] += 1
    note.append(f"bounds over racks: {dict(seen)}")
    assert seen["proven"] >= 40
    assert seen["unknown"] >= 10


def test_a_third_node_in_another_rack_does_not_pay() -> None:
    """On one rack a-d-b-c costs 6, with all nodes in one rack 5; a cut of 1 closes the gap."""
    points = {"a": 5, "d": 7, "b": 5, "c": 3}
    components = tuple(Component(k, "bolt", 1, {"cpu": cpu}) for k, cpu in points.items())
    streams = (Stream("a", "d"), Stream("d", "b"), Stream("b", "c"))
    nodes = tuple(Node(f"n{i}", f"r{i % 2}", "", 2, {"cpu": 10}) for i in range(4))
    topology = Topology("t", components, streams, one_task_per_worker=True)
    instance = Instance("t", Cluster(nodes), (topology,), objective=Objective(("network",)))
    problem = compile_problem(instance)
    outer = EXHAUSTIVE.run(all_in_one_rack(problem).problem, LIMITS, None)
    inner = EXHAUSTIVE.run(one_rack(problem).problem, LIMITS, None)
    assert (outer.values, inner.values) == ((5,), (6,))
    assert over_racks(problem, outer, inner).bounds == (6,)
    assert EXHAUSTIVE.run(problem, LIMITS, None).values == (6,)
    _, found = run_auto(problem, LIMITS, None)
    assert (found.status, found.values) == (Status.OPTIMAL, (6,))


def test_racks_with_other_nodes_are_not_alike() -> None:
    problem = compile_problem(racked(np.random.default_rng(0)))
    assert racks_are_alike(problem)
    slots = problem.slots.copy()
    slots[0] += 1
    assert not racks_are_alike(replace(problem, slots=slots))
