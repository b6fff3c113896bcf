"""A cheap bound of the network: two classes that fill many nodes meet in few pairs.

Let a task of class a take the share r_a of the largest node in some hard dimension, so that every
node content y has sum r_a y_a <= 1. Let A and B be the numbers of tasks of two classes, and
S = A r_a + B r_b the nodes that they fill. Then at most A B / max(1, S) of their A B pairs share
a node. Proof: with u = r_a y_a and v = r_b y_b, u + v <= 1 on each node, and for any t in [0, 1]

    u v <= (1 - t)^2 u + t^2 v,

since for u + v = 1 the right side is the tangent at u = t of the concave u (1 - u), and for less
both sides shrink, the left one faster. Summed over the nodes, with sum u = A r_a and
sum v = B r_b, the pairs are at most (1 - t)^2 A / r_b + t^2 B / r_a; the least of that over t is
A B / (A r_a + B r_b). (Where r_b is 0 each of the B tasks meets at most 1 / r_a, which is the
same.) The same holds for workers, with their heap as one more dimension, and for
racks with their total capacity. A cap of m tasks per node is a dimension of its own, with share
1 / m. So

    network >= sum over pairs of classes of flow *
               (farthest * A B - savings of the pairs that can share a rack, node, worker).

The least number of nodes is what one dimension needs at least. All in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT


def least_network(problem: Problem, token: CancellationToken) -> int:
    """Return a lower bound on the network cost of every placement.

    In integer steps of the part ``network``; 0 where topologies may be left out, or distances
    come as a matrix.
    """
    if problem.may_reject or problem.matrix is not None:
        return 0
    saving = [max(0, int(step)) for step in np.diff(problem.distance)]
    least_distance = int(problem.distance[CLUSTER]) - sum(saving)
    racks, nodes, workers = (_Shares(problem, level) for level in (CLUSTER, RACK, NODE))
    total = 0
    for (a, b), flow in problem.pair_flows().items():
        token.check()
        pairs = problem.classes[a].size * problem.classes[b].size
        close = (workers.together(a, b), nodes.together(a, b), racks.together(a, b))
        apart = sum(s * (pairs - min(c, pairs)) for s, c in zip(saving, close, strict=True))
        total += flow * (least_distance * pairs + apart)
    return max(0, total)


def fewest_nodes(problem: Problem) -> int:
    """Return how many nodes are in use at least; 0 where topologies may be left out."""
    if problem.may_reject or not problem.task_count:
        return 0
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    needed = [1]
    for d in np.flatnonzero(problem.hard).tolist():
        most = int(problem.capacity[:, d].max())
        if 0 < most < NO_LIMIT:
            needed.append(-(-int(demand[d]) // most))
    return max(needed)


class _Shares:
    """What a task of each class takes of a place below `level`: racks, nodes or workers."""

    def __init__(self, problem: Problem, level: int) -> None:
        self._problem = problem
        self._level = level
        self._limits = dict(pair for rules in problem.rules for pair in rules.max_per_node)
        capacity = _rack_capacity(problem) if level == CLUSTER else problem.capacity
        self._most = {
            d: int(most)
            for d, most in enumerate(capacity.max(axis=0).tolist())
            if problem.hard[d] and 0 < most < NO_LIMIT
        }

    def together(self, a: int, b: int) -> int:
        """Return how many pairs of tasks of two classes can share a place at most."""
        if self._level == NODE and self._kept_apart(a, b):
            return 0
        sizes = [self._problem.classes[c].size for c in (a, b)]
        filled = max((x * sizes[0] + y * sizes[1] for x, y in self._of(a, b)), default=Fraction(0))
        return int(Fraction(sizes[0] * sizes[1]) / max(Fraction(1), filled))

    def _of(self, a: int, b: int) -> Iterable[tuple[Fraction, Fraction]]:
        """Yield the shares of both classes in each dimension."""
        demand = self._problem.demand
        for d, most in self._most.items():
            yield Fraction(int(demand[a, d]), most), Fraction(int(demand[b, d]), most)
        if self._level == CLUSTER:
            return
        for one, at in ((a, 0), (b, 1)):
            cap = self._limits.get(self._problem.classes[one].component)
            if cap:
                share = Fraction(1, cap)
                yield (share, Fraction(0)) if at == 0 else (Fraction(0), share)
        limit = self._problem.rules[self._problem.classes[a].topology].heap_limit
        if self._level == NODE and 0 < limit < NO_LIMIT:
            heap = self._problem.heap
            yield Fraction(int(heap[a]), limit), Fraction(int(heap[b]), limit)

    def _kept_apart(self, a: int, b: int) -> bool:
        """Return whether tasks of both classes never share a worker."""
        first, second = self._problem.classes[a], self._problem.classes[b]
        rules = self._problem.rules[first.topology]
        return rules.keeps_apart(first.component, second.component)


def _rack_capacity(problem: Problem) -> IntArray:
    """Return [R, D] the capacity of each rack; no limit where one of its nodes has none."""
    total = np.zeros((len(problem.racks), len(problem.dims)), dtype=np.int64)
    for rack in range(len(problem.racks)):
        nodes = problem.capacity[problem.node_rack == rack]
        endless = (nodes == NO_LIMIT).any(axis=0)
        total[rack] = np.where(endless, NO_LIMIT, np.where(endless, 0, nodes).sum(axis=0))
    return total
