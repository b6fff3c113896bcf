"""Least cuts of places by their units, and the flow between them: against all contents."""

from __future__ import annotations

import itertools
import math
import time
from functools import cache

import numpy as np
from flow_graphs import flow_graph, graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import FlowGraph, with_relaxed_cycles
from slotwise.solver.column_generation.connected.place_model import make_place_model
from slotwise.solver.column_generation.connected.rack_flow import (
    FAR,
    flow_between_racks,
    flow_beyond_prices,
    fullest,
    least_cuts,
    least_flow_between,
    rack_graph,
)
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.core.memory import RunToken


def all_contents(graph: FlowGraph) -> IntArray:
    """Return [Y, K] what a place may hold beside nothing."""
    rows = np.array(list(itertools.product(*(range(most + 1) for most in graph.most.tolist()))))
    rows = rows[rows.any(axis=1)]
    return np.asarray(rows[rows @ graph.weights <= graph.capacity])


def cuts_of(graph: FlowGraph, contents: IntArray) -> IntArray:
    """Return [Y] the flow from contents to all other tasks."""
    of_tasks = graph.flow @ graph.sizes
    return np.asarray(contents @ of_tasks - 2 * graph.gains(contents))


def least_flow(graph: FlowGraph, places: int) -> float:
    """Return the least flow between places, over all ways to fill them; infinite for none."""
    contents = [tuple(row) for row in all_contents(graph).tolist()]
    inside = dict(zip(contents, graph.gains(np.array(contents)).tolist(), strict=True))

    @cache
    def most_inside(left: tuple[int, ...], places: int) -> float:
        if not any(left):
            return 0
        if not places:
            return -math.inf
        first = next(k for k, n in enumerate(left) if n)
        return max(
            (
                inside[row]
                + most_inside(tuple(a - b for a, b in zip(left, row, strict=True)), places - 1)
                for row in contents
                if row[first] and all(a >= b for a, b in zip(left, row, strict=True))
            ),
            default=-math.inf,
        )

    return int(graph.gains(graph.sizes)) - most_inside(tuple(graph.sizes.tolist()), places)


@given(graphs())
def test_a_least_cut_is_the_least_of_all_contents_with_these_units(graph: FlowGraph) -> None:
    contents = all_contents(graph)
    cuts, units = cuts_of(graph, contents), contents @ graph.weights
    found = least_cuts(graph, RunToken())
    relaxed = least_cuts(with_relaxed_cycles(graph, RunToken()), RunToken())
    for h in range(1, graph.capacity + 1):
        truth = int(cuts[units == h].min(initial=FAR))
        assert int(found[h]) == truth
        assert int(relaxed[h]) <= truth


@given(graphs(), st.integers(1, 20), st.integers(0, 300))
def test_no_placement_has_less_flow_between_places(
    graph: FlowGraph, places: int, steps: int
) -> None:
    truth = least_flow(graph, places)
    for most in (math.inf, steps):
        for one in (graph, with_relaxed_cycles(graph, RunToken())):
            assert 0 <= least_flow_between(one, places, most, RunToken()) <= truth


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_no_placement_has_less_flow_than_prices_leave(graph: FlowGraph) -> None:
    until = time.perf_counter() + 60
    found = flow_beyond_prices(graph, 1 << 20, until, ConnectedParams(), RunToken())
    assert 0 <= found <= least_flow(graph, int(graph.sizes.sum()))


@given(graphs())
def test_two_places_have_the_least_flow_there_is(graph: FlowGraph) -> None:
    truth = least_flow(graph, 2)
    found = least_flow_between(graph, 2, math.inf, RunToken())
    assert found == (0 if truth == math.inf else truth)


def test_prices_are_asked_for_where_tasks_need_many_racks() -> None:
    """The tasks of c have little flow: by cuts alone, each of nine racks is full of them."""
    sizes = {"a": 400, "b": 400, "c": 100}
    components = tuple(
        Component(name, "spout" if name == "a" else "bolt", 8, {"cpu": cpu})
        for name, cpu in sizes.items()
    )
    streams = (Stream("a", "b", rate=640), Stream("b", "c", rate=64))
    nodes = tuple(Node(f"n{i}", f"r{i}", "", 20, {"cpu": 800}) for i in range(10))
    topology = Topology("t", components, streams)
    network = Objective(("network",))
    made = Instance("racks", Cluster(nodes), (topology,), flow="rates", objective=network)
    problem = compile_problem(made)
    token, params = RunToken(), CONNECTED_DEFAULTS
    places = make_place_model(problem, token, params)
    racks = rack_graph(problem, places.kinds, token, params)
    assert racks is not None
    until = token.now() + 60
    by_cuts = least_flow_between(racks, 10, math.inf, token)
    by_prices = flow_beyond_prices(racks, 1 << 20, until, params, token)
    assert by_cuts < by_prices
    assert flow_between_racks(places, 1 << 20, until, params, token) == by_prices


def test_many_of_one_kind_do_not_fill_more_places_than_there_are() -> None:
    """Alone, the last kind's tasks have the least flow: four would fill two places."""
    flow = np.array([[0, 9, 0], [9, 0, 1], [0, 1, 0]])
    graph = flow_graph([2, 2, 1], [2, 2, 1], 5, flow)
    few, several = (least_flow_between(graph, n, math.inf, RunToken()) for n in (2, 9))
    assert several < few == least_flow(graph, 2)


def test_one_place_that_holds_all_has_no_flow_to_others() -> None:
    graph = flow_graph([2, 2], [1, 1], 4, np.array([[0, 1], [1, 0]]))
    assert least_flow_between(graph, 1, math.inf, RunToken()) == 0


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=4),
    st.lists(st.integers(0, 40), min_size=1, max_size=5),
)
def test_a_node_is_as_full_as_the_largest_sum_of_demands(
    demand: list[int], capacity: list[int]
) -> None:
    sums = {0}
    for total in range(1, max(capacity) + 1):
        if any(one and total - one in sums for one in demand):
            sums.add(total)
    found = fullest(np.array(capacity), np.array(demand)).tolist()
    if any(demand):
        assert found == [max(one for one in sums if one <= room) for room in capacity]
    else:
        assert found == capacity
