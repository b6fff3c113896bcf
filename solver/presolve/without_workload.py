"""The terms before ``bottleneck``, as a problem that does not count it.

Few engines count utilisations; all others may solve the terms that stand before. The same
placements are valid in both problems and have the same values there, so that the optimum of the
leading terms is theirs in the original. As in `without_running`, nothing follows where a topology
may be left out in the original alone.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from slotwise.models.problem.problem import Problem


def without_workload(problem: Problem) -> Problem | None:
    """Return the terms before ``bottleneck`` on the same tasks and nodes; ``None`` without such.

    The same where ``rejected`` is counted, but not by them.
    """
    terms = tuple(takewhile(lambda term: term.name != "bottleneck", problem.terms))
    parts = {part for term in terms for part, _ in term.parts}
    if not terms or (problem.may_reject and "rejected" not in parts):
        return None
    objective = replace(problem.instance.objective, terms=tuple(term.name for term in terms))
    instance = replace(problem.instance, objective=objective)
    return replace(problem, instance=instance, terms=terms, workload=None)
