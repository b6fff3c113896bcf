"""The fast way of engine ``configurations``: column generation over configurations of nodes.

For problems with distances by level where one worker per node and topology is enough, or workers
concern the network alone, on one rack, on two, or on any number of racks that make no difference.
The terms are solved in order. Once a term is proven by duals that leave no gap, its optimal
solutions are those whose configurations have reduced cost 0: the later terms are solved among
these (reduced-cost fixing).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import PARTS, RULES
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
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.structure.worker_layout import has_single_workers

UNSUPPORTED_PARTS = ("rejected", "moved")
KIND = "lp over node configurations"
"""What the bounds are."""


@dataclass(slots=True)
class _ConfigurationSearch:
    """What is known so far, over all terms; `is_open` until some term has a solution."""

    best: Incumbent
    deadline: float
    limits: Limits
    params: ConfigurationsParams
    is_open: bool = True


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
    best = Incumbent(problem, reporter or null_reporter(problem, "configurations"), KIND)
    search = _ConfigurationSearch(best, best.started + limits.time_s, limits, params)
    if hint is not None:
        best.offer(hint)
    try:
        _solve_terms(problem, search)
    except TooManySplitsError as error:
        raise NotTakenError(
            f"two racks have more than {params.max_rack_splits:,} splits"
        ) from error
    except CancelledError:
        best.interrupted = True
    proof = "node configurations priced exactly, gap closed by search"
    return best.outcome(proof if best.bounds else "")


def _solve_terms(problem: Problem, search: _ConfigurationSearch) -> None:
    token = search.best.reporter.token
    model = make_model(problem, search.limits.time_s, search.params, token)
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
    best = search.best
    earlier = best.bounds[:index]
    if master.is_constant and index + 1 < len(best.problem.terms):
        best.prove([*earlier, master.base])
        return 0

    def on_best(found: MasterSolution) -> None:
        best.offer(master.placement(model, found))

    def on_bound(bound: int) -> None:
        best.prove([*earlier, master.term_value(bound)], by_solver=state.by_solver)

    state = SearchState(best=_known(master, best, index), on_bound=on_bound)
    try:
        if tables_fit(master.sites, model.kinds.sizes, search.params, search.best.reporter.token):
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
                search.best.reporter.token,
            ).run()
    except TooLongError:
        return None  # the state says what is known
    finally:
        if state.bound is not None:
            on_bound(state.bound)
        best.by_solver |= state.by_solver
    if state.best is None:
        best.infeasible = search.is_open and best.values is None
        return None
    search.is_open = False
    return state.best.value


def _known(master: TermMaster, best: Incumbent, index: int) -> MasterSolution | None:
    """Return the incumbent's value in the master, if it is best in all earlier terms."""
    if best.values is None or len(best.optima) < index:
        return None
    value, rest = divmod(master.base - best.values[index], master.step)
    return None if rest else MasterSolution(value, ())


@declares(RULES, PARTS)
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
