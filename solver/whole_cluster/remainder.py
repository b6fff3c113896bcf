"""One topology on what the others leave: an instance of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT, as_decimal

ALL_NODES = 0.3
"""How often no node is withheld."""

FEW_NODES = 0.3
"""Of the geometric distribution of how many are: its mean is 1 / FEW_NODES."""


@dataclass(frozen=True, slots=True, eq=False)
class NodesLeft:
    """Nodes and what may be used of each: capacity [N, D] and slots [N] as in `Problem`."""

    nodes: IntArray
    capacity: IntArray
    slots: IntArray

    def restored(self, placement: Placement) -> Placement:
        """Return a placement on these nodes as one on all of them."""
        return Placement(tuple(int(self.nodes[n]) for n in placement.nodes), placement.workers)

    def projected(self, placement: Placement | None) -> Placement | None:
        """Return a placement on all nodes as one on these; ``None`` if it uses others."""
        index = {n: i for i, n in enumerate(self.nodes.tolist())}
        if placement is None or any(n not in index for n in placement.nodes):
            return None
        return Placement(tuple(index[n] for n in placement.nodes), placement.workers)


def all_nodes(problem: Problem) -> NodesLeft:
    """Return every node, empty."""
    return NodesLeft(np.arange(problem.node_count), problem.capacity, problem.slots)


def left_instance(problem: Problem, topology: int, left: NodesLeft) -> Instance:
    """Return the instance of one topology on what is left.

    By the terms of `problem`'s instance, which count no topologies left out.
    """
    given = problem.instance
    nodes = tuple(
        _node(problem, given.cluster.nodes[n], capacity, slots)
        for n, capacity, slots in zip(
            left.nodes.tolist(), left.capacity.tolist(), left.slots.tolist(), strict=True
        )
    )
    return replace(
        given,
        name=given.topologies[topology].id,
        cluster=Cluster(nodes, given.cluster.distance),
        topologies=(given.topologies[topology],),
        scheduler=replace(given.scheduler, pools={}),
        running=None,
        linear=(),
        objective=Objective(given.objective.terms),
    )


def _node(problem: Problem, node: Node, capacity: list[int], slots: int) -> Node:
    left = {
        name: None if amount == NO_LIMIT else as_decimal(amount * unit)
        for name, unit, amount in zip(problem.dims, problem.units, capacity, strict=True)
    }
    return replace(node, resources=left, slots=None if slots == NO_LIMIT else slots)


def nodes_left(
    problem: Problem, capacity: IntArray, slots: IntArray, kinds: int
) -> NodesLeft | None:
    """Return the nodes that can hold a task of `problem`, as at most `kinds` kinds of nodes.

    What is left of a node is rounded down to that of others until so few kinds are there: equal
    nodes are what makes a problem easy. ``None`` where no node holds any task.

    Parameters
    ----------
    problem
        Of the topology.
    capacity, slots
        [N, D], [N]: what is left.
    """
    least = problem.demand.min(axis=0)
    nodes = np.flatnonzero((capacity >= least).all(axis=1) & (slots > 0))
    if not len(nodes):
        return None
    amounts = np.column_stack([capacity[nodes], slots[nodes]])
    amounts = np.minimum(amounts, _most_used(problem))
    unique, inverse, counts = np.unique(amounts, axis=0, return_inverse=True, return_counts=True)
    groups = _merged(unique.astype(np.float64), counts, kinds)
    rounded = np.empty_like(unique)
    for group in groups:
        rounded[group] = unique[group].min(axis=0)
    reduced = rounded[inverse.reshape(-1)]
    kept = (reduced[:, :-1] >= least).all(axis=1) & (reduced[:, -1] > 0)
    nodes, reduced = nodes[kept], reduced[kept]
    if not len(nodes):
        return None
    return NodesLeft(nodes, reduced[:, :-1].copy(), reduced[:, -1].copy())


def some_nodes(problem: Problem, left: NodesLeft, rng: Generator) -> NodesLeft:
    """Return what is left without a few nodes, which other topologies may need.

    Enough stay to have 5 % more than `problem` demands, on average.
    """
    demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    bounded = (left.capacity != NO_LIMIT).all(axis=0)
    mean = np.maximum(left.capacity.mean(axis=0)[bounded], 1e-9)
    needed = 1 + math.ceil(1.05 * float((demand[bounded] / mean).max(initial=0.0)))
    spare = len(left.nodes) - needed
    if spare < 1 or rng.random() < ALL_NODES:
        return left
    count = min(int(rng.geometric(FEW_NODES)), spare)
    keep = np.ones(len(left.nodes), dtype=np.bool_)
    keep[rng.choice(len(keep), size=count, replace=False)] = False
    return NodesLeft(left.nodes[keep], left.capacity[keep], left.slots[keep])


def _most_used(problem: Problem) -> IntArray:
    """Return what one node could use at most of each resource, and of slots.

    Shared regions and the least cpu of workers are counted as if every task had its own.
    """
    tasks = problem.task_count
    total = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    if problem.memory is not None:
        total[problem.memory] += tasks * sum(region.size for region in problem.regions)
    if problem.cpu is not None:
        total[problem.cpu] += tasks * problem.min_worker_cpu
    return np.append(total, tasks)


def _merged(kinds: np.ndarray, counts: IntArray, most: int) -> list[list[int]]:
    """Return at most `most` groups of kinds; the two that lose least are merged first."""
    scale = np.maximum(kinds.max(axis=0), 1)
    low = kinds / scale
    weight = counts.astype(np.float64)
    groups = [[i] for i in range(len(kinds))]
    while len(groups) > most:
        floor = np.minimum(low[:, None, :], low[None, :, :])
        loss = ((low[:, None, :] - floor).sum(axis=2)) * weight[:, None]
        loss = loss + loss.T
        np.fill_diagonal(loss, np.inf)
        a, b = sorted(divmod(int(np.argmin(loss)), len(groups)))
        low[a] = np.minimum(low[a], low[b])
        weight[a] += weight[b]
        groups[a] += groups.pop(b)
        low, weight = np.delete(low, b, axis=0), np.delete(weight, b)
    return groups
