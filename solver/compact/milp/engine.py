"""Engine ``milp``: the compact model linearised, by PuLP with HiGHS.

Class counts per worker and node; products of counts by the exact count of a star's center (see
`formulation`), matrix distances by RLT-1. Every rule of the problem is modelled.
Lexicographic terms are solved one after the other, earlier ones fixed by a row.

HiGHS computes in floating point. So every solution is rounded and judged, a bound is lowered by
more than its tolerances before it is rounded up to a whole step (`whole_bound`), and an optimum is
claimed only where the judged value meets that bound. Where a term has so many steps that the bound
stops short of the value, HiGHS is asked for anything between the two steps below. Infeasible is
what it says with presolve and without. Of a term that can exceed `MOST_TOLD_APART` steps no bound
above 0 is believed, and terms after one of more than `LEAST_BLURRED` are not searched; notes of the
result say so. Not taken: models of more than 300,000 columns, and rules whose numbers doubles do
not carry at those tolerances.
"""

from __future__ import annotations

from functools import partial

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.compact.constraints import RULES
from slotwise.solver.compact.formulation import PARTS
from slotwise.solver.compact.milp.backend import LEAST_BLURRED, Ended
from slotwise.solver.compact.milp.formulation import Grid, build, fix
from slotwise.solver.compact.milp.highs import version
from slotwise.solver.compact.milp.term_search import TermSearch
from slotwise.solver.compact.model_size import check_columns, check_linear_size
from slotwise.solver.compact.params import MILP_DEFAULTS, MilpParams
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
        grid = Grid.of(term)
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
    if grid.largest > LEAST_BLURRED:
        reporter.note(
            f"the terms after {name} are not searched: a row that fixes {name} would add up to "
            f"{grid.largest:,.0f} steps, more than floating point keeps apart beside others"
        )
    return grid.largest <= LEAST_BLURRED


@declares(RULES, PARTS)
def _supports(problem: Problem) -> str | None:
    return None


def _milp(params: MilpParams) -> Engine:
    return Engine(NAME, partial(run, params=params), _supports, version, takes_work=False)


MILP = configurable(_milp, MILP_DEFAULTS)
