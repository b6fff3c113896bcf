"""Engines ``milp`` and ``milp-cbc``: the compact model linearised, by PuLP with HiGHS or CBC.

Class counts per worker and node; products of counts by the exact count of a star's center (see
`products`), matrix distances by RLT-1 (`rlt`). Every rule of the problem is modelled.
Lexicographic terms are solved one after the other, earlier ones fixed by a row.

The solvers compute in floating point. So every solution is rounded and judged, a bound is lowered
by more than their tolerances before it is rounded up to a whole step (`whole_bound`), and an
optimum is claimed only where the judged value meets that bound. Where a term has so many steps
that the bound stops short of the value, HiGHS is asked for anything between the two steps below;
with CBC such terms (of more than about 1e8 steps) end with a bound a step below the value. Of a
term that can exceed `MOST_TOLD_APART` steps no bound above 0 is believed, and terms after one of
more than `LEAST_BLURRED` are not searched; notes of the result say so. Not taken: models
of more than 300,000 columns, and rules whose numbers doubles do not carry at those tolerances.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline.engine import BASELINE
from slotwise.solver.compact.milp.backend import (
    LEAST_BLURRED,
    MOST_TOLD_APART,
    Ended,
    MipSolver,
    Question,
    Reply,
    Report,
    Values,
    sufficient_gap,
)
from slotwise.solver.compact.milp.builder import Column, column_of
from slotwise.solver.compact.milp.cbc import CBC
from slotwise.solver.compact.milp.formulation import CompactModel, Grid, build, fix
from slotwise.solver.compact.milp.highs import HIGHS
from slotwise.solver.compact.model_size import check_columns, check_linear_size
from slotwise.solver.compact.params import MILP_DEFAULTS, MilpParams
from slotwise.solver.compact.variables import described, read_placement
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Improvement, Limits, Outcome, Status


@dataclass(slots=True)
class _Search:
    """What is known so far, over all terms."""

    problem: Problem
    solver: MipSolver
    limits: Limits
    started: float
    reporter: Reporter
    placement: Placement | None = None
    values: tuple[int, ...] | None = None
    bounds: list[int | None] = field(default_factory=list)
    trace: list[Improvement] = field(default_factory=list)
    interrupted: bool = False

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.limits.time_s - (time.perf_counter() - self.started)

    def note(self, term: int, value: int | None, bound: int | None) -> None:
        """Add an event to the trace unless it says what the last one said."""
        seconds = time.perf_counter() - self.started
        last = self.trace[-1] if self.trace else None
        if last is None or (last.term, last.value, last.bound) != (term, value, bound):
            self.trace.append(Improvement(seconds, term, value, bound))
            self.reporter.prove([*self.bounds[:term], bound], by_solver=True)

    def offer(self, placement: Placement) -> bool:
        """Keep a placement if it is valid and better; return whether it was."""
        verdict = judge(self.problem, placement)
        better = self.values is None or verdict.scaled < self.values
        if verdict.valid and better:
            self.placement, self.values = placement, verdict.scaled
            self.reporter.offer(placement)
        return verdict.valid and better


def run(
    solver: MipSolver,
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: MilpParams = MILP_DEFAULTS,
) -> Outcome:
    """Solve the terms in order until one is not proven within the limits."""
    if not problem.task_count:
        return BASELINE.run(problem, limits, hint)  # no columns, no model
    reporter = reporter or null_reporter(problem, solver.name)
    search = _Search(problem, solver, limits, time.perf_counter(), reporter)
    if hint is not None:
        search.offer(hint)
    try:
        status = _solve_terms(search, params)
    except CancelledError:
        search.interrupted = True
        status = Status.UNKNOWN if search.values is None else Status.FEASIBLE
    return _outcome(search, status)


def _solve_terms(search: _Search, params: MilpParams) -> Status:
    """Build the model, and solve term after term as long as each is proven."""
    problem, token = search.problem, search.reporter.token
    check_columns(problem, token, params)
    check_linear_size(problem, token, params)
    compact = build(problem, token, params)
    for index, term in enumerate(compact.terms):
        grid = Grid.of(term)
        ended = _minimise(search, compact, index, grid)
        if ended is Ended.COMPLETE:
            _ask_for_less(search, compact, index, grid)
        if ended is Ended.INFEASIBLE:
            return Status.INFEASIBLE
        if search.values is None:
            return Status.UNKNOWN
        value, name = search.values[index], problem.terms[index].name
        if search.bounds[index] != value:
            return Status.FEASIBLE
        if index + 1 < len(compact.terms):
            if not _can_fix(search, grid, name):
                return Status.FEASIBLE
            fix(compact, grid, name, value)
    return Status.OPTIMAL


def _can_fix(search: _Search, grid: Grid, name: str) -> bool:
    """Return whether the row that fixes a term is one that solvers get right; noted where not.

    HiGHS 1.13 cut off solutions of the next term where such a row adds up to more than 1e7.
    """
    if grid.largest > LEAST_BLURRED:
        search.reporter.note(
            f"the terms after {name} are not searched: a row that fixes {name} would add up to "
            f"{grid.largest:,.0f} steps, more than floating point keeps apart beside others"
        )
    return grid.largest <= LEAST_BLURRED


def _minimise(search: _Search, compact: CompactModel, index: int, grid: Grid) -> Ended:
    """Search one term; append its bound."""
    if search.values is not None and search.values[index] == 0:
        search.bounds.append(0)
        search.note(index, 0, 0)
        return Ended.COMPLETE
    left = search.left()
    if left <= 0:
        search.bounds.append(None)
        return Ended.STOPPED
    bound: int | None = None

    def report(values: Values | None, of_columns: float | None) -> None:
        nonlocal bound
        if values is not None and not search.offer(_placement(search.problem, compact, values)):
            return
        risen = grid.bound(of_columns)
        bound = risen if bound is None else max(bound, risen or 0)
        known = search.values[index] if search.values is not None else None
        search.note(index, known, bound)

    reply = _searched(search, _question(search, compact, grid), report)
    if reply.ended is Ended.INFEASIBLE and search.placement is not None:
        reply = replace(reply, ended=Ended.TROUBLE)
    _record(search, index, grid, reply)
    return reply.ended


def _searched(search: _Search, question: Question, report: Report) -> Reply:
    """Search; where there is no solution, search again the other way about presolve.

    HiGHS 1.13 calls models infeasible that are not, some with presolve and some without, where the
    coefficients of a row are of very different size: only both ways together are believed.
    """
    reply = search.solver.search(question, report)
    search.interrupted |= reply.interrupted
    if reply.ended is not Ended.INFEASIBLE:
        return reply
    left = search.left()
    if left <= 0 or reply.interrupted:
        return replace(reply, ended=Ended.STOPPED)
    other = replace(question, presolve=not question.presolve, time_s=left)
    reply = search.solver.search(other, report)
    search.interrupted |= reply.interrupted
    return reply


def _question(search: _Search, compact: CompactModel, grid: Grid) -> Question:
    return Question(
        compact.model,
        grid.columns,
        _start(search, compact),
        sufficient_gap(grid.columns),
        search.left(),
        search.limits.workers,
        search.limits.seed,
        search.limits.presolve,
        search.reporter.token,
    )


def _ask_for_less(search: _Search, compact: CompactModel, index: int, grid: Grid) -> None:
    """Where rounding left the bound below the value, ask for anything that is a step better.

    The limit lies between two steps: a whole step apart, sums are told apart however they are
    rounded, so that no solution there is a proof.
    """
    while search.values is not None and search.bounds[index] != search.values[index]:
        value = search.values[index]
        steps = (value - grid.constant) // grid.step
        if grid.largest > MOST_TOLD_APART:
            search.reporter.note(
                f"a term of up to {grid.largest:,.0f} steps is more than doubles tell apart, so no "
                "bound of it above 0 is believed and later terms are not searched"
            )
            return
        if not search.solver.takes_below or search.left() <= 0:
            return

        def report(values: Values | None, of_columns: float | None) -> None:
            if values is not None:
                search.offer(_placement(search.problem, compact, values))

        question = replace(_question(search, compact, grid), start=(), below=steps - 0.5)
        reply = _searched(search, question, report)
        if search.values[index] == value:
            if reply.ended is Ended.INFEASIBLE:
                search.bounds[index] = value
                search.note(index, value, value)
            return


def _record(search: _Search, index: int, grid: Grid, reply: Reply) -> None:
    if reply.ended is Ended.FAILED:
        raise InternalError(f"{search.solver.name} could not search the model of term {index}")
    if reply.ended is Ended.INFEASIBLE:
        return
    bound = grid.bound(reply.bound)
    search.bounds.append(bound)
    search.note(index, None if search.values is None else search.values[index], bound)


def _placement(problem: Problem, compact: CompactModel, values: Values) -> Placement:
    """Return the placement that a solution describes, rounded to whole tasks."""
    return read_placement(problem, compact.counts, lambda x: round(values(column_of(x))))


def _start(search: _Search, compact: CompactModel) -> tuple[tuple[Column, int], ...]:
    """Return the counts of the incumbent."""
    if search.placement is None:
        return ()
    return tuple(
        (column_of(x), content.get(g, 0))
        for worker, content in described(search.problem, compact.counts, search.placement)
        for g, x in worker.counts.items()
    )


def _outcome(search: _Search, status: Status) -> Outcome:
    count = len(search.problem.terms)
    bounds = (*search.bounds, *([None] * count))[:count]
    return Outcome(
        status=status,
        placement=search.placement,
        values=search.values,
        bounds=bounds,
        proof=f"{search.solver.name} search on the linear model" if any_bound(bounds) else "",
        trace=tuple(search.trace),
        interrupted=search.interrupted,
        by_solver=True,
    )


def any_bound(bounds: tuple[int | None, ...]) -> bool:
    """Return whether anything is proven."""
    return any(bound is not None for bound in bounds)


def _supports(problem: Problem) -> str | None:
    return None


def _milp(params: MilpParams) -> Engine:
    return Engine("milp", partial(run, HIGHS, params=params), _supports, HIGHS.version)


def _milp_cbc(params: MilpParams) -> Engine:
    return Engine("milp-cbc", partial(run, CBC, params=params), _supports, CBC.version)


MILP = configurable(_milp, MILP_DEFAULTS)
MILP_CBC = configurable(_milp_cbc, MILP_DEFAULTS)
