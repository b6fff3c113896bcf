"""The contents that a node can have: sets of tasks, where capacities leave few of them."""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.assignment.model import Assignment
from slotwise.solver.assignment.subsets.subset_fixing import NodeSubsets
from slotwise.solver.core.memory import RunToken

MOST_BITS = 62
"""Tasks of a set that one number holds."""
UNITS = 2_000
"""Units of a capacity when the number of contents is bounded."""


def most_contents(model: Assignment) -> float:
    """Return about how many contents all nodes have together, at most.

    The tightest capacity alone, in coarse units, rounded down.
    """
    dims = range(model.demand.shape[1])
    known: dict[tuple[int, int], float] = {}
    total = 0.0
    for capacity in model.capacity.tolist():
        least = 2.0**model.task_count
        for d in dims:
            key = (d, capacity[d])
            if key not in known:
                known[key] = _sets_within(model.demand[:, d], capacity[d])
            least = min(least, known[key])
        total += least
    return total


def _sets_within(weights: IntArray, capacity: int) -> float:
    """Return how many sets of tasks weigh at most `capacity` in coarse units."""
    capacity = min(capacity, int(weights.sum()))
    unit = -(-max(capacity, 1) // UNITS)
    ways = np.zeros(capacity // unit + 1)
    ways[0] = 1.0
    for weight in (weights // unit).tolist():
        before = ways.copy()
        ways[weight:] += before[: max(0, len(ways) - weight)]
    return float(ways.sum())


def list_all(model: Assignment, apart: int, token: RunToken) -> NodeSubsets:
    """Return the contents of each node, with their costs: linear less what is saved by sharing.

    `apart` is the distance of any two different nodes.
    """
    from slotwise.solver.assignment.subsets.subset_kernels import list_contents

    both = model.flow + model.flow.T
    nothing = np.zeros(0, dtype=np.int64)
    chosen, costs_above = np.zeros((2, model.task_count + 1), dtype=np.int64)
    found: NodeSubsets = {}
    for node in range(model.node_count):
        token.check()
        linear = np.ascontiguousarray(model.linear[:, node])
        saved = (apart - int(model.distance[node, node])) * both
        room = model.capacity[node]
        count = list_contents(
            model.demand, room, linear, saved, chosen, costs_above, nothing, nothing
        )
        token.check_room(6 * 8 * count, f"{count:,} sets of tasks on a node")
        sets, costs = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        list_contents(model.demand, room, linear, saved, chosen, costs_above, sets, costs)
        found[node] = (sets, costs)
    return found
