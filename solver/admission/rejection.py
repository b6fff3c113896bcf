"""The problem whose only cost is the topologies left out, and which ones a placement leaves out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.magnitudes import check_sizes
from slotwise.models.problem.problem import Problem


def rejecting(instance: Instance, guaranteed: Collection[int]) -> Problem:
    """Return the problem whose only term are the weighted topologies left out."""
    objective = Objective(("rejected",), instance.objective.soft)
    problem = compile_problem(replace(instance, objective=objective, running=None, linear=()))
    above = 1 + sum(rules.reject_weight for rules in problem.rules)
    made = replace(
        problem,
        rules=tuple(
            replace(rules, reject_weight=rules.reject_weight + (above if t in guaranteed else 0))
            for t, rules in enumerate(problem.rules)
        ),
    )
    check_sizes(made)
    return made


def left_out(problem: Problem, placement: Placement) -> tuple[int, ...]:
    """Return the topologies with tasks of which none is placed."""
    return tuple(
        t
        for t, rules in enumerate(problem.rules)
        if rules.classes
        and all(
            placement.nodes[task] == UNPLACED
            for c in rules.classes
            for task in problem.classes[c].tasks
        )
    )


def partly_placed(problem: Problem, placement: Placement) -> tuple[int, ...]:
    """Return the topologies of which some tasks are placed and some are not."""
    parts = []
    for t, rules in enumerate(problem.rules):
        tasks = [task for c in rules.classes for task in problem.classes[c].tasks]
        placed = sum(placement.nodes[task] != UNPLACED for task in tasks)
        if 0 < placed < len(tasks):
            parts.append(t)
    return tuple(parts)
