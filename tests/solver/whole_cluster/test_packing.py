"""Fragments and the room for them."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_clusters import LIMITS, planted

from slotwise.models.cancellation import UNLIMITED, CancellationToken, CancelledError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.whole_cluster.bounds import largest_sums
from slotwise.solver.whole_cluster.placing import Option, cheapest_packing
from slotwise.solver.whole_cluster.plan import Layout, Plan, Room, layout_of
from slotwise.solver.whole_cluster.topologies import TopologyPart, nodes_left, topology_parts


def own_layouts(problem: Problem) -> tuple[tuple[TopologyPart, ...], list[Layout]]:
    """Return the topologies and their optimal layouts alone."""
    parts = topology_parts(problem)
    layouts = []
    for part in parts:
        placement = EXHAUSTIVE.run(part.problem, LIMITS, None).placement
        assert placement is not None
        layout = layout_of(part.problem, placement)
        assert layout is not None
        layouts.append(layout)
    return parts, layouts


@pytest.mark.parametrize("seed", range(3))
def test_the_model_packs_what_was_cut_from_full_nodes(seed: int) -> None:
    problem = compile_problem(planted(np.random.default_rng(seed)))
    parts, layouts = own_layouts(problem)
    options = [Option(i, layout, layout.cost[0]) for i, layout in enumerate(layouts)]
    out = dict.fromkeys(range(len(parts)))
    found = cheapest_packing(Room(problem), options, out, {}, LIMITS, UNLIMITED)
    assert found is not None
    plan = Plan(problem, parts)
    for i, layout in found.items():
        plan.put(i, layout)
    verdict = judge(problem, plan.placement())
    assert verdict.valid
    assert verdict.scaled == (0, sum(layout.cost[0] for layout in layouts))


def test_the_model_says_what_cannot_be_packed() -> None:
    """Two pairs of full nodes in racks of two: a third pair would be torn apart."""
    problem = compile_problem(pairs(3, racks=3))
    _, layouts = own_layouts(problem)
    options = [Option(i, layout, layout.cost[0]) for i, layout in enumerate(layouts)]
    room = Room(problem)
    first = room.fitted(layouts[0])
    assert first is not None
    room.put(first)
    room.capacity[0 if first.nodes[0] != 0 else 2] -= 1
    assert cheapest_packing(room, options[1:], {1: None, 2: None}, {}, LIMITS, UNLIMITED) is None
    found = cheapest_packing(room, options[1:], {1: 10, 2: 10}, {}, LIMITS, UNLIMITED)
    assert found is not None
    assert len(found) == 1


def pairs(count: int, racks: int) -> Instance:
    """Return topologies of two tasks that fill a node each, on racks of two nodes."""
    two = tuple(Component(name, "bolt", 1, {"cpu": 100}) for name in "ab")
    topologies = tuple(Topology(f"t{i}", two, (Stream("a", "b"),)) for i in range(count))
    nodes = tuple(Node(f"n{i}", f"r{i // 2}", "", 1, {"cpu": 100}) for i in range(2 * racks))
    return Instance("pairs", Cluster(nodes), topologies, objective=Objective(("network",)))


def test_equal_topologies_are_recognised_and_unequal_ones_are_not() -> None:
    instance = pairs(2, racks=2)
    larger = Topology("t2", instance.topologies[0].components, ())
    problem = compile_problem(
        Instance("three", instance.cluster, (*instance.topologies, larger), objective=Objective())
    )
    assert [part.like for part in topology_parts(problem)] == [0, 0, 2]


def test_first_fit_keeps_the_fragments_of_a_rack_together() -> None:
    problem = compile_problem(pairs(2, racks=2))
    parts, layouts = own_layouts(problem)
    room = Room(problem)
    for part, layout in zip(parts, layouts, strict=True):
        moved = room.fitted(layout)
        assert moved is not None
        assert room.holds(moved)
        room.put(moved)
        assert judge(part.problem, moved.placement).scaled == layout.cost
        assert len({int(problem.node_rack[n]) for n in moved.nodes}) == 1
    assert room.fitted(layouts[0]) is None
    assert not room.capacity.any()


def test_what_is_left_is_rounded_down_to_few_kinds() -> None:
    problem = compile_problem(pairs(2, racks=4))
    part = topology_parts(problem)[0]
    capacity = np.array([[1], [2], [0], [4], [5], [0], [3], [1]])  # a task takes 1
    slots = np.ones(8, dtype=np.int64)
    for kinds in (1, 2, 8):
        left = nodes_left(part.problem, capacity, slots, kinds, UNLIMITED)
        assert left is not None
        assert set(left.nodes.tolist()) <= {0, 1, 3, 4, 6, 7}
        assert len(np.unique(left.capacity)) <= kinds
        assert (left.capacity <= capacity[left.nodes]).all()
    nothing = nodes_left(part.problem, np.zeros_like(capacity), slots, 4, UNLIMITED)
    assert nothing is None


def test_rounding_can_be_ended() -> None:
    problem = compile_problem(pairs(2, racks=4))
    part = topology_parts(problem)[0]
    late, slots = CancellationToken(deadline=0), np.ones(8, dtype=np.int64)
    with pytest.raises(CancelledError):
        nodes_left(part.problem, np.arange(1, 9)[:, None], slots, 1, late)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 20)), max_size=7), st.integers(0, 12))
def test_largest_sums_are_those_of_all_sets(items: list[tuple[int, int]], most: int) -> None:
    expected: dict[int, tuple[int, ...]] = {}
    sets = chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))
    for chosen in sets:
        weight, value = sum(w for w, _ in chosen), (sum(v for _, v in chosen),)
        if weight <= most:
            expected[weight] = max(expected.get(weight, (0,)), value)
    found = largest_sums([(weight, (value,)) for weight, value in items], most)
    assert found == (expected if items else {})
