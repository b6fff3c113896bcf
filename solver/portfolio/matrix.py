"""Engine choice ``auto`` for distances by matrix, where every task is a class of its own.

Measured on the public instances, one core: dual ascent with branch and bound closes assignments of
10 to 12 tasks in under a second, where CP-SAT needs 1 s to over a minute; subset dynamic
programming closes 20 tasks on 5 equally distant nodes in a second, where dual ascent needs 5 s to
minutes. On large ones CP-SAT's bound is far below that of dual ascent. CP-SAT takes every rule,
though, and tiny problems without loading what they do not need.
"""

from __future__ import annotations

from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.dual_ascent import DUAL_ASCENT
from slotwise.solver.assignment.subset_dp import SUBSET_DP
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.portfolio.run import TAKES_ALL, Auto, PortfolioStep

SUBSETS = "distances by matrix, few tasks: all sets of tasks fit a table"
GENERAL = "distances by matrix: bounds by dual ascent, then branch and bound"


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
