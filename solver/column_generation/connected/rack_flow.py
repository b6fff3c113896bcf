"""A lower bound on the flow between racks: the least cuts of racks that are as full as theirs.

Let C(h) be the least flow that leaves a rack with h units of tasks. All flow between racks leaves
two of them, so where racks take h_1, h_2, ... units

    flow between racks >= (C(h_1) + C(h_2) + ...) / 2,

and the units add up to those of all tasks, in no more racks than there are. A linear program over
the contents of racks would use 1.2 racks that hold some of everything; these are whole. With two
racks the bound is the least flow that the rule on the units allows.
"""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import CLUSTER, RACK, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.connected.content_pricing import ContentPricing
from slotwise.solver.column_generation.connected.count_prices import find_count_prices
from slotwise.solver.column_generation.connected.graph import FlowGraph, make_flow_graph
from slotwise.solver.column_generation.connected.joint_duals import find_joint_duals
from slotwise.solver.column_generation.connected.level import find_duals
from slotwise.solver.column_generation.connected.place_model import (
    PlaceModel,
    most_on_nodes,
    offered,
)
from slotwise.solver.column_generation.connected.worker_rules import coarse
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.task_types import TaskTypes

FAR = -NEG_INF
"""Of what no content takes."""

MANY_KINDS, MANY_RACKS = 8, 6
"""From this number of kinds, or of racks that the tasks need, prices are asked for, too; with
fewer, cuts were the better bound."""

MIN_UNITS = 200
"""Least units of a rack in the tables of prices."""

MOST_REACHABLE = 1_000_000
"""Up to here the sums of demands are listed; a node of more counts as if it could be full."""


