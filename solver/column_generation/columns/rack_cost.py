"""The flow between racks, as an expression of the tasks on the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact import Count, product
from slotwise.solver.compact.star_cover import cover
from slotwise.solver.structure.task_types import TaskTypes

NodeCounts = Mapping[int, Sequence[Count]]
"""Node -> [K] count of each kind there."""


def inter_rack_flow(
    cp: cp_model.CpModel,
    problem: Problem,
    kinds: TaskTypes,
    counts: NodeCounts,
    rejected: Sequence[Count],
    token: CancellationToken,
) -> Count:
    """Return an upper bound of the flow between racks of the topologies not rejected.

    Pairs in a rack are products of the counts there, order-encoded as in the compact model.
    """
    pairs = np.argwhere(np.triu(kinds.flow)).tolist()
    flows = {(a, b): int(kinds.flow[a, b]) for a, b in pairs}
    far: Count = 0
    for t in range(len(problem.rules)):
        own = {pair: w for pair, w in flows.items() if kinds.topology[pair[0]] == t}
        all_pairs = sum(w * int(kinds.sizes[a] * kinds.sizes[b]) for (a, b), w in own.items())
        far += all_pairs * (1 - rejected[t])
        stars = cover(own, tuple(kinds.sizes.tolist()), token)
        members = sorted({k for pair in own for k in pair})
        for rack in range(len(problem.racks)):
            nodes = np.flatnonzero(problem.node_rack == rack).tolist()
            place = _in_rack(cp, kinds, [counts[n] for n in nodes], members)
            for center, leaves in stars.items():
                far -= product(cp, place, center, leaves)
    return far


def _in_rack(
    cp: cp_model.CpModel, kinds: TaskTypes, nodes: Sequence[Sequence[Count]], members: Sequence[int]
) -> dict[int, tuple[Count, int]]:
    place: dict[int, tuple[Count, int]] = {}
    for k in members:
        size = int(kinds.sizes[k])
        count = cp.new_int_var(0, size, f"in_rack_{k}")
        cp.add(count == sum(node[k] for node in nodes))
        place[k] = (count, size)
    return place
