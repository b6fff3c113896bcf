"""What joint duals prove: a bound by the units of all tasks, and the search in the gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.gap_search import GapSearch
from slotwise.solver.column_generation.connected.joint.content_pricing import (
    ALL_IN_WORKERS,
    ContentPricing,
)
from slotwise.solver.column_generation.connected.joint.count_prices import find_count_prices
from slotwise.solver.column_generation.connected.joint.joint_duals import (
    JointDuals,
    find_joint_duals,
)
from slotwise.solver.column_generation.connected.joint.node_sizes import node_sizes
from slotwise.solver.column_generation.connected.joint.worker_bounds import WorkerBounds
from slotwise.solver.column_generation.connected.level import Level, LoadBound, make_load_bound
from slotwise.solver.column_generation.connected.place_model import PlaceModel
from slotwise.solver.column_generation.connected.pricing import ProvenDuals
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.memory import RunToken


@dataclass(frozen=True, slots=True, eq=False)
class JointLevels:
    """Nodes with their workers: pricing, proven duals, and the load bound at these."""

    pricing: ContentPricing
    duals: JointDuals
    load_bound: LoadBound
    sizes: IntArray

    @property
    def saved(self) -> int:
        """What no placement saves more than."""
        total = self.pricing.total(self.duals.pi) - self.load_bound.total
        return total // self.pricing.scale


def make_joint_levels(
    places: PlaceModel,
    nodes: Level,
    workers: Level | None,
    deadline: float,
    params: ConnectedParams,
    token: RunToken,
) -> JointLevels:
    """Find joint duals from the duals of nodes and of workers until the deadline."""
    scale, a, b = nodes.duals.scale, places.node_saving, places.worker_saving
    bounds, proven = None, a * nodes.duals.pi
    if workers is not None and b:
        slots = int(places.problem.slots.max())
        penalty = 1 + -(-a // b)
        bounds = WorkerBounds(
            workers.graph, scale, workers.duals.pi, slots, penalty, deadline, token
        )
        proven = proven + b * workers.duals.pi
    pricing = ContentPricing(places.nodes, scale, a, b, bounds, params, token)
    sizes = places.kinds.sizes
    together = (a + b) * nodes.duals.pi
    if bounds is not None and int(together @ sizes) < int(proven @ sizes):
        proven, pricing.cut = together, ALL_IN_WORKERS
    start = node_sizes(places.problem, places.kinds).with_smaller(nodes.duals.configurations)
    duals = find_joint_duals(pricing, proven, start, deadline, params)
    load_bound = _load_bound(pricing, duals.pi, deadline)
    return JointLevels(pricing, duals, load_bound, sizes)


def by_counts(joint: JointLevels, deadline: float) -> JointLevels:
    """Replace the duals by prices of counts, as far as they are found until the deadline."""
    pricing = joint.pricing
    duals = find_count_prices(pricing, joint.duals, deadline, pricing.params)
    load_bound = _load_bound(pricing, duals.pi, deadline)
    found = JointLevels(pricing, duals, load_bound, joint.sizes)
    return found if found.saved <= joint.saved else joint


def _load_bound(pricing: ContentPricing, duals: IntArray, deadline: float) -> LoadBound:
    """Return the load bound by the table in use: its reduced costs are at most the true ones."""
    graph = pricing.graphs[pricing.graph]
    if pricing.workers is not None and pricing.cut > 0 and pricing.workers.tau[pricing.cut]:
        pricing.cut = 0  # cuts without a constant keep reduced costs of small contents tight
    scale, shifted, _ = pricing.table(duals)
    proven = ProvenDuals(scale, shifted, graph.sizes[None, :])
    steps = pricing.steps(duals)
    return make_load_bound(graph, proven, pricing.token, deadline, pricing.params, steps)


def near_columns(joint: JointLevels, most: int, deadline: float) -> IntArray:
    """Return [Y, K] the columns found and about `most` more contents of least reduced cost."""
    pricing, found = joint.pricing, joint.duals.columns
    gap = pricing.scale
    while gap <= pricing.most:
        try:
            rows = pricing.below(joint.duals.pi, gap, pricing.params.max_candidates, deadline)
        except TooLongError:
            return found
        found = np.concatenate([joint.duals.columns, rows[:most]])
        if len(rows) >= most:
            return found
        gap *= 2
    return found


def joint_search(joint: JointLevels) -> GapSearch:
    """Return the search among contents whose reduced cost fits the gap.

    Contents are worth at most what the bounds of their workers say, so what is found is a bound;
    it is a placement's value where the judge says so.
    """
    pricing, load_bound = joint.pricing, joint.load_bound
    duals, params = joint.duals.pi, pricing.params

    def columns(gap: int, deadline: float) -> TypeColumns:
        room = gap - load_bound.min_of_others
        rows = pricing.below(duals, room, params.max_partial, deadline)
        if pricing.workers is not None:
            pricing.workers.deadline = deadline
            for row in rows[: params.max_tightened]:
                pricing.workers.tighten(row)
        costs = pricing.reduced_costs(duals, rows) + load_bound.of_others(rows)
        counts = np.concatenate([np.zeros((1, rows.shape[1]), dtype=np.int64), rows[costs <= gap]])
        return TypeColumns(counts, pricing.values(counts) // pricing.scale)

    return GapSearch(
        joint.sizes,
        pricing.scale,
        pricing.total(duals),
        load_bound.total,
        columns,
        params.residual,
        pricing.token,
    )
