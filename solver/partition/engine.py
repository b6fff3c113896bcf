"""Engine ``partition``: balanced graph partition by column generation with exact pricing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.ctrl_c import is_stop_requested, until
from slotwise.solver.core.engine import Engine, NotTakenError
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.partition.closing import Closing
from slotwise.solver.partition.frontier import Frontier, make_frontier
from slotwise.solver.partition.model import Partition, make_partition, why_no_partition
from slotwise.solver.partition.params import PARTITION_DEFAULTS, PartitionParams
from slotwise.solver.partition.pricing import Pricing
from slotwise.solver.partition.vertex_order import good_order

NAME = "partition"
KIND = "lp over parts"
"""What the bounds are."""

PROOF = "parts priced by dynamic programming along a vertex order, gap closed by search"


@dataclass(slots=True, eq=False)
class _PartitionSearch:
    """What one run knows: the incumbent is in `reporter`, the most flow inside in `inside`."""

    model: Partition
    reporter: Reporter
    inside: int
    by_solver: bool = False

    def offer(self, parts: Sequence[IntArray]) -> None:
        """Keep the placement of the parts [K] if it is better."""
        placement = self.model.placement(parts)
        if placement is not None:
            self.reporter.offer(placement)

    def tell(self, inside: int, *, by_solver: bool = False) -> None:
        """Tell that no placement has more flow inside than `inside` (0 or more)."""
        self.inside = min(self.inside, max(0, inside))
        self.by_solver |= by_solver
        bounds = [0] * len(self.model.problem.terms)
        bounds[self.model.term] = self.model.farthest - self.model.saving * self.inside
        self.reporter.prove(bounds, KIND, by_solver=self.by_solver)


def run(
    problem: Problem,
    limits: Limits,
    hint: Placement | None,
    reporter: Reporter | None = None,
    params: PartitionParams = PARTITION_DEFAULTS,
) -> Outcome:
    """Price parts until the bound is that of the relaxation, then close the gap."""
    reason = why_no_partition(problem)
    if reason is not None:
        raise NotTakenError(reason)
    deadline = time.perf_counter() + limits.time_s
    known = SolveState(
        problem, on_best=lambda placement: reporter.offer(placement) if reporter else None
    )
    if hint is not None:
        known.offer(hint, "hint")
    search = _PartitionSearch(make_partition(problem), Reporter(known, NAME), 0)
    search.inside = search.model.all_flow
    infeasible, interrupted = False, False
    try:
        with until(deadline):
            infeasible = not _solve(search, params, limits, deadline)
    except KeyboardInterrupt:
        interrupted = is_stop_requested() or time.perf_counter() < deadline
    except TooLongError:
        pass
    known.trust.check()
    if infeasible:
        nothing = (None,) * len(problem.terms)
        proof = "no parts hold all tasks"
        return Outcome(
            Status.INFEASIBLE, None, None, nothing, proof, by_solver=search.by_solver
        )
    if reporter is not None:
        reporter.prove(known.bounds, KIND, by_solver=search.by_solver)
    proof = PROOF if any(bound is not None for bound in known.bounds) else ""
    outcome = known.outcome(proof, interrupted=interrupted)
    return replace(outcome, bound_kind=KIND, by_solver=search.by_solver)


def _solve(
    search: _PartitionSearch, params: PartitionParams, limits: Limits, deadline: float
) -> bool:
    """Return whether there is a placement at all."""
    model = search.model
    if not model.most.all():
        return False
    frontier = _frontier(model, params, limits.seed)
    pricing = Pricing(model, frontier, params.smoothing)
    incumbent = search.reporter.best()
    inside = -1
    if incumbent is not None:
        parts = _parts_of(model, incumbent)
        inside = int(model.kinds.pairs(parts).sum())
        pricing.add(parts)
    try:
        pricing.run()
    finally:
        search.tell(pricing.bound)
    closing = Closing(
        model, frontier, params, limits, deadline, search.offer, pricing.bound, inside
    )
    columns = pricing.columns()
    closing.among(columns[model.admits(columns)])
    assert pricing.best is not None, "pricing ended"
    try:
        closing.run(pricing.best)
    finally:
        search.tell(closing.bound, by_solver=closing.by_solver)
    return closing.bound >= 0


def _frontier(model: Partition, params: PartitionParams, seed: int) -> Frontier:
    """Return the layers, in units so coarse that their tables keep to `max_cells`."""
    order, states = good_order(model.kinds.flow, model.most, seed)
    most_units = int(params.max_cells // states) - 1
    weights, units = model.knapsack(max(1, most_units))
    if (units + 1) * states > params.max_cells or (
        units and most_units < min(units, params.min_units)
    ):
        raise NotTakenError(f"{states:.2g} states along the best order of its tasks")
    return make_frontier(order, model.kinds.flow, model.most, weights, units)


def _parts_of(model: Partition, placement: Placement) -> IntArray:
    """Return [N, K] the tasks of each kind on each node."""
    parts = np.zeros((model.problem.node_count, model.kinds.count), dtype=np.int64)
    for k, group in enumerate(model.kinds.members):
        for c in group:
            for task in model.problem.classes[c].tasks:
                parts[placement.nodes[task], k] += 1
    return parts


def partition_with(params: PartitionParams) -> Engine:
    """Return the engine with these parameters."""
    return Engine(
        name=NAME,
        run=partial(run, params=params),
        supports=why_no_partition,
        version=lambda: f"highspy {version('highspy')}",
    )


PARTITION = partition_with(PARTITION_DEFAULTS)
