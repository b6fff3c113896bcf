"""What it costs at least to use more than one rack.

A placement over several racks cuts the flow graph: some connected tasks lie in different racks,
with a flow of at least the least cut of the graph between them. Its cost is that of the same
placement with all nodes in one rack, plus the extra distance of the flow that is cut.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from ortools.graph.python import max_flow

from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.solver.core.result import Outcome, Status
from slotwise.solver.structure.node_types import node_types

MOST_PAIRS = 2_000_000
"""Communicating pairs of tasks beyond which no cut is computed."""


def over_racks(problem: Problem, outer: Outcome, inner: Outcome) -> Outcome:
    """Return the bounds of all placements, be they in one rack or over several.

    `outer` is the answer with all nodes in one rack, `inner` that on the best rack alone; nothing
    is known if the latter is not proven, or another rack may serve better.
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
            cut = least_cut(problem) if extra_distance(problem, term) else None
            if cut is None:
                return unknown
            several = bound + extra_distance(problem, term) * cut
            bounds[term] = min(value, several)
            bounds[term + 1 :] = (
                inner.bounds[term + 1 :] if several > value else nothing[term + 1 :]
            )
            break
    proof = "one rack, or the least cut of the flows between racks"
    return replace(unknown, bounds=tuple(bounds), proof=proof)


def least_cut(problem: Problem) -> int | None:
    """Return the least flow between two sides of any division of the tasks, in flow units.

    The tasks of a class are interchangeable, so one maximum flow from a fixed task to one other
    task of each class tells. ``None`` where there are fewer than two tasks or too many pairs.
    """
    tails, heads, weights = _edges(problem)
    if problem.task_count < 2 or len(tails) > MOST_PAIRS:
        return None
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
