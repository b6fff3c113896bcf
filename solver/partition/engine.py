"""Engine ``partition``: balanced graph partition by column generation with exact pricing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import lp_solver
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.partition.closing import Closing
from slotwise.solver.partition.frontier import Frontier, good_order, make_frontier
from slotwise.solver.partition.model import Partition, make_partition, why_no_partition
from slotwise.solver.partition.params import PARTITION_DEFAULTS, PartitionParams
from slotwise.solver.partition.pricing import Pricing

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
    if (units + 1) * states > params.max_cells or (
        units and most_units < min(units, params.min_units)
    ):
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
