"""A problem as a plain assignment: tasks to nodes, capacities, linear costs and pair costs.

The view of engines for general flows (docs/design.md, 8.8). It exists where one worker per
topology and node is enough, every capacity is hard and nothing but the cost of one term is left to
decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.structure.node_types import has_single_workers

FloatArray = NDArray[np.float64]

RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "matrix",
    }
)
"""Rules of a plain assignment: each topology has at most one worker on a node."""

PARTS = ("network", "linear", "overload")
"""Parts that an assignment knows; ``overload`` is 0 where nothing is soft."""


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """T tasks, N nodes, D dimensions; costs in integer steps of the term `term`.

    Cost of a placement: sum of `linear[i, node(i)]` plus, over ordered pairs of tasks,
    `flow[i, j] * distance[node(i), node(j)]`.

    Parameters
    ----------
    demand, capacity
        [T, D] and [N, D].
    linear
        [T, N].
    flow
        [T, T], diagonal 0.
    distance
        [N, N].
    topology
        [T] topology of each task, which is also the label of its worker.
    term
        Index of the term; all others are 0 for every placement.
    """

    demand: IntArray
    capacity: IntArray
    linear: IntArray
    flow: IntArray
    distance: IntArray
    topology: IntArray
    term: int

    @property
    def task_count(self) -> int:
        """Number of tasks."""
        return len(self.demand)

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.capacity)

    @property
    def largest_cost(self) -> int:
        """A cost that no placement exceeds."""
        return int(self.flow.sum() * self.distance.max() + self.linear.max(axis=1).sum())

    @property
    def cost_step(self) -> int:
        """The greatest number known to divide every cost; a pair of tasks counts as one."""
        flow = self.flow + self.flow.T
        if (self.distance != self.distance.T).any():
            flow = self.flow
        pairs = int(np.gcd.reduce(flow, axis=None)) * int(np.gcd.reduce(self.distance, axis=None))
        return math.gcd(pairs, int(np.gcd.reduce(self.linear, axis=None))) or 1

    def placement(self, nodes: IntArray) -> Placement:
        """Return the placement that puts task i on `nodes[i]`."""
        return Placement(tuple(nodes.tolist()), tuple(self.topology.tolist()))

    def allowed(self) -> BoolArray:
        """Return [T, N]: whether a task fits an empty node."""
        return np.asarray((self.demand[:, None, :] <= self.capacity[None]).all(axis=2))

    def is_valid(self, nodes: IntArray) -> bool:
        """Return whether the loads keep the capacities."""
        load = np.zeros_like(self.capacity)
        np.add.at(load, nodes, self.demand)
        return bool((load <= self.capacity).all())

    def cost(self, nodes: IntArray) -> int:
        """Return the cost of putting task i on `nodes[i]`."""
        distance = self.distance[np.ix_(nodes, nodes)]
        return int((self.flow * distance).sum() + self.linear[np.arange(len(nodes)), nodes].sum())


@declares(RULES, PARTS)
def reason_against(problem: Problem) -> str | None:
    """Return ``None``, or why the problem is not a plain assignment."""
    for part in problem.instance.objective.parts:
        if part not in PARTS:
            return f"the objective counts {part!r}"
    if not problem.hard.all():
        return "a resource is soft"
    if len(_decisive_terms(problem)) != 1:
        return "the objective does not have exactly one term of network and linear cost"
    if problem.regions or (problem.cpu is not None and problem.min_worker_cpu):
        return "workers load a node beyond their tasks (shared memory or least cpu)"
    if problem.move_limit != NO_LIMIT:
        return "the number of moves is limited"
    if any(rules.max_per_node for rules in problem.rules):
        return "a component is capped per node"
    if (problem.slots < len(problem.rules)).any():
        return "a node has fewer slots than there are topologies"
    for t, rules in enumerate(problem.rules):
        if not has_single_workers(problem, t):
            return f"topology {rules.id!r} needs more than one worker on a node"
    if not problem.task_count:
        return "there is nothing to place"
    return None


def _decisive_terms(problem: Problem) -> list[int]:
    return [
        index
        for index, term in enumerate(problem.terms)
        if any(part != "overload" for part, _ in term.parts)
    ]


def make_assignment(problem: Problem) -> Assignment:
    """Return the view of a problem for which `reason_against` has none."""
    (term,) = _decisive_terms(problem)
    multiplier = dict(problem.terms[term].parts)
    classes = problem.task_class
    tasks = problem.task_count
    linear = np.zeros((tasks, problem.node_count), dtype=np.int64)
    if problem.linear is not None:
        linear += multiplier.get("linear", 0) * problem.linear[classes]
    between = np.zeros((len(problem.classes), len(problem.classes)), dtype=np.int64)
    for flow in problem.flows:
        between[flow.source, flow.target] += flow.weight
    return Assignment(
        demand=problem.demand[classes],
        capacity=problem.capacity,
        linear=linear,
        flow=multiplier.get("network", 0) * between[np.ix_(classes, classes)],
        distance=_node_distances(problem),
        topology=np.array([problem.classes[c].topology for c in classes], dtype=np.int64),
        term=term,
    )


def _node_distances(problem: Problem) -> IntArray:
    if problem.matrix is not None:
        return problem.matrix
    same_rack = problem.node_rack[:, None] == problem.node_rack[None]
    distances = np.where(same_rack, problem.distance[RACK], problem.distance[CLUSTER])
    np.fill_diagonal(distances, problem.distance[WORKER])
    return np.asarray(distances, dtype=np.int64)
