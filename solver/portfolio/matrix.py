"""Engine choice ``auto`` for distances by matrix, where every task is a class of its own.

Measured on the public instances, one core: dual ascent with branch and bound closes assignments of
10 to 12 tasks in under a second, where CP-SAT needs 1 s to over a minute; subset dynamic
programming closes 20 tasks on 5 equally distant nodes in a second, and 24 on 8 in two or three,
where dual ascent needs 5 s to minutes. More tasks on equal nodes that are all equally far apart are
no assignment but a partition of a graph: there the matrix is dropped (`equal_distances`). Where it
says no more than levels, and the nodes differ, column generation has some of the time: 30 tasks
with sparse flows on 5 nodes of three kinds take it 4 s instead of 7, and with dense ones its bound
is better by a sixth. On large ones CP-SAT's bound is far below that of dual ascent. CP-SAT takes
every rule, though, and tiny problems without loading what they do not need.
"""

from __future__ import annotations

from slotwise.models.problem.problem import Problem
from slotwise.solver.assignment.dual_ascent import DUAL_ASCENT
from slotwise.solver.assignment.subsets.subset_dp import SUBSET_DP
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.partition.engine import PARTITION
from slotwise.solver.portfolio.run import PARTS, TAKES_ALL, PortfolioRun, PortfolioStep
from slotwise.solver.presolve.equal_distances import without_matrix
from slotwise.solver.structure.node_types import node_types

SUBSETS = "distances by matrix, all equal: few sets of tasks, or few that fit a node"
BY_LEVELS = "the matrix of distances says no more than levels"
GENERAL = "distances by matrix: bounds by dual ascent, then branch and bound"


def levels_instead(auto: PortfolioRun, problem: Problem) -> Problem | None:
    """Return the problem without its matrix; ``None`` where it has none or needs it.

    By levels it is where the tasks are of few kinds, or all nodes alike and equally far apart.
    """
    places = problem.task_count * problem.node_count
    if problem.matrix is None or places <= auto.params.max_tiny_places:
        return None
    if auto.configured(SUBSET_DP).supports(problem) is None:
        return None
    levels = without_matrix(problem)
    if levels is None or problem.task_count >= 2 * len(problem.classes):
        return levels
    return levels if len(levels.racks) == 1 and len(node_types(levels)) == 1 else None


def solve_with_matrix(auto: PortfolioRun, problem: Problem, reporter: Reporter) -> None:
    """Run the engines on a problem whose matrix stays.

    Where it says no more than levels (several kinds of nodes, racks), column generation comes
    first: on the same problem without it.
    """
    levels = without_matrix(problem)
    steps = matrix_steps(auto, problem)
    if levels is not None and steps[0].engine is DUAL_ASCENT:
        columns = PortfolioStep(CONNECTED, BY_LEVELS, auto.params.matrix_columns_fraction)
        auto.run(columns, levels, reporter)
    for step in steps:
        auto.run(step, problem, reporter)


def matrix_steps(auto: PortfolioRun, problem: Problem) -> tuple[PortfolioStep, ...]:
    """Return which engines to run, one after the other, on a problem with distances by matrix."""
    places = problem.task_count * problem.node_count
    if places <= auto.params.max_tiny_places:
        return (PortfolioStep(CP_SAT, TAKES_ALL),)
    general = PortfolioStep(DUAL_ASCENT, GENERAL)
    if auto.configured(SUBSET_DP).supports(problem) is None:
        subsets = PortfolioStep(SUBSET_DP, SUBSETS, auto.params.subset_dp_fraction)
        parts = PortfolioStep(PARTITION, PARTS, auto.params.partition_fraction)
        beyond_tables = problem.task_count > auto.params.max_table_tasks
        return (parts, subsets, general) if beyond_tables else (subsets, general)
    if auto.configured(DUAL_ASCENT).supports(problem) is not None:
        return (PortfolioStep(CP_SAT, TAKES_ALL),)
    return (general,)
