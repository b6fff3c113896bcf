"""Running HiGHS on a model of PuLP, with Ctrl-C, a starting solution and reported bounds."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import highspy
import pulp

from slotwise.solver.compact.milp.backend import Ended, Question, Reply, Report
from slotwise.solver.compact.milp.builder import coefficients
from slotwise.solver.compact.native_call import run_interruptible

ENDED = {
    "kOptimal": Ended.COMPLETE,
    "kModelEmpty": Ended.COMPLETE,
    "kInfeasible": Ended.INFEASIBLE,
    # Every column is bounded.
    "kUnboundedOrInfeasible": Ended.INFEASIBLE,
    "kTimeLimit": Ended.STOPPED,
    "kIterationLimit": Ended.STOPPED,
    "kSolutionLimit": Ended.STOPPED,
    "kMemoryLimit": Ended.STOPPED,
    "kInterrupt": Ended.STOPPED,
    "kHighsInterrupt": Ended.STOPPED,
    "kObjectiveBound": Ended.STOPPED,
    "kObjectiveTarget": Ended.STOPPED,
    "kUnknown": Ended.TROUBLE,
    "kSolveError": Ended.TROUBLE,
    "kPostsolveError": Ended.TROUBLE,
    "kNotset": Ended.FAILED,
    "kLoadError": Ended.FAILED,
    "kModelError": Ended.FAILED,
    "kPresolveError": Ended.FAILED,
    "kUnbounded": Ended.FAILED,
}
"""By the name of HiGHS's status: older versions lack some; anything else fails."""


def search(question: Question, report: Report) -> Reply:
    """Minimise; every better solution and every new bound is reported at once."""
    solver = _configured(question)
    solver.HandleUserInterrupt = True

    def improved(event: Any) -> None:
        values = event.data_out.mip_solution
        report(lambda column: float(values[column.index]), None)

    def bounded(event: Any) -> None:
        report(None, event.data_out.mip_dual_bound)

    def work() -> None:
        # Only now: the search for a whole start would report bounds of its own.
        _set_start(solver, question)
        solver.cbMipImprovingSolution.subscribe(improved)
        # Called at intervals in any case; the logging callback is silent without output.
        solver.cbMipInterrupt.subscribe(bounded)
        solver.run()

    interrupted = run_interruptible(work, solver.cancelSolve, question.token)
    ended = ENDED.get(solver.getModelStatus().name, Ended.FAILED)
    if solver.getInfo().primal_solution_status == _FEASIBLE:
        last = list(solver.getSolution().col_value)
        report(lambda column: float(last[column.index]), None)
    bound = _bound(solver) if ended in (Ended.COMPLETE, Ended.STOPPED) else None
    return Reply(ended, bound, interrupted)


def _set_start(solver: Any, question: Question) -> None:
    """Complete the values to start from to a solution of all columns, if there is one."""
    for column, value in question.start:
        solver.changeColBounds(column.index, float(value), float(value))
    if question.start:
        solver.run()
        solution = solver.getSolution()
        is_feasible = solver.getInfo().primal_solution_status == _FEASIBLE
        for column, _ in question.start:
            solver.changeColBounds(column.index, 0.0, float(column.upBound))
        solver.clearSolver()
        if is_feasible:
            solver.setSolution(solution)


_FEASIBLE = 2
"""``kSolutionStatusFeasible`` of HiGHS."""


def _configured(question: Question) -> Any:
    """Return HiGHS with the model translated by PuLP."""
    lp = question.model.lp
    lp.setObjective(0 * question.objective if question.any_serves else question.objective)
    # One pool of threads serves all of HiGHS in a process, and refuses another size.
    highspy.Highs.resetGlobalScheduler(True)
    through = pulp.HiGHS(
        msg=False,
        gapRel=0.0,
        gapAbs=question.gap,
        threads=question.threads,
        timeLimit=question.time_s,
        random_seed=question.seed,
        presolve="choose" if question.presolve else "off",
        mip_feasibility_tolerance=1e-9,
        primal_feasibility_tolerance=1e-9,
        dual_feasibility_tolerance=1e-9,
    )
    through.createAndConfigureSolver(lp)
    through.buildSolverModel(lp)
    if question.below is not None:
        weights = coefficients(question.objective)
        indices = [column.index for column in weights]
        values = [float(weight) for weight in weights.values()]
        lp.solverModel.addRow(-highspy.kHighsInf, question.below, len(indices), indices, values)
    return lp.solverModel


def _bound(solver: Any) -> float:
    info = solver.getInfo()
    if info.mip_node_count < 0:
        # Without a whole-numbered column it was solved as a linear program.
        return float(info.objective_function_value)
    return float(info.mip_dual_bound)


def version() -> str:
    """Return the versions of PuLP and HiGHS."""
    return f"PuLP {metadata.version('pulp')}, highspy {metadata.version('highspy')}"
