"""Two easier problems that enclose one with several racks.

On one rack alone every placement is one of the whole cluster, at the same cost but for moves of
tasks whose home is in another rack, so it is offered to the judge and bounds nothing from below.
With all nodes in one rack no pair is farther than in the cluster and every rule and other cost is
the same, so the best of that is a lower bound; so it is if every node is as large as the largest,
which takes nothing from any placement. Which topologies may be left out is the same in both. Where
the two meet, the cluster is solved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slotwise.models.problem.problem import CLUSTER, RACK, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.presolve.node_reduction import Reduction, largest_type, on_nodes
from slotwise.solver.structure.node_types import node_types


def racks_matter(problem: Problem) -> bool:
    """Return whether it makes a difference which rack a node is in."""
    if problem.matrix is not None or len(problem.racks) < 2:
        return False
    return bool(problem.distance[CLUSTER] != problem.distance[RACK])


def may_fit_one_rack(problem: Problem) -> bool:
    """Return whether the hard demand of all tasks is within what the nodes of one rack offer."""
    racks = np.arange(len(problem.racks))[:, None] == problem.node_rack
    capacity = np.minimum(problem.capacity, NO_LIMIT // max(problem.node_count, 1))
    demand = problem.sizes @ problem.demand
    enough = (racks @ capacity >= demand) | ~problem.hard
    return bool(enough.all(axis=1).any())


def one_rack(problem: Problem) -> Reduction:
    """Return the problem on the rack with the most of everything, summed up by share."""
    capacity = np.minimum(problem.capacity, problem.capacity.sum(axis=0) + 1).astype(np.float64)
    shares = (capacity / np.maximum(capacity.sum(axis=0), 1)).sum(axis=1)
    worth = np.bincount(problem.node_rack, weights=shares)
    nodes = np.flatnonzero(problem.node_rack == int(worth.argmax())).tolist()
    return Reduction(on_nodes(problem, nodes), tuple(nodes))


def all_in_one_rack(problem: Problem) -> Reduction:
    """Return the relaxation: one rack, and nodes as large as the largest type if there is one.

    Nodes are ordered so that a plan of few nodes lands in one rack on nodes of that type, and is
    then a placement of the cluster at the same cost.
    """
    types = node_types(problem)
    largest = largest_type(problem, types)
    large = set(types[largest].nodes if largest is not None else range(problem.node_count))
    in_rack = np.bincount(problem.node_rack[sorted(large)], minlength=len(problem.racks))
    order = sorted(
        range(problem.node_count),
        key=lambda n: (n not in large, -in_rack[problem.node_rack[n]], problem.node_rack[n], n),
    )
    flat = on_nodes(problem, order)
    flat = replace(
        flat, node_rack=np.zeros_like(flat.node_rack), racks=(" and ".join(problem.racks),)
    )
    if largest is not None:
        flat = replace(
            flat,
            capacity=np.repeat(flat.capacity[:1], problem.node_count, axis=0),
            slots=np.repeat(flat.slots[:1], problem.node_count),
        )
    return Reduction(flat, tuple(order))
