"""The fast way of engine ``configurations``: column generation over configurations of nodes.

For problems with distances by level where one worker per node and topology is enough, or workers
concern the network alone, on one rack, on two, or on any number of racks that make no difference.
The terms are solved in order. Once a term is proven by duals that leave no gap, its optimal
solutions are those whose configurations have reduced cost 0: the later terms are solved among
these (reduced-cost fixing).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import (
    PARTS,
    RULES,
    Configurations,
    enumerate_configurations,
)
from slotwise.solver.column_generation.configurations.exact_tables import search_tables, tables_fit
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import (
    CONFIGURATIONS_DEFAULTS,
    ConfigurationsParams,
)
from slotwise.solver.column_generation.rack_splits import (
    SiteRelaxation,
    TooManySplitsError,
    all_in_one,
    two_racks,
)
from slotwise.solver.column_generation.residual_search import (
    MasterSolution,
    SearchState,
    SiteColumns,
    TooLongError,
    exact_scale,
)
from slotwise.solver.column_generation.restricted_master import lp_solver
from slotwise.solver.column_generation.split_search import SplitSearch
from slotwise.solver.column_generation.worker_packing.table import Packing
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.structure.node_types import (
    NodeType,
    Site,
    has_single_workers,
    node_types,
    sites,
)
from slotwise.solver.structure.task_types import TaskTypes, deal, merge_twins

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

    def on_best(solution: MasterSolution) -> None:
        best.offer(master.placement(model, solution))

    def on_bound(bound: int) -> None:
        best.prove([*earlier, master.term_value(bound)], by_solver=state.by_solver)

    state = SearchState(best=_known_solution(master, best, index), on_bound=on_bound)
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
        return None  # the state has the bounds and the incumbent
    finally:
        if state.bound is not None:
            on_bound(state.bound)
        best.by_solver |= state.by_solver
    if state.best is None:
        best.infeasible = search.is_open and best.values is None
        return None
    search.is_open = False
    return state.best.value


def _known_solution(master: TermMaster, best: Incumbent, index: int) -> MasterSolution | None:
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
            return f"how many workers topology {rules.id!r} has on a node costs room or a term"
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


# One term of the objective as a master problem over configurations.


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationModel:
    """The problem as kinds, node types, and the configurations of each type still allowed."""

    problem: Problem
    kinds: TaskTypes
    types: tuple[NodeType, ...]
    configurations: tuple[Configurations, ...]


def make_model(
    problem: Problem, time_s: float, params: ConfigurationsParams, token: RunToken
) -> ConfigurationModel:
    """Enumerate all configurations; raises `NotTakenError` where they are too many."""
    kinds = merge_twins(problem, token)
    types = node_types(problem)
    samples = [kind.sample for kind in types]
    configurations = enumerate_configurations(problem, kinds, samples, time_s, params, token)
    return ConfigurationModel(problem, kinds, types, configurations)


@dataclass(frozen=True, slots=True, eq=False)
class TermMaster:
    """The master problem of one term, and the way from its solutions to placements.

    Values count steps of `step` integer units of the term: term = `base` - step * value.
    """

    places: tuple[Site, ...]
    columns: tuple[TypeColumns, ...]
    sites: tuple[SiteColumns, ...]
    first: IntArray
    bonus: IntArray
    base: int
    step: int

    def term_value(self, value: int) -> int:
        """Return the term's value of a master value."""
        return self.base - self.step * value

    @property
    def is_constant(self) -> bool:
        """Whether all solutions have the same value: no configuration and no split has any."""
        return not self.bonus.any() and not any(c.values.any() for c in self.columns)

    def fix_by_reduced_cost(
        self, model: ConfigurationModel, value: int, token: RunToken
    ) -> ConfigurationModel | None:
        """Return the model with the configurations that solutions of the proven optimum can use.

        Where the dual bound equals the optimum, these have reduced cost 0 (reduced-cost fixing at
        gap 0). ``None`` where there is a gap, or where the value is not that of the nodes alone.
        """
        if len(self.sites) != 1:
            return None
        site, total = self.sites[0], model.kinds.sizes
        scale = exact_scale(self.sites, total)
        relaxation = SiteRelaxation(site.columns, site.nodes, total, scale, token)
        dual_bound = relaxation.dual_bound(total)
        if dual_bound.at(total) != value * scale:
            return None
        narrowed = list(model.configurations)
        for index, t in enumerate(self.places[0].types):
            narrowed[t] = narrowed[t].where(dual_bound.reduced_costs(index, self.columns[t]) == 0)
        return replace(model, configurations=tuple(narrowed))

    def placement(self, model: ConfigurationModel, master_solution: MasterSolution) -> Placement:
        """Return the placement that a solution describes."""
        configurations: dict[int, tuple[int, ...]] = {}
        for site, solution in zip(self.places, master_solution.configurations, strict=True):
            free = [iter(nodes) for nodes in site.nodes]
            for t, counts in solution:
                configurations[next(free[t])] = counts
        return _placement(model, configurations)


