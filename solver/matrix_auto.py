"""Engine choice ``auto`` for distances by matrix, where every task is a class of its own.

Measured on the public instances, one core: dual ascent with branch and bound closes assignments of
10 to 12 tasks in under a second, where CP-SAT needs 1 s to over a minute; subset dynamic
programming closes 20 tasks on 5 equally distant nodes in a second, where dual ascent needs 5 s to
minutes. On large ones CP-SAT's bound is far below that of dual ascent. CP-SAT takes every rule,
though, and tiny problems without loading what they do not need.
"""

from __future__ import annotations

from slotwise.models.problem import Problem
from slotwise.solver.cp_sat import CP_SAT
from slotwise.solver.dual_ascent import DUAL_ASCENT
from slotwise.solver.engine import Engine
from slotwise.solver.subset_dp import SUBSET_DP

TINY_PLACES = 24
"""Tasks times nodes up to which CP-SAT is done before compiled loops are loaded."""

Turns = tuple[tuple[Engine, float], ...]
"""Engines to run one after the other, each with its share of the time that is left."""


def matrix_turns(problem: Problem) -> Turns:
    """Return which engines to run on a problem with distances by matrix."""
    places = problem.task_count * problem.node_count
    if places <= TINY_PLACES:
        return ((CP_SAT, 1.0),)
    if SUBSET_DP.supports(problem) is None:
        return ((SUBSET_DP, 0.7), (DUAL_ASCENT, 1.0))
    if DUAL_ASCENT.supports(problem) is not None:
        return ((CP_SAT, 1.0),)
    return ((DUAL_ASCENT, 1.0),)
