"""Objectives whose costs add up over parts of the flow: nothing but network and overload counts."""

from __future__ import annotations

from slotwise.models.problem.problem import Problem

ADDITIVE_PARTS = frozenset(("overload", "network"))


def only_network_counts(problem: Problem) -> bool:
    """Return whether every term is made of network and overload alone.

    Linear costs do not count where there are none.
    """
    free = ADDITIVE_PARTS if problem.linear is not None else ADDITIVE_PARTS | {"linear"}
    return all(part in free for term in problem.terms for part, _ in term.parts)
