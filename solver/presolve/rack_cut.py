"""What it costs at least to use more than one rack.

A placement over several racks cuts the flow graph: some connected tasks lie in different racks,
with a flow of at least the least cut of the graph between them. Its cost is that of the same
placement with all nodes in one rack, plus the extra distance of the flow that is cut.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from ortools.graph.python import max_flow

from slotwise.models.cancellation import UNLIMITED, CancellationToken, CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.declared_rules import unknown
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.presolve.node_reduction import Reduction, largest_type, on_nodes
from slotwise.solver.structure.node_types import node_types
from slotwise.solver.structure.task_types import PARTS

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
        "max_per_node",
        "max_moved",
        "shared_memory",
        "worker_min_cpu",
        "soft",
    }
)
"""Rules that do not read which rack a node is in."""

MOST_PAIRS = 2_000_000
"""Communicating pairs of tasks beyond which no cut is computed."""


def over_racks(
    problem: Problem, outer: Outcome, inner: Outcome, token: CancellationToken = UNLIMITED
) -> Outcome:
    """Return the bounds of all placements, be they in one rack or over several.

    `outer` is the answer with all nodes in one rack, `inner` that on the best rack alone; nothing
    is known if the latter is not proven, another rack may serve better, or `token` is cancelled
    before the cut is found.
    """
    bounds = list(outer.bounds)
    nothing = (None,) * len(bounds)
    unknown = Outcome(Status.UNKNOWN, None, None, nothing, "")
    if inner.status != Status.OPTIMAL or inner.values is None or not racks_are_alike(problem):
        return unknown
    for term, (bound, value) in enumerate(zip(bounds, inner.values, strict=True)):
        if bound is None:
            return unknown
        if bound < value:
            cut = None
            if extra_distance(problem, term):
                with suppress(CancelledError):
                    cut = least_cut(problem, token)
            if cut is None:
                return unknown
            cut_bound = bound + extra_distance(problem, term) * cut
            bounds[term] = min(value, cut_bound)
            bounds[term + 1 :] = (
                inner.bounds[term + 1 :] if cut_bound > value else nothing[term + 1 :]
            )
            break
    proof = "one rack, or the least cut of the flows between racks"
    return replace(unknown, bounds=tuple(bounds), proof=proof)


def least_cut(problem: Problem, token: CancellationToken = UNLIMITED) -> int | None:
    """Return the least flow between two sides of any division of the tasks, in flow units.

    The tasks of a class are interchangeable, so one maximum flow from a fixed task to one other
    task of each class tells. ``None`` where there are fewer than two tasks or too many pairs.
    `token` ends the search with `CancelledError`.
    """
    sizes = problem.sizes
    pairs = sum(sizes[a] * sizes[b] for a, b in problem.pair_flows())
    if problem.task_count < 2 or pairs > MOST_PAIRS:
        return None
    tails, heads, weights = _edges(problem)
    source = problem.classes[0].tasks[0]
    sinks = [next((t for t in one.tasks if t != source), None) for one in problem.classes]
    solver = max_flow.SimpleMaxFlow()
    solver.add_arcs_with_capacity(
        np.concatenate([tails, heads]), np.concatenate([heads, tails]), np.tile(weights, 2)
    )
    least: int | None = None
    for sink in sinks:
        if sink is None:
            continue
        token.check()
        if max(source, sink) >= solver.num_nodes():
            return 0  # no flow touches the task
        if solver.solve(source, sink) != solver.OPTIMAL:
            raise InternalError("the maximum flow between two tasks was not found")
        flow = solver.optimal_flow()
        least = flow if least is None else min(least, flow)
    return least


def racks_are_alike(problem: Problem) -> bool:
    """Return whether all racks have equal nodes in equal numbers."""
    racks = len(problem.racks)
    for kind in node_types(problem):
        in_rack = np.bincount(problem.node_rack[list(kind.nodes)], minlength=racks)
        if (in_rack != in_rack[0]).any():
            return False
    return True


def extra_distance(problem: Problem, term: int) -> int:
    """Return what one unit of flow between racks costs more than in a rack, in term `term`."""
    multiplier = dict(problem.terms[term].parts).get("network", 0)
    return multiplier * int(problem.distance[CLUSTER] - problem.distance[RACK])


def _edges(problem: Problem) -> tuple[IntArray, IntArray, IntArray]:
    """Return tails, heads and weights of all communicating pairs of tasks, one way each."""
    tails, heads, weights = [], [], []
    for (a, b), weight in problem.pair_flows().items():
        first = np.array(problem.classes[a].tasks, dtype=np.int64)
        second = np.array(problem.classes[b].tasks, dtype=np.int64)
        tails.append(np.repeat(first, len(second)))
        heads.append(np.tile(second, len(first)))
        weights.append(np.full(len(first) * len(second), weight, dtype=np.int64))
    if not tails:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    return np.concatenate(tails), np.concatenate(heads), np.concatenate(weights)


# Two easier problems that enclose one with several racks.
#
# On one rack alone every placement is one of the whole cluster, at the same cost but for moves of
# tasks whose home is in another rack, so it is offered to the judge and bounds nothing from
# below. With all nodes in one rack no pair is farther than in the cluster and every rule and
# other cost is the same, so the best of that is a lower bound; so it is if every node is as large
# as the largest, which takes nothing from any placement. Which topologies may be left out is the
# same in both. Where the two meet, the cluster is solved.


def only_distances_tell_racks_apart(problem: Problem) -> bool:
    """Return whether distances depend on the racks of nodes, and no rule does."""
    if len(problem.racks) < 2 or unknown(problem, RULES, PARTS):
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
    """Return the problem on the rack with the most of everything, summed up by share.

    A node without limit counts as much as all that have one; where none has, the resource does not.
    """
    limited = problem.capacity < NO_LIMIT
    total = problem.capacity.astype(np.float64).sum(axis=0, where=limited)
    capacity = np.where(limited, problem.capacity, total)
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
