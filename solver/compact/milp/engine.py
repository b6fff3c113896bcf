"""Engine ``milp``: the compact model linearised, by PuLP with HiGHS.

Class counts per worker and node; products of counts by the exact count of a star's center (see
`formulation`), matrix distances by RLT-1. Every rule of the problem is modelled.
Lexicographic terms are solved one after the other, earlier ones fixed by a row.

HiGHS computes in floating point. So every solution is rounded and judged, and a bound is lowered
by more than its tolerances before it is rounded up to a whole step (`whole_bound`). Its presolve
has been wrong on small numbers, too. So an optimum is claimed only where HiGHS finds nothing at
least one step better than the judged value with presolve and without, and a problem counts as
infeasible only where it reports so with presolve and without. For a term that can exceed
`MOST_TRUSTED_SUM` steps no bound above 0 is trusted, and terms after one of more than
`INEXACT_FROM` steps are not searched; notes of the result say so. Declined: models of more than
300,000 columns, and rules whose numbers doubles cannot represent within those tolerances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from slotwise.models.cancellation import CancelledError
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE, least_bottleneck
from slotwise.solver.compact.bottleneck import why_not_linear
from slotwise.solver.compact.constraints import RULES
from slotwise.solver.compact.formulation import PARTS
from slotwise.solver.compact.milp.backend import (
    INEXACT_FROM,
    MOST_TRUSTED_SUM,
    Ended,
    Question,
    Reply,
    Report,
    Values,
    sufficient_gap,
)
from slotwise.solver.compact.milp.builder import Column, column_of
from slotwise.solver.compact.milp.formulation import CompactModel, Grid, build, fix
from slotwise.solver.compact.milp.highs import search, version
from slotwise.solver.compact.model_size import check_columns, check_linear_size
from slotwise.solver.compact.params import MILP_DEFAULTS, MilpParams
from slotwise.solver.compact.variables import described, read_placement
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome

NAME = "milp"


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: MilpParams = MILP_DEFAULTS,
) -> Outcome:
    """Solve the terms in order until one is not proven within the limits."""
    if not problem.task_count:
        return BASELINE.run(problem, limits, hint)  # no columns, no model
    reporter = reporter or null_reporter(problem, NAME)
    best = Incumbent(problem, reporter, by_solver=True)
    if hint is not None:
        best.offer(hint)
    try:
        _solve_terms(limits, best, params)
    except CancelledError:
        best.interrupted = True
    return best.outcome("HiGHS search on the linear model" if best.bounds else "")


def _solve_terms(limits: Limits, best: Incumbent, params: MilpParams) -> None:
    """Build the model, and solve term after term as long as each is proven."""
    terms, token = best.problem.terms, best.reporter.token
    check_columns(best.problem, token, params)
    check_linear_size(best.problem, token, params)
    compact = build(best.problem, token, params)
    for index, term in enumerate(compact.terms):
        grid = Grid.of(term, compact.model.measures)
        ended = TermSearch(compact, index, grid, limits, best).run()
        if ended is Ended.INFEASIBLE:
            best.prove_infeasible()
        if len(best.optima) <= index:
            return
        if index + 1 < len(terms) and not _can_fix(grid, terms[index].name, best.reporter):
            return
        fix(compact, grid, terms[index].name, best.optima[index])


def _can_fix(grid: Grid, name: str, reporter: Reporter) -> bool:
    """Return whether the row that fixes a term is one that solvers get right; noted where not.

    HiGHS 1.13 cut off solutions of the next term where such a row adds up to more than 1e7.
    """
    if grid.largest > INEXACT_FROM:
        reporter.note(
            f"the terms after {name} are not searched: a row that fixes {name} would add up to "
            f"{grid.largest:,.0f} steps, more than floating point keeps apart beside others"
        )
    return grid.largest <= INEXACT_FROM


@declares(RULES, PARTS)
def _supports(problem: Problem) -> str | None:
    return why_not_linear(problem, INEXACT_FROM)


def _milp(params: MilpParams) -> Engine:
    return Engine(NAME, partial(run, params=params), _supports, version, takes_work=False)


MILP = configurable(_milp, MILP_DEFAULTS)


# One term of the compact model, minimised by HiGHS, which computes in floating point.
#
# Every solution is rounded and judged, and a bound is lowered by more than the solver's
# tolerances before it is rounded up to a whole step (`Grid.bound`). Then the solver is asked for
# any solution at least one step better: with the other setting of presolve where that bound is the
# value, and with both where a term has too many steps for it to reach the value.


@dataclass(frozen=True, slots=True)
class TermSearch:
    """The search for the least value of term `index`, those before it at their optima.

    Parameters
    ----------
    compact, index, grid
        The model; which of its terms, and that term as a sum of columns.
    limits
        Of the whole run.
    best
        Receives the solutions and the final bound. Earlier bounds are reported, too, but are not
        part of the claim: if the solver ends in numerical trouble, none of them counts.
    """

    compact: CompactModel
    index: int
    grid: Grid
    limits: Limits
    best: Incumbent

    def run(self) -> Ended:
        """Search; the incumbent has what was found and proven."""
        if self.grid.is_measure:
            return self._bisect()
        reply = self._minimise()
        bound = self.grid.bound(reply.bound)
        if reply.ended is Ended.COMPLETE:
            bound = self._ask_for_less(bound)
        if reply.ended is not Ended.INFEASIBLE:
            self._prove(bound)
        return reply.ended

    @property
    def _left(self) -> float:
        """Seconds left."""
        return self.limits.time_s - self.best.seconds

    @property
    def _value(self) -> int | None:
        return None if self.best.values is None else self.best.values[self.index]

    def _prove(self, bound: int | None) -> None:
        self.best.prove([*self.best.bounds[: self.index], bound])

    def _below_value(self, bound: int | None) -> int | None:
        """Return the part of a bound that counts before the value itself is proven."""
        if bound is None or self._value is None:
            return bound
        return min(bound, self._value - self.grid.step)

    def _minimise(self) -> Reply:
        if self._value == 0:
            return Reply(Ended.COMPLETE, None, interrupted=False)
        if self._left <= 0:
            return Reply(Ended.STOPPED, None, interrupted=False)
        earlier = self.best.optima[: self.index]

        def report(values: Values | None, of_columns: float | None) -> None:
            if values is None or self._offer(values):
                bound = self._below_value(self.grid.bound(of_columns))
                self.best.reporter.prove([*earlier, bound], by_solver=True)

        reply = self._searched(self._question(), report)
        if reply.ended is Ended.INFEASIBLE and self.best.placement is not None:
            reply = replace(reply, ended=Ended.TROUBLE)
        if reply.ended is Ended.FAILED:
            raise InternalError(f"HiGHS could not search the model of term {self.index}")
        return reply

    def _searched(self, question: Question, report: Report) -> Reply:
        """Search; where there is no solution, search again with the other setting of presolve.

        HiGHS 1.13 calls models infeasible that are not, some with presolve and some without, where
        the coefficients of a row are of very different size: only both answers together count.
        """
        reply = self._searched_once(question, report)
        if reply.ended is not Ended.INFEASIBLE:
            return reply
        left = self._left
        if left <= 0 or reply.interrupted:
            return replace(reply, ended=Ended.STOPPED)
        other = replace(question, presolve=not question.presolve, time_s=left)
        return self._searched_once(other, report)

    def _searched_once(self, question: Question, report: Report) -> Reply:
        reply = search(question, report)
        self.best.interrupted |= reply.interrupted
        return reply

    def _question(self) -> Question:
        return Question(
            self.compact.model,
            self.grid.columns,
            self._start(),
            sufficient_gap(self.grid.columns),
            self._left,
            self.limits.workers,
            self.limits.solver_seed,
            self.limits.presolve,
            self.best.reporter.token,
        )

    def _bisect(self) -> Ended:
        """Bisect the highest utilisation: HiGHS decides whether a value below a limit exists.

        Asked to minimise it, HiGHS 1.13 proved wrong optima now and then, of small numbers, too.
        Below a limit the rows are capacities like others.
        """
        bound, ended = least_bottleneck(self.best.problem), Ended.COMPLETE
        while ended is Ended.COMPLETE and (self._value is None or bound < self._value):
            if self._left <= 0:
                return Ended.STOPPED
            value = self._value
            most = None if value is None else (bound + value) // 2
            cutoff = None if most is None else most + 0.5
            question = replace(self._question(), start=(), below=cutoff, any_serves=True)
            ended = self._searched(question, self._take).ended
            if ended is Ended.FAILED:
                raise InternalError(f"HiGHS could not search the model of term {self.index}")
            if most is None or ended is not Ended.INFEASIBLE:
                if self._value == value:
                    return Ended.TROUBLE if ended is Ended.COMPLETE else ended
                continue
            bound, ended = most + 1, Ended.COMPLETE
            self._prove(bound)
        self._prove(bound)
        return ended

    def _ask_for_less(self, bound: int | None) -> int | None:
        """Return what is proven of the term when no solution is better than `bound` says.

        That is the value where HiGHS, asked for a solution one step better, finds none: with the
        other setting of presolve where the bound is the value, else with both. The limit lies
        between two steps: sums a whole step apart differ however they are rounded. A bound that a
        solution refutes does not count.
        """
        while value := self._value:
            if self.grid.largest > MOST_TRUSTED_SUM:
                self.best.reporter.note(
                    f"a term of up to {self.grid.largest:,.0f} steps is more than doubles tell "
                    "apart, so no bound of it above 0 is believed and later terms are not searched"
                )
                break
            if self._left <= 0:
                break
            steps = (value - self.grid.constant) // self.grid.step
            question = replace(self._question(), start=(), below=steps - 0.5)
            if bound == value:
                other = replace(question, presolve=not question.presolve)
                reply = self._searched_once(other, self._take)
            else:
                reply = self._searched(question, self._take)
            if self._value == value:
                if reply.ended is Ended.INFEASIBLE:
                    return value
                break
            if bound is not None and bound > self._value:
                bound = None
        return 0 if self._value == 0 else self._below_value(bound)

    def _take(self, values: Values | None, of_columns: float | None) -> None:
        """Offer a solution of a search below a limit, whose bounds say nothing of the term."""
        if values is not None:
            self._offer(values)

    def _offer(self, values: Values) -> bool:
        """Offer the placement that a solution describes, rounded to whole tasks."""
        counts = self.compact.counts
        return self.best.offer(
            read_placement(self.best.problem, counts, lambda x: round(values(column_of(x))))
        )

    def _start(self) -> tuple[tuple[Column, int], ...]:
        """Return the counts of the incumbent."""
        if self.best.placement is None:
            return ()
        return tuple(
            (column_of(x), content.get(g, 0))
            for worker, content in described(
                self.best.problem, self.compact.counts, self.best.placement
            )
            for g, x in worker.counts.items()
        )
