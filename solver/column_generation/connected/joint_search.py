"""What joint duals prove: a bound by the units of all tasks, and the search in the gap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancelledError
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.column_generation.connected.content_pricing import (
    ALL_IN_WORKERS,
    ContentPricing,
)
from slotwise.solver.column_generation.connected.count_prices import find_count_prices
from slotwise.solver.column_generation.connected.gap_search import GapSearch
from slotwise.solver.column_generation.connected.joint_duals import (
    JointDuals,
    find_joint_duals,
)
from slotwise.solver.column_generation.connected.level import (
    Level,
    LoadBound,
    ProvenDuals,
    make_load_bound,
)
from slotwise.solver.column_generation.connected.place_model import PlaceModel
from slotwise.solver.column_generation.connected.worker_bounds import WorkerBounds
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import FloatArray, RestrictedMaster
from slotwise.solver.compact import run_cp_sat
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits
from slotwise.solver.structure.task_types import TaskTypes


@dataclass(frozen=True, slots=True, eq=False)
class JointLevels:
    """Nodes with their workers.

    Parameters
    ----------
    pricing, duals
        Of contents, and proven.
    load_bound
        The best one known at these duals.
    sizes
        [K] number of tasks.
    by_tables
        What the load bound of the tables alone adds up to.
    """

    pricing: ContentPricing
    duals: JointDuals
    load_bound: LoadBound
    sizes: IntArray
    by_tables: int

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
        slots, penalty = places.most_workers, 1 + -(-a // b)
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
    load_bound = load_bound_at(pricing, duals.pi, deadline)
    return JointLevels(pricing, duals, load_bound, sizes, load_bound.total)


def by_counts(joint: JointLevels, deadline: float) -> JointLevels:
    """Replace the duals by prices of counts, as far as they are found until the deadline."""
    pricing = joint.pricing
    duals = find_count_prices(pricing, joint.duals, deadline, pricing.params)
    load_bound = load_bound_at(pricing, duals.pi, deadline)
    levels = JointLevels(pricing, duals, load_bound, joint.sizes, load_bound.total)
    return levels if levels.saved <= joint.saved else joint


def by_loads(joint: JointLevels, enough: int, deadline: float) -> JointLevels:
    """Raise the load bound by the contents that solutions of more than `enough` may have.

    These are listed, and the flow inside their workers bounded by best splits. The levels stay as
    they were where the contents are too many.
    """
    pricing, load = joint.pricing, joint.load_bound
    room = pricing.total(joint.duals.pi) - (enough + 1) * pricing.scale - load.min_of_others
    if room < 0:
        return joint  # nothing saves more
    pricing.splits = True
    if pricing.workers is not None:
        pricing.workers.deadline = deadline
    try:
        rows = pricing.below(joint.duals.pi, room, pricing.params.max_candidates, deadline)
    except TooLongError:
        return joint
    costs = pricing.reduced_costs(joint.duals.pi, rows)
    return replace(joint, load_bound=load.with_listed(rows, costs, room))


def load_bound_at(pricing: ContentPricing, duals: IntArray, deadline: float) -> LoadBound:
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
    pricing, columns = joint.pricing, joint.duals.columns
    gap = pricing.scale
    while gap <= pricing.most:
        try:
            rows = pricing.below(joint.duals.pi, gap, pricing.params.max_candidates, deadline)
        except TooLongError:
            return columns
        columns = np.concatenate([joint.duals.columns, rows[:most]])
        if len(rows) >= most:
            return columns
        gap *= 2
    return columns


def joint_search(joint: JointLevels) -> GapSearch:
    """Return the search among contents whose reduced cost fits the gap.

    Contents are worth at most what the bounds of their workers say, so what is found is a bound;
    the judge decides whether it is a placement's value.
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

    search = GapSearch(
        joint.sizes,
        pricing.scale,
        pricing.total(duals),
        load_bound.total,
        columns,
        params.residual,
        pricing.token,
    )
    search.refine = pricing.split_each
    return search


