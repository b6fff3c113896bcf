"""A cluster that fills up: each topology on what those before it have left."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.accounting import account
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT, as_decimal
from slotwise.solver.admission.residual_capacity import with_topology


class Filling:
    """What has been placed so far of the topologies of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        nowhere = (UNPLACED,) * problem.task_count
        self.placement = Placement(nowhere, nowhere)

    def instance(self, topology: int, objective: Objective) -> Instance:
        """Return the instance of `topology` alone on the capacities and slots that are left."""
        problem, original = self._problem, self._problem.instance
        books = account(problem, self.placement)
        workers = [0] * problem.node_count
        for books_of_topology in books.topologies:
            for node in books_of_topology.node.tolist():
                workers[node] += 1
        nodes = tuple(
            _reduced(problem, node, index, books.node_load[index].tolist(), workers[index])
            for index, node in enumerate(original.cluster.nodes)
        )
        return replace(
            original,
            name=f"{original.name}-{original.topologies[topology].id}",
            cluster=Cluster(nodes, original.cluster.distance),
            topologies=(original.topologies[topology],),
            objective=objective,
        )

    def add(self, topology: int, own: Placement) -> None:
        """Add a placement of `topology` alone, tasks in its canonical order."""
        self.placement = with_topology(self._problem, self.placement, topology, own)


def _reduced(problem: Problem, node: Node, index: int, load: list[int], workers: int) -> Node:
    left = dict(node.resources)
    for d, key in enumerate(problem.dims):
        if key in left and problem.capacity[index, d] != NO_LIMIT:
            left[key] = as_decimal((int(problem.capacity[index, d]) - load[d]) * problem.units[d])
    return replace(node, resources=left, slots=None if node.slots is None else node.slots - workers)
