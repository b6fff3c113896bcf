"""What the engine ``connected`` takes: one topology whose cost comes from nodes and workers alone.

Places are taken to be as large as the largest, and all in one rack: a relaxation, so bounds hold;
where the configurations fit into one real rack, values do too. The cost is ``far * pairs - a * N -
b * W`` with N the flow inside nodes and W that inside workers, and each of them is bounded at duals
of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import NODE, RACK, WORKER, BoolArray, IntArray, Problem, Rules
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import within_node_caps
from slotwise.solver.column_generation.connected.graph import FlowGraph, make_flow_graph
from slotwise.solver.column_generation.params import CONNECTED_DEFAULTS, ConnectedParams
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.structure.node_types import has_single_workers
from slotwise.solver.structure.separability import only_network_counts
from slotwise.solver.structure.task_types import TaskTypes, merge_twins

WHOLE_WEIGHTS = 16
"""So many weights are tried as a whole number of units."""

FINEST_BITS, MAX_BITS = 20, 59
"""Bits of the finest grid of duals, and of the largest sum: far below `NEG_INF`."""


@dataclass(frozen=True, slots=True, eq=False)
class PlaceModel:
    """A problem as kinds on nodes and, where that matters, in workers.

    Parameters
    ----------
    problem, kinds
        The problem and its kinds.
    nodes
        The kinds on a node as large as the largest, by each rule that fills many nodes: every one
        of these graphs bounds what nodes hold.
    node_saving
        What a unit of flow inside a node saves against one between nodes of a rack; inside its
        single worker where that is all there is.
    workers, worker_saving
        The kinds in a worker, and what a unit of flow inside it saves against one in its node;
        ``None`` and 0 where workers make no difference.
    per_worker
        [K] most tasks of a kind in a worker where each component has workers of its own; ``None``
        elsewhere.
    """

    problem: Problem
    kinds: TaskTypes
    nodes: tuple[FlowGraph, ...]
    node_saving: int
    workers: FlowGraph | None
    worker_saving: int
    per_worker: IntArray | None

    @property
    def farthest(self) -> int:
        """Cost of the flow of all pairs at the distance of two nodes of a rack."""
        return int(self.problem.distance[RACK]) * int(self.kinds.pairs(self.kinds.sizes))


def dual_scale(problem: Problem) -> int:
    """Return the finest grid of duals on which no sum leaves `MAX_BITS`; 0 where there is none.

    No configuration and no solution has more flow inside than that of all pairs. A proven dual is
    at most twice that, and all tasks so many times as much; levels weigh it with their savings.
    """
    pairs = sum(
        weight * problem.sizes[a] * problem.sizes[b]
        for (a, b), weight in problem.pair_flows().items()
    )
    saving = max(1, int(problem.distance[RACK] - problem.distance[WORKER]))
    largest = 2 * (problem.task_count + 2) * saving * max(1, pairs)
    bits = MAX_BITS - largest.bit_length()
    return 1 << min(FINEST_BITS, bits) if bits >= 0 else 0


RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
    }
)
"""Rules of one topology whose loads add up."""


@declares(RULES, ("network", "overload", "linear"))
def why_not_connected(problem: Problem) -> str | None:
    """Return ``None``, or what keeps the problem from being one of connected configurations."""
    topologies = [t for t, rules in enumerate(problem.rules) if rules.classes]
    if problem.matrix is not None:
        return "distances come as a matrix"
    if not only_network_counts(problem):
        return "the objective counts more than network and overload"
    if len(topologies) != 1:
        return "there is not exactly one topology with tasks"
    if not problem.hard.all():
        return "a resource is soft"
    if problem.regions or problem.min_worker_cpu or problem.linear is not None:
        return "shared memory, a least cpu of workers or linear costs are not additive"
    if problem.move_limit != NO_LIMIT:
        return "the moves of running tasks are limited"
    if not dual_scale(problem):
        return "the flows are too large for duals of 64 bits"
    rules = problem.rules[topologies[0]]
    if has_single_workers(problem, topologies[0]):
        return None
    if rules.one_component_per_worker:
        return _why_not_isolated(problem, rules)
    return "components are incompatible" if rules.incompatible else None


def _why_not_isolated(problem: Problem, rules: Rules) -> str | None:
    """Return ``None`` where each component has one kind of tasks."""
    if any(a != b for a, b in rules.incompatible):
        return "components are incompatible"
    kinds = merge_twins(problem, CancellationToken())
    components = [problem.classes[group[0]].component for group in kinds.members]
    return None if len(set(components)) == len(components) else "tasks of a component differ"


def make_place_model(
    problem: Problem, token: CancellationToken, params: ConnectedParams = CONNECTED_DEFAULTS
) -> PlaceModel:
    """Return the problem as kinds on places; `why_not_connected` must have said ``None``."""
    kinds = merge_twins(problem, token)
    topology = next(t for t, rules in enumerate(problem.rules) if rules.classes)
    single = has_single_workers(problem, topology)
    isolated = not single and problem.rules[topology].one_component_per_worker
    per_worker = _per_worker(problem, kinds, topology) if isolated else None
    split = not single and not isolated
    distance = problem.distance
    return PlaceModel(
        problem=problem,
        kinds=kinds,
        nodes=_nodes(problem, kinds, per_worker, params, token),
        node_saving=int(distance[RACK] - distance[WORKER if single else NODE]),
        workers=_workers(problem, kinds, topology, params, token) if split else None,
        worker_saving=int(distance[NODE] - distance[WORKER]) if split else 0,
        per_worker=per_worker,
    )


def _nodes(
    problem: Problem,
    kinds: TaskTypes,
    per_worker: IntArray | None,
    params: ConnectedParams,
    token: CancellationToken,
) -> tuple[FlowGraph, ...]:
    capacity, slots = problem.capacity.max(axis=0), int(problem.slots.max())
    most = most_on_nodes(problem, kinds).max(axis=1)
    if per_worker is not None:
        most = np.minimum(most, per_worker * min(problem.task_count, slots))

    def admits(counts: IntArray) -> BoolArray:
        kept = (counts @ kinds.demand <= capacity).all(axis=1) & (counts <= most).all(axis=1)
        if per_worker is not None:
            kept &= worker_counts(counts, per_worker) <= slots
        return np.asarray(kept & within_node_caps(problem, kinds, counts))

    rules = [
        (kinds.demand[:, d], int(capacity[d]))
        for d in range(len(problem.dims))
        if capacity[d] < NO_LIMIT and kinds.demand[:, d].any()
    ]
    if per_worker is not None and slots < NO_LIMIT:
        rules.append(_slot_rule(kinds, per_worker, slots))
    tasks = int(kinds.sizes.sum())
    rules.append((np.ones(kinds.count, dtype=np.int64), tasks))
    filled = [int(kinds.sizes @ weights) / max(units, 1) for weights, units in rules]
    return tuple(
        make_flow_graph(
            kinds.sizes, kinds.flow, *coarse(*rule, params.max_units), most, admits, token, params
        )
        for rule, share in zip(rules, filled, strict=True)
        if share >= params.tightest_fraction * max(filled)
    )


def most_on_nodes(problem: Problem, kinds: TaskTypes) -> IntArray:
    """Return [K, N] the most tasks of each kind that each node holds, if alone there."""
    most = np.empty((kinds.count, problem.node_count), dtype=np.int64)
    for k in range(kinds.count):
        needs = kinds.demand[k] > 0
        fits = problem.capacity[:, needs] // kinds.demand[k][needs]
        most[k] = fits.min(axis=1, initial=int(kinds.sizes[k]))
    return np.where(problem.slots > 0, most, 0)


def _workers(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    params: ConnectedParams,
    token: CancellationToken,
) -> FlowGraph:
    heap = np.array([problem.heap[group[0]] for group in kinds.members], dtype=np.int64)
    limit = problem.rules[topology].heap_limit
    most = kinds.sizes.copy()
    for k in np.flatnonzero(heap).tolist():
        most[k] = min(int(most[k]), limit // int(heap[k]))

    def admits(counts: IntArray) -> BoolArray:
        return np.asarray((counts @ heap <= limit) & (counts <= most).all(axis=1))

    units = coarse(heap, limit, params.max_units)
    return make_flow_graph(kinds.sizes, kinds.flow, *units, most, admits, token, params)


def worker_counts(counts: IntArray, per_worker: IntArray) -> IntArray:
    """Return [Y] the workers of configurations [Y, K] if each kind has workers of its own."""
    needed = -(-counts // np.maximum(per_worker, 1))
    return np.asarray(needed.sum(axis=1))


def _per_worker(problem: Problem, kinds: TaskTypes, topology: int) -> IntArray:
    """Return [K] the most tasks of a kind in a worker of its own; 0 where none fits."""
    rules = problem.rules[topology]
    most = []
    for group, size in zip(kinds.members, kinds.sizes.tolist(), strict=True):
        heap, component = int(problem.heap[group[0]]), problem.classes[group[0]].component
        fits = size if not heap or rules.heap_limit == NO_LIMIT else rules.heap_limit // heap
        alone = rules.one_task_per_worker or (component, component) in rules.incompatible
        most.append(min(fits, 1 if alone else size))
    return np.array(most, dtype=np.int64)


def coarse(weights: IntArray, capacity: int, most: int) -> tuple[IntArray, int]:
    """Return a rule in at most `most` units: what keeps the rule keeps it rounded down.

    With any t > 0, ``weights.y <= capacity`` gives ``floor(t weights).y <= floor(t capacity)``.
    Where t < 1 is needed it is chosen such that some weight becomes whole and the weights lose
    least against the capacity.
    """
    divisor = math.gcd(*weights.tolist()) or 1
    weights, capacity = weights // divisor, capacity // divisor
    if capacity <= most:
        return weights, capacity
    kept, times = np.unique(weights[weights > 0], return_counts=True)
    sample = kept[np.linspace(0, len(kept) - 1, min(len(kept), WHOLE_WEIGHTS)).astype(np.int64)]
    best = 0.0, most, capacity
    for whole in sample.tolist():
        units = np.arange(1, most * whole // capacity + 1)
        unit = units[:, None] / whole
        rounded = np.floor(kept * unit + 1e-9) / (kept * unit) @ times
        tightness = rounded * capacity * units / whole / np.maximum(capacity * units // whole, 1)
        if len(units) and tightness.max() > best[0]:
            chosen = int(tightness.argmax())
            best = float(tightness[chosen]), chosen + 1, whole
    _, number, whole = best
    made = [weight * number // whole for weight in weights.tolist()]
    return np.array(made, dtype=np.int64), capacity * number // whole


def _slot_rule(kinds: TaskTypes, per_worker: IntArray, slots: int) -> tuple[IntArray, int]:
    """Return the rule that the workers of a node take at most its slots.

    y tasks need at least y / per_worker workers, and one worker if the kind has one task only.
    """
    shares = [
        1 if size == 1 else max(1, int(most))
        for size, most in zip(kinds.sizes.tolist(), per_worker.tolist(), strict=True)
    ]
    unit = math.lcm(*shares)
    return np.array([unit // share for share in shares], dtype=np.int64), unit * slots
