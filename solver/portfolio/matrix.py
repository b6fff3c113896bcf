"""Engine choice ``auto`` for distances by matrix, where every task is a class of its own.

Measured on the public instances, one core: dual ascent with branch and bound closes assignments of
10 to 12 tasks in under a second, where CP-SAT needs 1 s to over a minute; subset dynamic
programming closes 20 tasks on 5 equally distant nodes in a second, where dual ascent needs 5 s to
minutes. More tasks on equal nodes that are all equally far apart are no assignment but a partition
of a graph: there the matrix is dropped (`equal_distances`). On large ones CP-SAT's bound is far below that of dual ascent. CP-SAT takes every rule,
though, and tiny problems without loading what they do not need.
"""

from __future__ import annotations

from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.dual_ascent import DUAL_ASCENT
from slotwise.solver.assignment.subset_dp import SUBSET_DP
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.portfolio.run import TAKES_ALL, PortfolioStep
from slotwise.solver.presolve.equal_distances import without_matrix

TINY_PLACES = 24
"""Tasks times nodes up to which CP-SAT is done before compiled loops are loaded."""

SUBSETS = "distances by matrix, few tasks: all sets of tasks fit a table"
GENERAL = "distances by matrix: bounds by dual ascent, then branch and bound"


def levels_instead(problem: Problem) -> Problem | None:
    """Return the problem without its matrix; ``None`` where it has none, or is best solved by it."""
    places = problem.task_count * problem.node_count
    if problem.matrix is None or places <= TINY_PLACES or SUBSET_DP.supports(problem) is None:
        return None
    return without_matrix(problem)


def matrix_steps(problem: Problem) -> tuple[PortfolioStep, ...]:
    """Return which engines to run, one after the other, on a problem with distances by matrix."""
    places = problem.task_count * problem.node_count
    if places <= TINY_PLACES:
        return (PortfolioStep(CP_SAT, TAKES_ALL),)
    if SUBSET_DP.supports(problem) is None:
        return (PortfolioStep(SUBSET_DP, SUBSETS, 0.7), PortfolioStep(DUAL_ASCENT, GENERAL))
    if DUAL_ASCENT.supports(problem) is not None:
        return (PortfolioStep(CP_SAT, TAKES_ALL),)
    return (PortfolioStep(DUAL_ASCENT, GENERAL),)
