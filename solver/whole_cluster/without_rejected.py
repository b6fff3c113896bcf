"""A problem in which every topology is placed, made of one that may leave some out.

By itself its optimum bounds nothing: it forbids placements that the original allows. It is only
split into problems of single topologies. What these cost at least is summed over the topologies
that a placement does not leave out, see `bounds`.
"""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.problem.problem import Problem

REJECTED = "rejected"


def without_rejected(problem: Problem) -> Problem | None:
    """Return the problem by its terms after ``rejected``, no topology left out.

    The problem itself where none may be left out; ``None`` where ``rejected`` is not the first
    term, not alone in it, or the only term.
    """
    if not problem.may_reject:
        return problem
    first, *others = problem.terms
    if [part for part, _ in first.parts] != [REJECTED] or not others:
        return None
    if any(part == REJECTED for term in others for part, _ in term.parts):
        return None
    instance = problem.instance
    objective = replace(instance.objective, terms=tuple(term.name for term in others))
    return replace(problem, terms=tuple(others), instance=replace(instance, objective=objective))
