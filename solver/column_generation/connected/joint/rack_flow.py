"""Lower bound on the flow between racks: what racks hold at prices of counts."""

from __future__ import annotations

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import CLUSTER, RACK, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.connected.graph import FlowGraph, make_flow_graph
from slotwise.solver.column_generation.connected.joint.content_pricing import ContentPricing
from slotwise.solver.column_generation.connected.joint.count_prices import find_count_prices
from slotwise.solver.column_generation.connected.joint.joint_duals import find_joint_duals
from slotwise.solver.column_generation.connected.place_model import (
    PlaceModel,
    coarse,
    most_on_nodes,
)
from slotwise.solver.column_generation.connected.pricing import find_duals
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.task_types import TaskTypes


def flow_between_racks(
    places: PlaceModel, scale: int, deadline: float, params: ConnectedParams, token: RunToken
) -> int:
    """Return a lower bound on the flow between racks, proven on the grid `scale`."""
    racks = rack_graph(places.problem, places.kinds, token, params)
    if racks is None:
        return 0
    now = token.now()
    deadline = now + params.rack_time_fraction * (deadline - now)
    duals = find_duals(racks, scale, deadline, token)
    pricing = ContentPricing((racks,), scale, 1, 0, None, params, token)
    half = now + (deadline - now) / 2
    start = find_joint_duals(pricing, duals.pi, duals.configurations, half, params)
    inside = pricing.total(find_count_prices(pricing, start, deadline, params).pi) // scale
    return max(0, int(places.kinds.pairs(places.kinds.sizes)) - inside)


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
    rooms = [_room(problem, rack) for rack in range(len(problem.racks))]
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
    most = np.minimum(most, kinds.sizes)
    units = coarse(kinds.demand[:, tightest], int(room[tightest]), _units(kinds, most, params))
    return make_flow_graph(kinds.sizes, kinds.flow, *units, most, admits, token, params)


def _units(kinds: TaskTypes, most: IntArray, params: ConnectedParams) -> int:
    """Return as many units of a rack as the steps of its tables allow, within their limits."""
    a, b = np.nonzero(np.triu(kinds.flow, 1))
    steps = int(most[a] @ most[b]) or 1
    return max(params.min_rack_units, min(params.max_rack_units, params.max_rack_steps // steps))


def _room(problem: Problem, rack: int) -> IntArray:
    """Return [D] what the nodes of a rack offer together."""
    capacity = problem.capacity[problem.node_rack == rack]
    unlimited = (capacity >= NO_LIMIT).any(axis=0)
    return np.asarray(np.where(unlimited, NO_LIMIT, np.where(unlimited, 0, capacity).sum(axis=0)))
