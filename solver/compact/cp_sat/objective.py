"""The parts of the objective as expressions of the compact model, and limits of them."""

from __future__ import annotations

import math

from ortools.sat.python import cp_model

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.cp_sat.network import network
from slotwise.solver.compact.cp_sat.variables import Count, Counts


def add_terms(
    model: cp_model.CpModel,
    problem: Problem,
    counts: Counts,
    overload: Count,
    deadline: float = math.inf,
) -> tuple[Count, ...]:
    """Return each term of the objective, in its integer steps; state the limits of parts.

    Raises `BuildingTooLongError` after the deadline.
    """
    used = problem.instance.objective.parts
    parts: dict[str, Count] = {"overload": overload}
    if "network" in used:
        parts["network"] = network(model, problem, counts, deadline)
    if "nodes" in used:
        parts["nodes"] = _nodes(model, problem, counts)
    if "linear" in used:
        parts["linear"] = _linear(problem, counts)
    if problem.counts_moves:
        parts["moved"] = _moved(problem, counts)
        _max_moved(model, problem, parts["moved"])
    parts["workers"] = sum(worker.open for worker in counts.all_workers())
    parts["rejected"] = sum(
        problem.rules[t].reject_weight * left_out for t, left_out in counts.rejected.items()
    )
    return tuple(
        sum(multiplier * parts[part] for part, multiplier in term.parts) for term in problem.terms
    )


def _nodes(model: cp_model.CpModel, problem: Problem, counts: Counts) -> Count:
    """Nodes in use: used >= open for each worker there."""
    total: Count = 0
    for n in range(problem.node_count):
        used = model.new_bool_var(f"used_n{n}")
        total += used
        for t in range(len(problem.rules)):
            for worker in counts.workers[t, n]:
                model.add_implication(worker.open, used)
    return total


def _linear(problem: Problem, counts: Counts) -> Count:
    """Cost of each task on its node."""
    if problem.linear is None:
        return 0
    return sum(
        int(problem.linear[counts.groups[g].cls, worker.node]) * count
        for worker in counts.all_workers()
        for g, count in worker.counts.items()
    )


def _max_moved(model: cp_model.CpModel, problem: Problem, moved: Count) -> None:
    """Tasks that have moved <= the limit."""
    if problem.move_limit != NO_LIMIT:
        model.add(moved <= problem.move_limit)


def _moved(problem: Problem, counts: Counts) -> Count:
    """Tasks with a home, less those that are there."""
    away: Count = sum(one.size for one in problem.classes if one.home is not None)
    for worker in counts.all_workers():
        for g, count in worker.counts.items():
            if problem.classes[counts.groups[g].cls].home == (worker.node, worker.label):
                away -= count
    return away
