"""What the bounds of the topologies alone prove about all of them together.

A topology costs among others at least what it costs alone on the empty cluster: without the others
its placement is still valid. So the bounds add up over the topologies that are placed. Which are
left out is open; of all sets with the same weight the one whose bounds are largest counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.whole_cluster.topologies import TopologyPart

Vector = tuple[int, ...]

MOST_SUMS = 100_000
"""Different weights that the tables of sets may have."""


@dataclass(frozen=True, slots=True)
class ClusterBounds:
    """What is proven of the topologies alone.

    Parameters
    ----------
    problem, parts
        The whole, and its topologies.
    alone
        Per part: its bound in each term, in integer steps of the whole problem.
    impossible
        The parts that have no placement alone.
    """

    problem: Problem
    parts: Sequence[TopologyPart]
    alone: Sequence[Vector]
    impossible: Collection[int]

    @property
    def is_infeasible(self) -> bool:
        """Whether a topology that may not be left out has no placement."""
        return any(self.parts[i].weight is None for i in self.impossible)

    def least_rejected(self) -> int:
        """Return a bound of the weight of the topologies left out.

        Those without a placement, and as many others as must be left out for the demand of the
        rest to be within the cluster's resources and slots.
        """
        forced = sum(self.parts[i].weight or 0 for i in self.impossible)
        others = [i for i in range(len(self.parts)) if i not in self.impossible]
        weights = [self.parts[i].weight or 0 for i in others]
        least = 0
        demands = [_demand(self.parts[i].problem, self.parts[i].topology) for i in others]
        for d, capacity in enumerate(_capacity(self.problem)):
            items = [(w, (one[d],)) for w, one in zip(weights, demands, strict=True)]
            excess = sum(one[d] for one in demands) - capacity
            table = largest_sums(items, sum(weights)) if excess > 0 else None
            if table is not None:
                enough = [weight for weight, (out,) in table.items() if out >= excess]
                least = max(least, min(enough))
        return forced + least

    def least_cost(self, rejected: int) -> Vector | None:
        """Return a bound of the other terms, in their order, of plans that leave this much out.

        ``None`` where no set of topologies has that weight, or too many sets would have to be
        looked at.
        """
        others = [i for i in range(len(self.parts)) if i not in self.impossible]
        optional = rejected - sum(self.parts[i].weight or 0 for i in self.impossible)
        nothing = (0,) * (len(self.problem.terms) - self.problem.may_reject)
        total = _sum([self.alone[i] for i in others], nothing)
        if optional == 0:
            return total
        items = [(self.parts[i].weight or 0, self.alone[i]) for i in others]
        largest = None if optional < 0 else largest_sums(items, optional)
        if largest is None or optional not in largest:
            return None
        return tuple(a - b for a, b in zip(total, largest[optional], strict=True))


def _sum(vectors: Iterable[Vector], nothing: Vector) -> Vector:
    return tuple(map(sum, zip(nothing, *vectors, strict=True)))


def _capacity(problem: Problem) -> list[float]:
    """Return what all nodes have of each resource, then their slots; infinite = no limit."""
    columns = np.column_stack([problem.capacity, problem.slots]).T.tolist()
    return [math.inf if NO_LIMIT in column else sum(column) for column in columns]


def _demand(problem: Problem, topology: int) -> list[int]:
    """Return what a topology takes at least of each resource, then of slots, wherever it is."""
    demand = [int(d) for d in np.array(problem.sizes, dtype=np.int64) @ problem.demand]
    heap = sum(int(h) * size for h, size in zip(problem.heap, problem.sizes, strict=True))
    limit = problem.rules[topology].heap_limit
    workers = 1 if limit == NO_LIMIT or not limit else max(1, -(-heap // limit))
    if problem.cpu is not None:
        demand[problem.cpu] = max(demand[problem.cpu], workers * problem.min_worker_cpu)
    return [*demand, workers]


def largest_sums(items: Iterable[tuple[int, Vector]], most: int) -> dict[int, Vector] | None:
    """Return, for each weight up to `most` that a set of items has, the largest sum of vectors.

    Vectors are compared lexicographically, an order that sums keep. ``None`` where there are too
    many weights.
    """
    listed = list(items)
    table: dict[int, Vector] = {0: (0,) * len(listed[0][1])} if listed else {}
    for weight, vector in listed:
        for before, value in list(table.items()):
            total = before + weight
            if total > most:
                continue
            summed = tuple(a + b for a, b in zip(value, vector, strict=True))
            if total not in table or table[total] < summed:
                table[total] = summed
        if len(table) > MOST_SUMS:
            return None
    return table
