"""Engine ``partition``: balanced graph partition by column generation with exact pricing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import ResidualParams
from slotwise.solver.column_generation.rack_splits import all_in_one
from slotwise.solver.column_generation.residual_search import (
    MasterSolution,
    SearchState,
    SiteColumns,
    TooLongError,
)
from slotwise.solver.column_generation.restricted_master import lp_solver
from slotwise.solver.column_generation.split_search import SplitSearch
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.parameters import Parameters
from slotwise.solver.partition.frontier import Frontier, good_order, make_frontier
from slotwise.solver.partition.model import Partition, make_partition, why_no_partition
from slotwise.solver.partition.pricing import PartDuals, Pricing

RESIDUAL_DEFAULTS = ResidualParams()


@dataclass(frozen=True, slots=True)
class PartitionParams(Parameters):
    """Of engine ``partition``.

    Parameters
    ----------
    max_classes
        Classes of tasks; a problem with more is not taken.
    max_cells
        Entries of the tables, eight bytes each; larger capacities are counted in coarser units.
    max_parts
        Parts within the gap; with more it is not closed.
    smoothing_fraction
        Weight of the duals of the best bound against those of the restricted master.
    residual
        Of the search that closes the gap.
    """

    max_classes: int = 400
    max_cells: int = 40_000_000
    max_parts: int = 200_000
    smoothing_fraction: float = 0.7
    residual: ResidualParams = RESIDUAL_DEFAULTS


PARTITION_DEFAULTS = PartitionParams()


NAME = "partition"
KIND = "lp over parts"
"""What the bounds are."""

PROOF = "parts priced by dynamic programming along a vertex order, gap closed by search"


@dataclass(slots=True, eq=False)
class _PartitionSearch:
    """One run: `inside` is the flow that no placement holds more of inside its parts."""

    model: Partition
    best: Incumbent
    inside: int

    def offer(self, parts: Sequence[IntArray]) -> None:
        """Keep the placement of the parts [K] if it is better."""
        placement = self.model.placement(parts)
        if placement is not None:
            self.best.offer(placement)

    def tell(self, inside: int, *, by_solver: bool = False) -> None:
        """Tell that no placement has more flow inside than `inside`."""
        self.inside = min(self.inside, max(0, inside))
        bounds = [0] * len(self.model.problem.terms)
        bounds[self.model.term] = self.model.farthest - self.model.saving * self.inside
        self.best.prove(bounds, KIND, by_solver=by_solver)


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: PartitionParams = PARTITION_DEFAULTS,
) -> Outcome:
    """Price parts until the bound is that of the relaxation, then close the gap."""
    reason = supports(problem, params)
    if reason is not None:
        raise NotTakenError(reason)
    best = Incumbent(problem, reporter or null_reporter(problem, NAME), KIND)
    token = best.reporter.token
    deadline = token.now() + limits.time_s
    if hint is not None:
        best.offer(hint)
    try:
        model = make_partition(problem, token)
        search = _PartitionSearch(model, best, model.all_flow)
        if not _solve(search, params, limits, token.child(deadline)):
            best.prove_infeasible()
    except CancelledError:
        best.interrupted = token.is_cancelled
    except TooLongError:
        pass  # what is proven by then stands in `best`
    if best.infeasible:
        return best.outcome("no parts hold all tasks")
    return best.outcome(PROOF if best.bounds else "")


def _solve(
    search: _PartitionSearch, params: PartitionParams, limits: Limits, token: RunToken
) -> bool:
    """Return whether there is a placement at all."""
    model = search.model
    if not model.most.all():
        return False
    frontier = _frontier(model, params, limits.seed, token)
    pricing = Pricing(model, frontier, params.smoothing_fraction)
    inside = -1
    if search.best.placement is not None:
        parts = _parts_of(model, search.best.placement)
        inside = int(model.kinds.pairs(parts).sum())
        pricing.add(parts)
    try:
        pricing.run()
    finally:
        search.tell(pricing.bound)
    assert pricing.best is not None, "pricing ended"
    closing = Closing(model, frontier, params, limits, search.offer, pricing.bound, inside)
    columns = pricing.columns()
    closing.among(columns[model.admits(columns)])
    try:
        closing.run(pricing.best)
    finally:
        search.best.by_solver |= closing.by_solver
        search.tell(closing.bound, by_solver=closing.by_solver)
    return closing.bound >= 0


def _frontier(model: Partition, params: PartitionParams, seed: int, token: RunToken) -> Frontier:
    """Return the layers, in units so coarse that their tables keep to `max_cells`."""
    order, states = good_order(model.kinds.flow, model.most, params.max_cells, seed, token)
    if math.isinf(states):
        raise NotTakenError("every order of its tasks leaves too many with flow to later ones")
    most_units = int(params.max_cells // states) - 1
    weights, units = model.knapsack(max(1, most_units))
    if (units + 1) * states > params.max_cells:
        raise NotTakenError(f"{states:.2g} states along the best order of its tasks")
    return make_frontier(order, model.kinds.flow, model.most, weights, units, token)


def _parts_of(model: Partition, placement: Placement) -> IntArray:
    """Return [N, K] the tasks of each kind on each node."""
    parts = np.zeros((model.problem.node_count, model.kinds.count), dtype=np.int64)
    for k, group in enumerate(model.kinds.members):
        for c in group:
            for task in model.problem.classes[c].tasks:
                parts[placement.nodes[task], k] += 1
    return parts


def supports(problem: Problem, params: PartitionParams = PARTITION_DEFAULTS) -> str | None:
    """Return ``None``, or why the engine does not take the problem."""
    if len(problem.classes) > params.max_classes:
        return f"{len(problem.classes):,} classes of tasks, more than {params.max_classes:,}"
    return why_no_partition(problem)


def _engine(params: PartitionParams) -> Engine:
    return Engine(
        name=NAME,
        run=partial(run, params=params),
        supports=partial(supports, params=params),
        version=lp_solver,
    )


PARTITION = configurable(_engine, PARTITION_DEFAULTS)


# Closing the gap: a search among all parts whose reduced cost fits it, wider and wider.

GROWTH = 4
"""Of the gap, from one search to the next."""


@dataclass(slots=True, eq=False)
class Closing:
    """The search; `best` and `bound` can be read whenever it stops.

    Parameters
    ----------
    best, bound
        Flow inside of the incumbent (-1 = none), and what no solution holds more of. Where `bound`
        falls below 0 there is no solution.
    by_solver
        Whether `bound` rests on CP-SAT's word.
    on_best
        Called with the parts [K] of each better solution.
    """

    model: Partition
    frontier: Frontier
    params: PartitionParams
    limits: Limits
    on_best: Callable[[list[IntArray]], None]
    bound: int
    best: int = -1
    by_solver: bool = False

    def among(self, parts: IntArray) -> None:
        """Look for a better solution among these parts [Y, K]; proves nothing."""
        try:
            self._solve(parts, self.best + 1)
        except TooLongError:
            return

    def run(self, duals: PartDuals) -> None:
        """Search until incumbent and bound meet.

        Raises
        ------
        TooLongError
            When the search grows too large; `bound` is what is proven.
        """
        step = 1
        while self.best < self.bound:
            self.frontier.token.check()
            least = max(self.best + 1, self.bound + 1 - step)
            state = self._solve(self._parts(duals, least), least)
            self.by_solver |= state.by_solver
            self.bound = least - 1 if state.best is None else max(least - 1, state.best.value)
            step *= GROWTH

    def _parts(self, duals: PartDuals, least: int) -> IntArray:
        """Return [Y, K] the parts that a solution with this much flow inside can have."""
        gap = duals.total(self.model) - least * duals.scale
        parts = self.frontier.parts_within(
            duals.tables, duals.scale, duals.pi, duals.sigma - gap, self.params.max_parts
        )
        parts = parts[self.model.admits(parts)]
        if not self.model.ample:
            return parts
        return parts[are_connected(self.model.kinds.flow, parts, self.frontier.token)]

    def _solve(self, parts: IntArray, least: int) -> SearchState:
        """Return the best solution made of these parts that holds `least` or more, if any."""
        kinds = self.model.kinds
        counts = np.concatenate([np.zeros((1, kinds.count), dtype=np.int64), parts])
        column = TypeColumns(counts, np.asarray(kinds.pairs(counts)))
        places = self.model.problem.task_count if self.model.ample else self.model.parts
        state = SearchState(best=MasterSolution(least - 1, ()))
        SplitSearch(
            (SiteColumns((column,), (places,)),),
            all_in_one(kinds.sizes),
            kinds.sizes,
            np.zeros(1, dtype=np.int64),
            self.frontier.token.deadline,
            state,
            self._take,
            self.limits,
            self.params.residual,
            self.frontier.token,
        ).run()
        return state

    def _take(self, solution: MasterSolution) -> None:
        if solution.value > self.best:
            self.best = solution.value
            self.on_best([np.array(counts) for _, counts in solution.configurations[0]])


def are_connected(flow: IntArray, parts: IntArray, token: CancellationToken) -> BoolArray:
    """Return [Y]: whether flows [K, K] connect the kinds present in each part [Y, K].

    Tasks of one kind have no flow to each other: several of them alone are not connected.
    """
    present = parts > 0
    near = (flow > 0).astype(np.float32)
    reached = np.zeros_like(present)
    reached[np.arange(len(parts)), present.argmax(axis=1)] = True
    while True:
        token.check()
        wider = present & (reached | ((reached.astype(np.float32) @ near) > 0))
        if (wider == reached).all():
            break
        reached = wider
    alone = (present.sum(axis=1) == 1) & (parts.sum(axis=1) > 1)
    return np.asarray((reached == present).all(axis=1) & ~alone)
