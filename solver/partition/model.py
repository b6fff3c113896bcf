"""A problem as a graph to partition: kinds of tasks, their weights and flows, and equal parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.assignment.model import reason_against
from slotwise.solver.column_generation.connected.worker_rules import coarse
from slotwise.solver.structure.node_types import node_types
from slotwise.solver.structure.separability import without_matrix
from slotwise.solver.structure.task_types import TaskTypes, disaggregate, merge_twins


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """K kinds of tasks to share out among equal parts; D dimensions.

    A placement costs ``farthest - saving * inside``, with `inside` the flow inside parts.

    Parameters
    ----------
    problem, kinds
        The problem by levels, and its kinds.
    most
        [K] most tasks of a kind in a part.
    capacity
        [D] of a part.
    parts
        Most parts.
    ample
        Whether parts cannot run short: connected parts are enough then.
    term
        Index of the objective's term; the others are 0 for every placement.
    farthest, saving
        Cost of a placement without flow inside parts, linear costs included, and what a unit of
        flow inside saves; in integer steps of the term.
    """

    problem: Problem
    kinds: TaskTypes
    most: IntArray
    capacity: IntArray
    parts: int
    ample: bool
    term: int
    farthest: int
    saving: int

    @property
    def all_flow(self) -> int:
        """Flow of all pairs of tasks."""
        return int(self.kinds.pairs(self.kinds.sizes))

    def admits(self, counts: IntArray) -> BoolArray:
        """Return [Y]: whether the tasks [Y, K] fit a part."""
        return np.asarray((counts @ self.kinds.demand <= self.capacity).all(axis=1))

    def knapsack(self, most_units: int) -> tuple[IntArray, int]:
        """Return weights [K] and capacity of the tightest dimension in at most `most_units` units.

        Every part keeps this rule; it is the only one, and exact, where there is one dimension
        and its numbers are small.
        """
        shares = [
            (Fraction(int(self.kinds.sizes @ self.kinds.demand[:, d]), max(int(room), 1)), d)
            for d, room in enumerate(self.capacity.tolist())
            if room < NO_LIMIT and self.kinds.demand[:, d].any()
        ]
        if not shares:
            return np.zeros(self.kinds.count, dtype=np.int64), 0
        _, d = max(shares, key=lambda share: share[0])
        weights = self.kinds.demand[:, d]
        room = min(int(self.capacity[d]), int(weights @ self.kinds.sizes))
        return coarse(weights, room, most_units)

    def placement(self, parts: Sequence[IntArray]) -> Placement | None:
        """Return the placement of parts [K], those that fit together merged; ``None``: too many."""
        merged = self._merged(parts)
        if len(merged) > self.parts:
            return None
        problem, members = self.problem, self.kinds.members
        placement = disaggregate(
            problem,
            ([task for c in group for task in problem.classes[c].tasks] for group in members),
            ((node, 0, enumerate(part.tolist())) for node, part in enumerate(merged)),
        )
        labels = tuple(problem.classes[c].topology for c in problem.task_class.tolist())
        return Placement(placement.nodes, labels)

    def _merged(self, parts: Sequence[IntArray]) -> list[IntArray]:
        """Return the parts, each added to the first that has room (largest first)."""
        merged: list[IntArray] = []
        for part in sorted(parts, key=lambda one: -int((one @ self.kinds.demand).sum())):
            for i, other in enumerate(merged):
                if self.admits((other + part)[None])[0]:
                    merged[i] = other + part
                    break
            else:
                merged.append(part)
        return [part for part in merged if part.any()]


def why_no_partition(problem: Problem) -> str | None:
    """Return ``None``, or why the problem is not a partition into equal parts."""
    reason = reason_against(problem)
    if reason is not None:
        return reason
    if len(node_types(problem)) != 1:
        return "nodes differ in more than their rack"
    levels = problem if problem.matrix is None else without_matrix(problem)
    if levels is None or (
        len(levels.racks) > 1 and levels.distance[CLUSTER] != levels.distance[RACK]
    ):
        return "two nodes are not all equally far apart"
    return None


def make_partition(problem: Problem, token: CancellationToken) -> Partition:
    """Return the view of a problem for which `why_no_partition` has ``None``."""
    problem = without_matrix(problem) or problem
    kinds = merge_twins(problem, token)
    capacity = problem.capacity[0]
    most = kinds.sizes.copy()
    for k in range(kinds.count):
        needs = kinds.demand[k] > 0
        most[k] = min([int(most[k]), *(capacity[needs] // kinds.demand[k][needs]).tolist()])
    (term,) = (
        t for t, one in enumerate(problem.terms) if any(part != "overload" for part, _ in one.parts)
    )
    multiplier = dict(problem.terms[term].parts)
    network, far = multiplier.get("network", 0), int(problem.distance[RACK])
    linear = 0
    if problem.linear is not None:
        sizes = np.array(problem.sizes, dtype=np.int64)
        linear = multiplier.get("linear", 0) * int(problem.linear[:, 0] @ sizes)
    return Partition(
        problem=problem,
        kinds=kinds,
        most=most,
        capacity=capacity,
        parts=min(problem.node_count, problem.task_count),
        ample=_cannot_run_short(problem, kinds),
        term=term,
        farthest=linear + network * far * int(kinds.pairs(kinds.sizes)),
        saving=network * (far - int(problem.distance[WORKER])),
    )


def _cannot_run_short(problem: Problem, kinds: TaskTypes) -> bool:
    """Return whether the nodes are enough for any parts of which no two fit together.

    u >= 2 such parts take more than u / 2 of a node's capacities, summed up over dimensions.
    """
    total, node_share = kinds.sizes @ kinds.demand, Fraction(0)
    for need, room in zip(total.tolist(), problem.capacity[0].tolist(), strict=True):
        if need and room < NO_LIMIT:
            node_share += Fraction(need, max(room, 1))
    most_parts = max(1, -(-2 * node_share.numerator // node_share.denominator) - 1)
    return problem.node_count >= most_parts
