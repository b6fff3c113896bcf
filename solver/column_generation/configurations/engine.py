"""The fast way of engine ``configurations``: column generation over configurations of nodes.

For problems with distances by level where one worker per node and topology is enough, or workers
concern the network alone, on one rack, on two, or on any number of racks that make no difference.
The terms are solved in order. Once a term is proven by duals that leave no gap, its optimal
solutions are those whose configurations have reduced cost 0: the later terms are solved among
these (reduced-cost fixing).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import CLUSTER, RACK, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.exact_tables import search_tables, tables_fit
from slotwise.solver.column_generation.configurations.term_master import (
    ConfigurationModel,
    TermMaster,
    make_model,
    make_term_master,
)
from slotwise.solver.column_generation.params import (
    CONFIGURATIONS_DEFAULTS,
    ConfigurationsParams,
)
from slotwise.solver.column_generation.rack_splits import TooManySplitsError
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import lp_solver
from slotwise.solver.column_generation.search_state import MasterSolution, SearchState
from slotwise.solver.column_generation.split_search import SplitSearch
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Improvement, Limits, Outcome, Status
from slotwise.solver.structure.worker_layout import has_single_workers

UNSUPPORTED_PARTS = ("rejected", "moved")
KIND = "lp over node configurations"
"""What the bounds are."""


@dataclass(slots=True)
class _ConfigurationSearch:
    """What is known so far, over all terms; `is_open` until some term has a solution."""

    problem: Problem
    started: float
    deadline: float
    reporter: Reporter
    limits: Limits
    params: ConfigurationsParams
    placement: Placement | None = None
    values: tuple[int, ...] | None = None
    bounds: list[int | None] = field(default_factory=list)
    trace: list[Improvement] = field(default_factory=list)
    interrupted: bool = False
    infeasible: bool = False
    is_open: bool = True
    by_solver: bool = False

    def offer(self, placement: Placement, term: int) -> None:
        """Keep a placement if it is valid and better than the incumbent."""
        verdict = judge(self.problem, placement)
        if verdict.valid and (self.values is None or verdict.scaled < self.values):
            self.placement, self.values = placement, verdict.scaled
            self.note(term, verdict.scaled[term], None)
            self.reporter.offer(placement)

    def note(self, term: int, value: int | None, bound: int | None) -> None:
        """Add a line to the trace."""
        seconds = time.perf_counter() - self.started
        self.trace.append(Improvement(seconds, term, value, bound))


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: ConfigurationsParams = CONFIGURATIONS_DEFAULTS,
) -> Outcome:
    """Solve the terms in order until one is not proven within the limits.

    Raises
    ------
    NotTakenError
        When a node has too many configurations or two racks too many splits.
    """
    started = time.perf_counter()
    reporter = reporter or null_reporter(problem, "configurations")
    search = _ConfigurationSearch(
        problem, started, started + limits.time_s, reporter, limits, params
    )
    if hint is not None:
        search.offer(hint, 0)
    try:
        _solve_terms(problem, search)
    except TooManySplitsError as error:
        raise NotTakenError(
            f"two racks have more than {params.max_rack_splits:,} splits"
        ) from error
    except CancelledError:
        search.interrupted = True
    return _outcome(search)


def _solve_terms(problem: Problem, search: _ConfigurationSearch) -> None:
    token = search.reporter.token
    model = make_model(problem, search.deadline - search.started, search.params, token)
    for index in range(len(problem.terms)):
        master = make_term_master(model, index, search.params, token)
        proven = _solve_term(model, master, search, index)
        if proven is None or index + 1 == len(problem.terms):
            return
        if not master.is_constant:
            narrowed = master.fix_by_reduced_cost(model, proven, token)
            if narrowed is None:
                return
            model = narrowed


def _solve_term(
    model: ConfigurationModel, master: TermMaster, search: _ConfigurationSearch, index: int
) -> int | None:
    """Solve the master of one term; return its value if it is proven."""
    if master.is_constant and index + 1 < len(search.problem.terms):
        search.bounds.append(master.base)
        return 0

    def on_best(found: MasterSolution) -> None:
        search.offer(master.placement(model, found), index)

    def on_bound(bound: int) -> None:
        known = [*search.bounds[:index], master.term_value(bound)]
        search.reporter.prove(known, KIND, by_solver=search.by_solver or state.by_solver)

    state = SearchState(best=_known(master, search, index), on_bound=on_bound)
    try:
        if tables_fit(master.sites, model.kinds.sizes, search.params, search.reporter.token):
            search_tables(
                master.sites, master.first, model.kinds.sizes, master.bonus, state, on_best
            )
        else:
            SplitSearch(
                master.sites,
                master.first,
                model.kinds.sizes,
                master.bonus,
                search.deadline,
                state,
                on_best,
                search.limits,
                search.params.residual,
                search.reporter.token,
            ).run()
    except TooLongError:
        return None  # the state says what is known
    finally:
        search.by_solver |= state.by_solver
        bound = None if state.bound is None else master.term_value(state.bound)
        if bound is not None:
            search.bounds.append(bound)
            search.note(index, None, bound)
    if state.best is None:
        search.infeasible = search.is_open
        return None
    search.is_open = False
    return state.best.value


def _known(master: TermMaster, search: _ConfigurationSearch, index: int) -> MasterSolution | None:
    """Return the incumbent's value in the master, if it is best in all earlier terms."""
    if search.values is None or search.values[:index] != tuple(search.bounds[:index]):
        return None
    value, rest = divmod(master.base - search.values[index], master.step)
    return None if rest else MasterSolution(value, ())


def _outcome(search: _ConfigurationSearch) -> Outcome:
    terms = len(search.problem.terms)
    bounds = tuple([*search.bounds, *([None] * terms)][:terms])
    status = Status.INFEASIBLE if search.infeasible else Status.UNKNOWN
    if search.values is not None:
        status = Status.OPTIMAL if search.values == bounds else Status.FEASIBLE
    return Outcome(
        status=status,
        placement=search.placement,
        values=search.values,
        bounds=bounds,
        proof="node configurations priced exactly, gap closed by search" if search.bounds else "",
        trace=tuple(search.trace),
        interrupted=search.interrupted,
        bound_kind=KIND,
        by_solver=search.by_solver,
    )


def supports(problem: Problem) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if problem.matrix is not None:
        return "distances come as a matrix, so no two nodes are alike"
    for part in UNSUPPORTED_PARTS:
        if part in problem.instance.objective.parts:
            return f"the objective counts {part!r}"
    if problem.move_limit != NO_LIMIT:
        return "the moves of running tasks are limited"
    for t, rules in enumerate(problem.rules):
        if not has_single_workers(problem, t) and _packing_matters_elsewhere(problem, t):
            return f"the cost of splitting topology {rules.id!r} into workers is not only network"
    if len(problem.racks) > 2 and problem.distance[CLUSTER] != problem.distance[RACK]:
        return "there are more than two racks"
    if not problem.classes:
        return "there is nothing to place"
    return None


def _packing_matters_elsewhere(problem: Problem, topology: int) -> bool:
    """Return whether the number of workers of a topology on a node has costs of its own."""
    shared = any(r.topology == topology and r.kind != "offheap_node" for r in problem.regions)
    counted = "workers" in problem.instance.objective.parts
    return shared or counted or problem.min_worker_cpu > 0


def _engine(params: ConfigurationsParams) -> Engine:
    return Engine(
        name="configurations",
        run=partial(run, params=params),
        supports=supports,
        version=lp_solver,
    )


FAST_CONFIGURATIONS = configurable(_engine, CONFIGURATIONS_DEFAULTS)
