"""The weights of R-Storm's distance, and the distance in exact integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from slotwise.models.errors import InputError
from slotwise.models.numbers import NO_LIMIT
from slotwise.models.problem import CLUSTER, NODE, RACK, Problem


@dataclass(frozen=True, slots=True)
class RStormWeights:
    """Weights of R-Storm's distance (Algorithm 4, line 17).

    Parameters
    ----------
    memory, cpu, network
        Weights of the squared difference of memory, of cpu, and of the network distance; each
        0 or more.
    normalise
        Whether memory and cpu are first divided by the largest node's capacity and the network
        distance by the largest distance of the cluster. The paper says that weights are there
        "so that values can be normalized" and names no numbers. Without it, memory counts in MB,
        cpu in points and the distance as the instance has it.
    """

    memory: Fraction = Fraction(1)
    cpu: Fraction = Fraction(1)
    network: Fraction = Fraction(1)
    normalise: bool = True

    def __post_init__(self) -> None:
        """Make each weight an exact fraction of 0 or more."""
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, bool):
                continue
            if not math.isfinite(value) or value < 0:
                raise InputError("must be a number of 0 or more", field=one.name, value=value)
            object.__setattr__(self, one.name, Fraction(value))


class Metric:
    """R-Storm's distance squared, times a constant that makes it a whole number.

    The square root and the constant change no comparison, so that equal distances are equal: ties
    never depend on rounding.
    """

    def __init__(self, problem: Problem, weights: RStormWeights) -> None:
        self._problem = problem
        self.offered = _offered(problem)
        self.memory_share, self.cpu_share = _shares(problem, self.offered, weights)
        factors = (
            weights.memory * self.memory_share**2,
            weights.cpu * self.cpu_share**2,
            weights.network * _network_unit(problem, weights),
        )
        whole = math.lcm(*(factor.denominator for factor in factors))
        self._memory, self._cpu, self._network = (int(factor * whole) for factor in factors)

    def distance(self, task: Sequence[int], node: Sequence[int], network: int) -> int:
        """Return the scaled square of Algorithm 4's distance.

        Parameters
        ----------
        task, node
            Demand of the task; what the node has left: one integer per dimension.
        network
            `network_distance` from the reference node.
        """
        problem, total = self._problem, self._network * network
        if problem.memory is not None:
            total += self._memory * (task[problem.memory] - node[problem.memory]) ** 2
        if problem.cpu is not None:
            total += self._cpu * (task[problem.cpu] - node[problem.cpu]) ** 2
        return total

    def resources(self, node: Sequence[int]) -> Fraction:
        """Return what a node has left: its memory plus its cpu, in shares of the largest node."""
        problem, total = self._problem, Fraction(0)
        if problem.memory is not None:
            total += self.memory_share * node[problem.memory]
        if problem.cpu is not None:
            total += self.cpu_share * node[problem.cpu]
        return total


def network_distance(problem: Problem, reference: int, node: int) -> int:
    """Return the distance of two nodes: the matrix's entry, or that of their common place."""
    if problem.matrix is not None:
        return int(problem.matrix[reference, node])
    if reference == node:
        return int(problem.distance[NODE])
    same_rack = problem.node_rack[reference] == problem.node_rack[node]
    return int(problem.distance[RACK if same_rack else CLUSTER])


def _offered(problem: Problem) -> list[list[int]]:
    """Return capacities [N][D]; a node without limit offers what all tasks together need."""
    capacity: list[list[int]] = problem.capacity.tolist()
    for d in range(len(problem.dims)):
        demand = problem.demand[:, d].tolist()
        finite = [row[d] for row in capacity if row[d] != NO_LIMIT]
        needed = sum(need * size for need, size in zip(demand, problem.sizes, strict=True))
        enough = max([needed, *finite])
        for row in capacity:
            row[d] = min(row[d], enough)
    return capacity


def _shares(
    problem: Problem, offered: list[list[int]], weights: RStormWeights
) -> tuple[Fraction, Fraction]:
    """Return what one integer step of memory, and of cpu, counts."""
    shares = []
    for d in (problem.memory, problem.cpu):
        if d is None:
            shares.append(Fraction(0))
        elif weights.normalise:
            shares.append(Fraction(1, max(1, *(row[d] for row in offered))))
        else:
            shares.append(problem.units[d])
    return shares[0], shares[1]


def _network_unit(problem: Problem, weights: RStormWeights) -> Fraction:
    """Return what one integer step of the network distance counts."""
    if not weights.normalise:
        return problem.part_units["network"] / problem.flow_unit
    farthest = problem.distance if problem.matrix is None else problem.matrix
    return Fraction(1, max(1, int(farthest.max())))