# Placements from the columns of joint duals: a dive in the linear program, then CP-SAT.
#
# The dive fixes the contents that the linear program uses most, cuts all columns down to the
# tasks that are left, and solves again. CP-SAT then combines the columns and those of the dive at
# best. Both use no more nodes of a size than there are.

WHOLE = 1e-6
"""What is nearer to a whole number counts as one."""


def roundings(
    joint: JointLevels, places: PlaceModel, deadline: float, limits: Limits
) -> Iterator[list[IntArray]]:
    """Yield contents [K] that add up to all tasks, better ones later; the dive takes no time."""
    sizes = node_sizes(places.problem, places.kinds)
    columns = sizes.with_smaller(joint.duals.columns)
    rounded = dive(joint.pricing, sizes, columns)
    if rounded is not None:
        yield rounded
    now = joint.pricing.token.now()
    near = near_columns(joint, joint.pricing.params.max_near, (now + deadline) / 2)
    columns = np.unique(np.concatenate([columns, near]), axis=0)
    left = replace(limits, time_s=max(deadline - joint.pricing.token.now(), 0.0))
    combined = best_combination(joint.pricing, sizes, columns, rounded or [], left)
    if combined is not None:
        yield combined


def dive(pricing: ContentPricing, sizes: NodeSizes, columns: IntArray) -> list[IntArray] | None:
    """Return contents [K] that add up to all tasks; ``None`` where large nodes run out."""
    left, nodes = pricing.graphs[0].sizes.copy(), sizes.counts.copy()
    chosen: list[IntArray] = []
    while left.any():
        pricing.token.check()
        columns = np.unique(np.minimum(columns, left), axis=0)
        columns = columns[columns.any(axis=1)]
        used = _solution(pricing, sizes, columns, left, nodes)
        if used is None:
            return None
        times = np.floor(used + WHOLE).astype(np.int64)
        if not times.any():
            times[int(np.argmax(used * (columns.sum(axis=1) > 1) + WHOLE * used))] = 1
        for row in np.flatnonzero(times).tolist():
            count = min(int(times[row]), _times_within(columns[row], left))
            chosen += [columns[row]] * count
            left = left - count * columns[row]
            nodes = nodes - count * sizes.entries(columns[row][None, :])[0]
    return chosen


def _solution(
    pricing: ContentPricing, sizes: NodeSizes, columns: IntArray, left: IntArray, nodes: IntArray
) -> FloatArray | None:
    """Return how often each column is used in the optimum of what remains, if any."""
    lp = RestrictedMaster(maximize=True)
    lp.add_rows(left.tolist())
    lp.add_rows(np.maximum(nodes, 0).tolist(), limit=True)
    entries = np.concatenate([columns, sizes.entries(columns)], axis=1)
    lp.add_columns(pricing.values(columns) / pricing.scale, entries)
    lp.duals()
    used = lp.solution()
    return used if np.allclose(used @ entries[:, : len(left)], left, atol=1e-4) else None


