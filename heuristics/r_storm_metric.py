"""R-Storm's distance between a task and a node, in exact integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from slotwise.heuristics.r_storm_weights import RStormWeights
from slotwise.models.numbers import NO_LIMIT
from slotwise.models.problem import CLUSTER, NODE, RACK, Problem

SAME_RACK, OTHER_RACK = 1, 2
"""Network distances of the research code; a node is at `SAME_RACK` from itself too."""


class Metric:
    """R-Storm's distance squared, times a constant that makes it a whole number.

    The square root and the constant change no comparison, so that equal distances are equal: ties
    never depend on rounding.

    Parameters
    ----------
    memory, cpu, network
        What the square of one integer step of memory, and of cpu, counts, and what one step of
        the network term does.
    network_term
        (reference node, node) -> the network term, in integer steps.
    """

    def __init__(
        self,
        problem: Problem,
        memory: Fraction,
        cpu: Fraction,
        network: Fraction,
        network_term: Callable[[int, int], int],
    ) -> None:
        self._problem = problem
        whole = math.lcm(*(factor.denominator for factor in (memory, cpu, network)))
        self._memory, self._cpu, self._network = (
            int(factor * whole) for factor in (memory, cpu, network)
        )
        self._network_term = network_term

    def network(self, reference: int, node: int) -> int:
        """Return the network's part of `distance`."""
        return self._network * self._network_term(reference, node)

    def distance(self, task: Sequence[int], node: Sequence[int], network: int) -> int:
        """Return the scaled square of the distance.

        Parameters
        ----------
        task, node
            Demand of the task; what the node has left: one integer per dimension.
        network
            `Metric.network` from the reference node; 0 = the network plays no part.
        """
        problem, total = self._problem, network
        if problem.memory is not None:
            total += self._memory * (task[problem.memory] - node[problem.memory]) ** 2
        if problem.cpu is not None:
            total += self._cpu * (task[problem.cpu] - node[problem.cpu]) ** 2
        return total


def pseudocode_metric(problem: Problem, weights: RStormWeights) -> Metric:
    """Return Algorithm 4's distance: weights before the squares, the network not squared."""
    memory, cpu = shares(problem, weights.normalise)
    unit = problem.part_units["network"] / problem.flow_unit
    if weights.normalise:
        farthest = problem.distance if problem.matrix is None else problem.matrix
        unit = Fraction(1, max(1, int(farthest.max())))
    return Metric(
        problem,
        weights.memory * memory**2,
        weights.cpu * cpu**2,
        weights.network * unit,
        lambda reference, node: network_distance(problem, reference, node),
    )


def research_metric(problem: Problem, weights: RStormWeights) -> Metric:
    """Return the research code's distance: every term is weighted, then squared.

    The network distance is `SAME_RACK` or `OTHER_RACK`; where the cluster gives distances node by
    node, which that code cannot, it is the entry of the matrix in the instance's unit.
    """
    memory, cpu = shares(problem, weights.normalise)

    def between(reference: int, node: int) -> int:
        if problem.matrix is not None:
            return int(problem.matrix[reference, node])
        same = problem.node_rack[reference] == problem.node_rack[node]
        return SAME_RACK if same else OTHER_RACK

    unit = Fraction(1)
    if problem.matrix is not None:
        unit = problem.part_units["network"] / problem.flow_unit
    if weights.normalise:
        farthest = OTHER_RACK if problem.matrix is None else int(problem.matrix.max())
        unit = Fraction(1, max(1, farthest))
    return Metric(
        problem,
        (weights.memory * memory) ** 2,
        (weights.cpu * cpu) ** 2,
        (weights.network * unit) ** 2,
        lambda reference, node: between(reference, node) ** 2,
    )


def network_distance(problem: Problem, reference: int, node: int) -> int:
    """Return the distance of two nodes: the matrix's entry, or that of their common place."""
    if problem.matrix is not None:
        return int(problem.matrix[reference, node])
    if reference == node:
        return int(problem.distance[NODE])
    same_rack = problem.node_rack[reference] == problem.node_rack[node]
    return int(problem.distance[RACK if same_rack else CLUSTER])


def offered(problem: Problem) -> list[list[int]]:
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


def shares(problem: Problem, normalise: bool) -> tuple[Fraction, Fraction]:
    """Return what one integer step of memory, and of cpu, counts.

    With `normalise` as a share of the largest node's capacity, else in MB and points.
    """
    rows = offered(problem)
    found = []
    for d in (problem.memory, problem.cpu):
        if d is None:
            found.append(Fraction(0))
        elif normalise:
            found.append(Fraction(1, max(1, *(row[d] for row in rows))))
        else:
            found.append(problem.units[d])
    return found[0], found[1]