def make_term_master(
    model: ConfigurationModel, index: int, params: ConfigurationsParams, token: RunToken
) -> TermMaster:
    """Return the master of term `index`; raises `TooManySplitsError`."""
    problem, kinds = model.problem, model.kinds
    parts = dict(problem.terms[index].parts)
    rack_saving = int(problem.distance[CLUSTER] - problem.distance[RACK]) * parts.get("network", 0)
    by_rack = rack_saving > 0 and len(problem.racks) == 2
    values = [
        np.sum([-multiplier * c.parts[part] for part, multiplier in parts.items()], axis=0)
        for c in model.configurations
    ]
    all_pairs = int(kinds.pairs(kinds.sizes))
    bonus_step = rack_saving if by_rack else 0
    step = math.gcd(bonus_step, *(int(np.gcd.reduce(v)) for v in values)) or 1
    columns = tuple(
        TypeColumns(c.counts, v // step) for c, v in zip(model.configurations, values, strict=True)
    )
    places = sites(problem, model.types, by_rack=by_rack)
    site_columns = tuple(SiteColumns(tuple(columns[t] for t in p.types), p.sizes) for p in places)
    if by_rack:
        racks = [(site.columns, site.nodes) for site in site_columns]
        first = two_racks(kinds, racks, params, token)
        together = kinds.pairs(first) + kinds.pairs(kinds.sizes - first)
        bonus = np.asarray(bonus_step // step * together, dtype=np.int64)
        farthest = int(problem.distance[CLUSTER])
    else:
        first = all_in_one(kinds.sizes)
        bonus = np.zeros(1, dtype=np.int64)
        farthest = int(problem.distance[RACK])
    return TermMaster(
        places=places,
        columns=columns,
        sites=site_columns,
        first=first,
        bonus=bonus,
        base=parts.get("network", 0) * farthest * all_pairs,
        step=step,
    )


def _placement(model: ConfigurationModel, configurations: dict[int, tuple[int, ...]]) -> Placement:
    """Assign the tasks of each kind to the workers of the nodes' configurations."""
    type_of = {n: t for t, kind in enumerate(model.types) for n in kind.nodes}
    workers = {
        node: _workers(
            model.kinds,
            model.configurations[type_of[node]].packings,
            np.array(counts, dtype=np.int64),
        )
        for node, counts in configurations.items()
    }
    return deal(model.problem, model.kinds, workers)


def _workers(kinds: TaskTypes, packings: Mapping[int, Packing], counts: IntArray) -> list[IntArray]:
    """Return the configurations [K] of the workers of a node that holds `counts`."""
    workers = []
    for t in sorted(set(kinds.topology[counts > 0].tolist())):
        if t not in packings:
            workers.append(counts * (kinds.topology == t))
            continue
        for configuration in packings[t].workers(counts):
            worker = np.zeros_like(counts)
            worker[packings[t].columns] = configuration
            workers.append(worker)
    return workers