def _times_within(content: IntArray, left: IntArray) -> int:
    present = content > 0
    return int((left[present] // content[present]).min())


def best_combination(
    pricing: ContentPricing,
    sizes: NodeSizes,
    columns: IntArray,
    start: list[IntArray],
    limits: Limits,
) -> list[IntArray] | None:
    """Return the best combination of columns [Y, K] found in the time; ``None`` if none was.

    `start` is a combination to begin with, its contents included.
    """
    columns = np.unique(np.concatenate([columns, *(row[None, :] for row in start)]), axis=0)
    values = pricing.values(columns) // pricing.scale
    tasks = pricing.graphs[0].sizes
    begin = {row.tobytes(): 0 for row in columns}
    for row in start:
        begin[row.tobytes()] += 1
    model = cp_model.CpModel()
    numbers = []
    for row in columns:
        number = model.new_int_var(0, _times_within(row, tasks), "")
        model.add_hint(number, begin[row.tobytes()])
        numbers.append(number)
    for k, size in enumerate(tasks.tolist()):
        rows = np.flatnonzero(columns[:, k]).tolist()
        model.add(sum(int(columns[y, k]) * numbers[y] for y in rows) == size)
    needs = sizes.entries(columns)
    for t, count in enumerate(sizes.counts.tolist()):
        model.add(sum(numbers[y] for y in np.flatnonzero(needs[:, t]).tolist()) <= count)
    model.maximize(sum(int(value) * n for value, n in zip(values, numbers, strict=True)))
    run = run_cp_sat(model, replace(limits, workers=1), pricing.token)
    if run.interrupted:
        raise CancelledError
    if not run.has_solution:
        return None
    return [
        row for row, n in zip(columns, numbers, strict=True) for _ in range(run.solver.value(n))
    ]


# The sizes of the nodes there are, for rounding: columns are priced on the largest one.

MAX_SHRUNK = 400
"""Most columns that are cut down to smaller nodes."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeSizes:
    """Sizes of nodes, each at most the one before in everything.

    Parameters
    ----------
    kinds
        What they hold.
    capacity
        [T, D] of a node.
    counts
        [T - 1] how many nodes there are of each size but the last and all before it. All together
        do not limit: contents of few tasks share nodes.
    """

    kinds: TaskTypes
    capacity: IntArray
    counts: IntArray

    def smallest(self, contents: IntArray) -> IntArray:
        """Return [Y] the last size that holds each content [Y, K]; -1 where none does."""
        demand = contents @ self.kinds.demand
        fits = (demand[:, None, :] <= self.capacity[None, :, :]).all(axis=2)
        return np.asarray(fits.sum(axis=1) - 1)  # sizes are nested, so the first ones fit

    def entries(self, contents: IntArray) -> BoolArray:
        """Return [Y, T - 1] whether a content needs one of the first sizes, up to each."""
        return np.asarray(self.smallest(contents)[:, None] <= np.arange(len(self.counts)))

    def with_smaller(self, contents: IntArray) -> IntArray:
        """Return the contents that fit, and each cut down to every smaller size."""
        batches = [contents[self.smallest(contents) >= 0]]
        for content in contents[:MAX_SHRUNK]:
            for capacity in self.capacity:
                content = self._shrunk(content, capacity)
                batches.append(content[None, :])
        rows = np.unique(np.concatenate(batches), axis=0)
        return np.asarray(rows[rows.any(axis=1)])

    def _shrunk(self, content: IntArray, capacity: IntArray) -> IntArray:
        """Return the content without the tasks that lose the least flow for what they take."""
        demand, content = self.kinds.demand, content.copy()
        while (over := content @ demand - capacity).max(initial=0) > 0:
            takes = (demand * (over > 0) / np.maximum(capacity, 1)).sum(axis=1)
            loss = (self.kinds.flow @ content + 1) / np.maximum(takes, 1e-9)
            loss[(content == 0) | (takes == 0)] = np.inf
            k = int(np.argmin(loss))
            more = int(over[demand[k] > 0].max()) // max(int(demand[k].max()), 1)
            content[k] -= max(1, min(int(content[k]), more) // 2)
        return content


def node_sizes(problem: Problem, kinds: TaskTypes) -> NodeSizes:
    """Return the sizes of the rack that offers most, or of all nodes where it is too small.

    Sizes that are not nested in those before are left out.
    """
    share = problem.capacity.max(axis=0).clip(1).astype(np.float64)
    size = (problem.capacity / share).sum(axis=1)
    racks = [np.flatnonzero(problem.node_rack == rack) for rack in range(len(problem.racks))]
    nodes = max(racks, key=lambda some: float(size[some].sum()))
    needed = (kinds.sizes @ kinds.demand).astype(np.float64)
    if (problem.capacity[nodes].astype(np.float64).sum(axis=0) < needed).any():
        nodes = np.arange(problem.node_count)
    sizes, counts = np.unique(problem.capacity[nodes], axis=0, return_counts=True)
    chain: list[IntArray] = []
    many: list[int] = []
    for row in np.argsort(-(sizes / share).sum(axis=1), kind="stable").tolist():
        if not chain or (sizes[row] <= chain[-1]).all():
            chain.append(sizes[row])
            many.append(int(counts[row]) + (many[-1] if many else 0))
    return NodeSizes(kinds, np.array(chain), np.array(many[:-1], dtype=np.int64))
