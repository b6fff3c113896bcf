"""Engine choice ``auto`` for distances by matrix, where every task is a class of its own.

Measured on the public instances, one core: dual ascent with branch and bound closes assignments of
10 to 12 tasks in under a second, where CP-SAT needs 1 s to over a minute; subset dynamic
programming closes 20 tasks on 5 equally distant nodes in a second, where dual ascent needs 5 s to
minutes. More tasks on equal nodes that are all equally far apart are no assignment but a partition
of a graph: there the matrix is dropped (`equal_distances`). On large ones CP-SAT's bound is far
below that of dual ascent. CP-SAT takes every rule, though, and tiny problems without loading what
they do not need.
"""

from __future__ import annotations

from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.dual_ascent import DUAL_ASCENT
from slotwise.solver.assignment.subset_dp import SUBSET_DP
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.portfolio.run import TAKES_ALL, Auto, PortfolioStep
from slotwise.solver.presolve.equal_distances import without_matrix

SUBSETS = "distances by matrix, few tasks: all sets of tasks fit a table"
GENERAL = "distances by matrix: bounds by dual ascent, then branch and bound"


def levels_instead(auto: Auto, problem: Problem) -> Problem | None:
    """Return the problem without its matrix; ``None`` where it has none or needs it."""
    places = problem.task_count * problem.node_count
    if problem.matrix is None or places <= auto.params.max_tiny_places:
        return None
    is_small = auto.configured(SUBSET_DP).supports(problem) is None
    return None if is_small else without_matrix(problem)


def matrix_steps(auto: Auto, problem: Problem) -> tuple[PortfolioStep, ...]:
    """Return which engines to run, one after the other, on a problem with distances by matrix."""
    places = problem.task_count * problem.node_count
    if places <= auto.params.max_tiny_places:
        return (PortfolioStep(CP_SAT, TAKES_ALL),)
    if auto.configured(SUBSET_DP).supports(problem) is None:
        first = PortfolioStep(SUBSET_DP, SUBSETS, auto.params.subset_dp_fraction)
        return (first, PortfolioStep(DUAL_ASCENT, GENERAL))
    if auto.configured(DUAL_ASCENT).supports(problem) is not None:
        return (PortfolioStep(CP_SAT, TAKES_ALL),)
    return (PortfolioStep(DUAL_ASCENT, GENERAL),)