def flow_between_racks(
    places: PlaceModel, scale: int, deadline: float, params: ConnectedParams, token: RunToken
) -> int:
    """Return a lower bound on the flow between racks; 0 where one may hold all tasks."""
    racks = rack_graph(places.problem, places.kinds, token, params)
    if racks is None:
        return 0
    now = token.now()
    left = params.rack_time_fraction * (deadline - now)
    most = min(params.max_rack_steps, params.rack_steps_per_second * left)
    least = least_flow_between(racks, len(places.problem.racks), most, token)
    needed = -(-racks.total_units // racks.capacity)
    if racks.count < MANY_KINDS and needed < MANY_RACKS:
        return least
    return max(least, flow_beyond_prices(racks, scale, now + left, params, token))


def flow_beyond_prices(
    graph: FlowGraph, scale: int, deadline: float, params: ConnectedParams, token: RunToken
) -> int:
    """Return the flow that places cannot hold by prices of counts, proven on the grid `scale`.

    Of many kinds, or on many racks, cuts count tasks with little flow again and again; prices
    count each once.
    """
    a, b = np.nonzero(np.triu(graph.flow, 1))
    steps = int(graph.most[a] @ graph.most[b]) or 1
    units = min(max(MIN_UNITS, params.max_price_steps // steps), params.max_units)
    weights, capacity = coarse(graph.weights, graph.capacity, units)
    graph = replace(graph, weights=weights, capacity=capacity)
    duals = find_duals(graph, scale, deadline, token)
    pricing = ContentPricing((graph,), scale, 1, 0, None, params, token)
    half = (token.now() + deadline) / 2
    start = find_joint_duals(pricing, duals.pi, duals.configurations, half, params)
    prices = find_count_prices(pricing, start, deadline, params).pi
    return max(0, int(graph.gains(graph.sizes)) - pricing.total(prices) // scale)


def least_flow_between(graph: FlowGraph, places: int, max_steps: float, token: RunToken) -> int:
    """Return a lower bound on the flow between `places` places, which hold all tasks together.

    It is one between any number of places where counting them would take more steps than
    `max_steps`; units are coarser where the tables alone would, or need too much memory.
    """
    from slotwise.solver.column_generation.connected.kernels import add_up, combine_exactly

    units = graph.capacity
    steps, entries = _size_of_tables(graph)
    while steps > max_steps or not token.has_room(8 * entries, "tables of racks"):
        token.check()
        if units <= 1:
            return 0
        units //= 2
        weights, capacity = coarse(graph.weights, graph.capacity, units)
        graph = replace(graph, weights=weights, capacity=capacity)
        steps, entries = _size_of_tables(graph)
    cuts, loads = least_cuts(graph, token), graph.total_units
    if places * loads * graph.capacity > max_steps:
        least = np.zeros(loads + 1, dtype=np.int64)
        add_up(cuts, least)
    else:
        one = np.full((1, loads + 1), NEG_INF, dtype=np.int64)
        few = min(len(cuts), loads + 1)
        one[0, :few] = -cuts[:few]
        several = one
        for _ in range(places - 1):
            token.check()
            more = np.empty_like(several)
            combine_exactly(several, one, more)
            several = more
        least = -several[0]
    return 0 if least[-1] >= FAR else -(-int(least[-1]) // 2)


def rack_graph(
    problem: Problem,
    kinds: TaskTypes,
    token: CancellationToken,
    params: ConnectedParams = CONNECTED_DEFAULTS,
) -> FlowGraph | None:
    """Return the kinds in a rack as large as the largest in everything.

    ``None`` where one rack may hold all tasks, or racks make no difference.
    """
    if problem.distance[CLUSTER] == problem.distance[RACK]:
        return None
    capacity = problem.capacity.copy()
    for d, demand in enumerate(kinds.demand.T):
        capacity[:, d] = fullest(capacity[:, d], demand)
    rooms = [offered(capacity[problem.node_rack == r]) for r in range(len(problem.racks))]
    room = np.max(rooms, axis=0)
    racks = np.arange(len(problem.racks))[:, None] == problem.node_rack
    most = (most_on_nodes(problem, kinds) @ racks.T).max(axis=1)
    needed = kinds.sizes @ kinds.demand
    if (needed <= room).all() and (kinds.sizes <= most).all():
        return None

    def admits(counts: IntArray) -> BoolArray:
        return np.asarray((counts @ kinds.demand <= room).all(axis=1) & (counts <= most).all(1))

    limited = [d for d in range(len(room)) if room[d] < NO_LIMIT and kinds.demand[:, d].any()]
    if not limited:
        return None
    tightest = max(limited, key=lambda d: float(needed[d] / max(int(room[d]), 1)))
    rule = coarse(kinds.demand[:, tightest], int(room[tightest]), int(room[tightest]))
    most = np.minimum(most, kinds.sizes)
    few = params.max_assignments
    return make_flow_graph(kinds.sizes, kinds.flow, *rule, most, admits, token, few)


def fullest(capacity: IntArray, demand: IntArray) -> IntArray:
    """Return [N] the most of each capacity [N] that tasks of these demands [K] can take."""
    demand = np.unique(demand[demand > 0])
    if not len(demand):
        return capacity
    divisor = math.gcd(*demand.tolist())
    most = int(capacity.max()) // divisor
    if most > MOST_REACHABLE:
        return capacity
    reachable = np.arange(most + 1) == 0
    for shift in (demand // divisor).tolist():
        while shift <= most:
            reachable[shift:] |= reachable[:-shift]
            shift *= 2
    largest = np.maximum.accumulate(np.where(reachable, np.arange(most + 1), 0))
    return np.asarray(divisor * largest[capacity // divisor])


def least_cuts(graph: FlowGraph, token: RunToken) -> IntArray:
    """Return [H + 1] the least flow from a place that holds h units of tasks to all others.

    `FAR` or more where no content has h units. Flows that the graph relaxes count as inside for
    more than they are, so that a cut may be less than it is; at least 0.
    """
    from slotwise.solver.column_generation.connected.kernels import attach

    cuts = np.full(graph.capacity + 1, FAR, dtype=np.int64)
    order, parent = _cheapest_roots(graph)
    of_tasks = graph.flow @ graph.sizes
    for assignment in graph.assignments():
        alone = of_tasks - 2 * (graph.tight_flow @ assignment)
        used = int(assignment @ graph.weights)
        tables: dict[int, IntArray] = {-1: np.zeros((1, 1), dtype=np.int64)}
        for k in order:
            own = np.arange(int(graph.most[k]) + 1) * alone[k] - 2 * graph.relaxed_gain(1, k)
            tables[k] = own[:, None]
        for k in reversed(order):
            token.check()
            above, child = parent[k], tables.pop(k)
            weight = 0 if above < 0 else int(graph.weights[above])
            flow = 0 if above < 0 else 2 * int(graph.flow[k, above])
            room = graph.capacity - used
            span = tables[above].shape[1] + child.shape[1] - 1
            span += (len(child) - 1) * int(graph.weights[k])
            joined = np.full((len(tables[above]), min(span, room + 1)), FAR, dtype=np.int64)
            attach(tables[above], weight, child, int(graph.weights[k]), flow, room, joined)
            tables[above] = joined
        fixed = int(of_tasks @ assignment) - 2 * int(graph.gains(assignment))
        (by_units,) = tables[-1]
        found = np.where(by_units < FAR, np.maximum(by_units + fixed, 0), FAR)
        cuts[used : used + len(found)] = np.minimum(cuts[used : used + len(found)], found)
    return cuts


def _cheapest_roots(graph: FlowGraph) -> tuple[list[int], list[int]]:
    """Return the kinds of the forest, parents first, and [K] their parents; -1 for roots.

    Each tree hangs from the kind from which its tables take the fewest steps.
    """
    forest = nx.Graph((k, graph.parent[k]) for k in graph.order if graph.parent[k] >= 0)
    forest.add_nodes_from(graph.order)
    order, parents = list[int](), [-1] * graph.count
    for tree in nx.connected_components(forest):
        root = min(sorted(tree), key=lambda k: _size_of_tree(graph, forest, k))
        order.append(root)
        for above, below in nx.dfs_edges(forest, root):
            parents[below] = above
            order.append(below)
    return order, parents


def _size_of_tables(graph: FlowGraph) -> tuple[int, int]:
    """Return about how many steps the tables take, and the entries of the largest one."""
    order, parents = _cheapest_roots(graph)
    forest = nx.Graph((k, parents[k]) for k in order if parents[k] >= 0)
    forest.add_nodes_from(order)
    trees = [_size_of_tree(graph, forest, k) for k in order if parents[k] < 0]
    assignments = sum(1 for _ in graph.assignments())
    steps = sum(steps for steps, _ in trees) + len(trees) * graph.capacity**2
    loads = graph.total_units * graph.capacity
    return assignments * steps + loads, max((entries for _, entries in trees), default=0)


def _size_of_tree(graph: FlowGraph, forest: nx.Graph[int], root: int) -> tuple[int, int]:
    """Return the same of a tree that hangs from a kind."""
    steps, largest, room = 0, 0, graph.capacity
    below = dict.fromkeys(forest, 0)  # units that the tasks below a kind take at most
    above = {child: parent for parent, child in nx.dfs_edges(forest, root)}
    for k in nx.dfs_postorder_nodes(forest, root):
        rows = int(graph.most[k]) + 1
        largest = max(largest, rows * (below[k] + 1))
        if k != root:
            own = (rows - 1) * int(graph.weights[k])
            contents = rows * (below[k] + 1)
            reached = min(contents, below[k] + own + 1, room + 1)
            steps += (int(graph.most[above[k]]) + 1) * (contents + (below[above[k]] + 1) * reached)
            below[above[k]] = min(below[above[k]] + below[k] + own, room)
    return steps, largest
