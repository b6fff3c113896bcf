"""What the engine ``connected`` takes: topologies whose cost comes from nodes and workers alone.

No flow connects two topologies, so a connected configuration is of one. They share the room of
nodes, never a worker.

What workers count together (a least cpu, shared memory) and what keeps tasks apart in them is
checked of each configuration that is listed; the tables know one additive rule. Soft capacities
bind where overload comes first: all bounds after it hold for placements without overload. Where
network comes first they do not bind.

Places are taken to be as large as the largest, and all in one rack: a relaxation, so bounds hold;
where the configurations fit into one real rack, values do too. The cost is ``far * pairs - a * N -
b * W`` with N the flow inside nodes and W that inside workers, and each of them is bounded at duals
of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import NODE, RACK, WORKER, BoolArray, IntArray, Problem, Rules
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import (
    least_load,
    within_node_caps,
)
from slotwise.solver.column_generation.connected.graph import Admits, FlowGraph, make_flow_graph
from slotwise.solver.column_generation.connected.worker_rules import (
    WorkerRule,
    find_worker_rules,
    in_common_units,
)
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
        The problem, with the capacities that bind (`binding`), and its kinds.
    topologies
        The kinds and the rules of each topology.
    rules
        What a node counts.
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
        [K] most tasks of a kind in a worker where each kind has workers of its own; ``None``
        elsewhere.
    most_workers
        Of a node, by its slots and what each worker counts at least.
    """

    problem: Problem
    kinds: TaskTypes
    topologies: tuple[TopologyKinds, ...]
    rules: NodeRules
    nodes: tuple[FlowGraph, ...]
    node_saving: int
    workers: FlowGraph | None
    worker_saving: int
    per_worker: IntArray | None
    most_workers: int

    @property
    def farthest(self) -> int:
        """Cost of the flow of all pairs at the distance of two nodes of a rack."""
        return int(self.problem.distance[RACK]) * int(self.kinds.pairs(self.kinds.sizes))

    def by_topology(self, configuration: IntArray) -> list[IntArray]:
        """Return the configurations [K] of the topologies of which there is a task."""
        parts = []
        for one in self.topologies:
            if configuration[one.at].any():
                parts.append(np.zeros_like(configuration))
                parts[-1][one.at] = configuration[one.at]
        return parts


@dataclass(frozen=True, slots=True, eq=False)
class TopologyKinds:
    """The kinds of one topology.

    Parameters
    ----------
    topology, rules
        Its index in the problem, and its rules.
    at
        Where its kinds are among all.
    kinds
        They alone.
    alone
        [K] most tasks of a kind in a worker, if alone there; 0 where none fits.
    """

    topology: int
    rules: Rules
    at: slice
    kinds: TaskTypes
    alone: IntArray


def kinds_by_topology(problem: Problem, kinds: TaskTypes) -> tuple[TopologyKinds, ...]:
    """Return the kinds of each topology with tasks; those of all are in order of topologies."""
    topologies = []
    for topology in np.unique(kinds.topology).tolist():
        first, last = np.flatnonzero(kinds.topology == topology)[[0, -1]].tolist()
        at = slice(first, last + 1)
        assert (kinds.topology[at] == topology).all(), "classes are in order of topologies"
        mine = TaskTypes(
            members=kinds.members[at],
            sizes=kinds.sizes[at],
            topology=kinds.topology[at],
            demand=kinds.demand[at],
            flow=kinds.flow[at, at],
        )
        rules = problem.rules[topology]
        alone = _per_worker(problem, mine, rules)
        topologies.append(TopologyKinds(topology, rules, at, mine, alone))
    return tuple(topologies)


def dual_scale(problem: Problem) -> int:
    """Return the finest grid of duals on which no sum leaves `MAX_BITS`; 0 where there is none.

    No configuration and no solution has more flow inside than that of all pairs. A proven dual is
    at most twice that, and all tasks that many times as much; levels weigh it with their savings.
    """
    saving = max(1, int(problem.distance[RACK] - problem.distance[WORKER]))
    largest = 2 * (problem.task_count + 2) * saving * max(1, problem.total_flow())
    bits = MAX_BITS - largest.bit_length()
    return 1 << min(FINEST_BITS, bits) if bits >= 0 else 0


RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "shared_memory",
        "worker_min_cpu",
        "soft",
    }
)
"""Rules that keep a part of a configuration valid where the whole is."""


@declares(RULES, ("network", "overload", "linear"))
def why_not_connected(problem: Problem) -> str | None:
    """Return ``None``, or what keeps the problem from being one of connected configurations."""
    if problem.matrix is not None:
        return "distances come as a matrix"
    if not only_network_counts(problem):
        return "the objective counts more than network and overload"
    if problem.linear is not None:
        return "linear costs depend on the node"
    if problem.move_limit != NO_LIMIT:
        return "the moves of running tasks are limited"
    if not dual_scale(problem):
        return "the flows are too large for duals of 64 bits"
    if overload_leads(problem) and (_needed(problem) > offered(problem.capacity)).any():
        return "overload comes first and is never 0: nothing follows for the network"
    return None


def overload_leads(problem: Problem) -> bool:
    """Return whether the first term is overload alone."""
    return all(part == "overload" for part, _ in problem.terms[0].parts)


def _needed(problem: Problem) -> IntArray:
    """Return [D] what all tasks take of soft resources; 0 of others."""
    needed = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    return np.asarray(np.where(problem.hard, 0, needed))


def offered(capacity: IntArray) -> IntArray:
    """Return [D] what nodes of capacity [N, D] offer; `NO_LIMIT` where one offers without limit."""
    unlimited = (capacity >= NO_LIMIT).any(axis=0)
    return np.asarray(np.where(unlimited, NO_LIMIT, np.where(unlimited, 0, capacity).sum(axis=0)))


def has_own_workers(problem: Problem, one: TopologyKinds) -> bool:
    """Return whether its workers hold tasks of one kind, at most a number that is known."""
    if one.rules.one_task_per_worker:
        return True
    components, _ = components_of(problem, one.kinds)
    return (
        one.rules.one_component_per_worker
        and len(components) == one.kinds.count
        and all(a == b for a, b in one.rules.incompatible)
        and not _shared_on_heap(problem, one.kinds)
    )


def _shared_on_heap(problem: Problem, kinds: TaskTypes) -> list[tuple[int, BoolArray]]:
    """Return size and kinds [K] of each region on the heap that some of the kinds share."""
    regions = [
        (region.size, kinds.among(region.classes))
        for region in problem.regions
        if region.kind == "onheap"
    ]
    return [(size, members) for size, members in regions if members.any()]


def binding(problem: Problem) -> Problem:
    """Return the problem with the capacities that no placement of interest exceeds.

    Soft ones are among them where overload is the first term, and it alone: what is proven of the
    terms after it holds for placements whose overload equals its bound, 0.
    """
    binds = problem.hard | overload_leads(problem)
    return replace(problem, capacity=np.where(binds, problem.capacity, NO_LIMIT))


def make_place_model(
    problem: Problem, token: CancellationToken, params: ConnectedParams = CONNECTED_DEFAULTS
) -> PlaceModel:
    """Return the problem as kinds on places; `why_not_connected` must have returned ``None``."""
    problem = binding(problem)
    kinds = merge_twins(problem, token)
    topologies = kinds_by_topology(problem, kinds)
    single = all(has_single_workers(problem, one.topology) for one in topologies)
    isolated = not single and all(has_own_workers(problem, one) for one in topologies)
    alone = np.concatenate([one.alone for one in topologies])
    rules = NodeRules(problem, topologies, isolated=isolated)
    most_workers = _most_workers(problem)
    split = not single and not isolated
    distance = problem.distance
    return PlaceModel(
        problem=problem,
        kinds=kinds,
        topologies=topologies,
        rules=rules,
        nodes=_nodes(problem, kinds, rules, alone, most_workers, params, token),
        node_saving=int(distance[RACK] - distance[WORKER if single else NODE]),
        workers=_workers(problem, kinds, topologies, params, token) if split else None,
        worker_saving=int(distance[NODE] - distance[WORKER]) if split else 0,
        per_worker=alone if isolated else None,
        most_workers=most_workers,
    )


def _most_workers(problem: Problem) -> int:
    """Return the most workers that a node has slots, cpu and tasks for."""
    most = problem.slots
    if problem.cpu is not None and problem.min_worker_cpu:
        most = np.minimum(most, problem.capacity[:, problem.cpu] // problem.min_worker_cpu)
    return min(int(most.max()), problem.task_count)


def _nodes(
    problem: Problem,
    kinds: TaskTypes,
    rules: NodeRules,
    alone: IntArray,
    most_workers: int,
    params: ConnectedParams,
    token: CancellationToken,
) -> tuple[FlowGraph, ...]:
    capacity = problem.capacity.max(axis=0)
    most = most_on_nodes(problem, kinds).max(axis=1)
    most = np.minimum(most, alone * most_workers)

    def admits(counts: IntArray) -> BoolArray:
        load, workers = rules.load(counts)
        mask = (
            (load <= capacity).all(axis=1)
            & (counts <= most).all(axis=1)
            & (workers <= most_workers)
        )
        return np.asarray(mask & within_node_caps(problem, kinds, counts))

    most = np.where(admits(np.eye(kinds.count, dtype=np.int64)), most, 0)
    additive = [
        (kinds.demand[:, d], int(capacity[d]))
        for d in range(len(problem.dims))
        if capacity[d] < NO_LIMIT and kinds.demand[:, d].any()
    ]
    additive += rules.slot_rules(most_workers)
    tasks = int(kinds.sizes.sum())
    additive.append((np.ones(kinds.count, dtype=np.int64), tasks))
    filled = [int(kinds.sizes @ weights) / max(units, 1) for weights, units in additive]
    return tuple(
        make_flow_graph(
            kinds.sizes, kinds.flow, *coarse(*rule, params.max_units), most, admits, token, params
        )
        for rule, share in zip(additive, filled, strict=True)
        if share >= params.tightest_fraction * max(filled)
    )


class NodeRules:
    """What the configuration of a node loads, and how many workers it needs: at least these.

    Parameters
    ----------
    problem, topologies
        As of `PlaceModel`.
    isolated
        Whether each kind has workers of its own: then both are exact, workers are as few and as
        equal as they can be.
    """

    def __init__(
        self, problem: Problem, topologies: Sequence[TopologyKinds], *, isolated: bool
    ) -> None:
        self._parts = [
            (one.at, _TopologyRules(problem, one, isolated=isolated)) for one in topologies
        ]

    def load(self, counts: IntArray) -> tuple[IntArray, IntArray]:
        """Return [Y, D] the load of nodes of counts [Y, K], and [Y] their workers."""
        parts = [rules.load(counts[:, at]) for at, rules in self._parts]
        loads, workers = zip(*parts, strict=True)
        return np.asarray(sum(loads)), np.asarray(sum(workers))

    def slot_rules(self, slots: int) -> list[tuple[IntArray, int]]:
        """Return the additive rule on a node of that many workers: weights [K], and a capacity.

        It is the one by which all tasks need most workers, if there is one.
        """
        rules = [rules.worker_rule() for _, rules in self._parts]
        if all(not rule.weights.any() for rule in rules):
            return []
        weights, most = in_common_units(rules)
        return [(weights, slots * most)]


class _TopologyRules:
    """What the tasks of one topology load on a node, and how many workers they need."""

    def __init__(self, problem: Problem, one: TopologyKinds, *, isolated: bool) -> None:
        self._problem = problem
        self._kinds = one.kinds
        self._per_worker = one.alone if isolated else None
        self._rules = one.rules
        self._heap = heap_of(problem, one.kinds)
        self._shared = find_worker_rules(
            self._heap, one.rules.heap_limit, one.alone, one.kinds.sizes
        )
        self._components, self._in_component = components_of(problem, one.kinds)
        self._cliques = _cliques(self._components.tolist(), one.rules)

    def load(self, counts: IntArray) -> tuple[IntArray, IntArray]:
        """Return [Y, D] the load of counts [Y, K], and [Y] their workers."""
        problem, workers = self._problem, self._workers(counts)
        load, least = least_load(problem, self._kinds, counts), problem.min_worker_cpu
        if problem.cpu is not None and least:
            cpu = load[:, problem.cpu]
            if self._per_worker is not None:
                of_task = self._kinds.demand[:, problem.cpu]
                cpu = _cpu_of_own_workers(of_task, self._per_worker, least, counts)
            load[:, problem.cpu] = np.maximum(cpu, least * workers)
        return load, workers

    def worker_rule(self) -> WorkerRule:
        """Return the additive rule on a worker by which all tasks need most workers.

        Its weights are 0 where there is none.
        """
        if self._per_worker is not None:
            return _rule_of_own_workers(self._kinds, self._per_worker)
        return (self._shared or [WorkerRule(np.zeros_like(self._heap), NO_LIMIT)])[-1]

    def _workers(self, counts: IntArray) -> IntArray:
        """Return [Y] the least workers: by the heap, and of components that are all kept apart."""
        if self._per_worker is not None:
            return worker_counts(counts, self._per_worker)
        least = counts.any(axis=1).astype(np.int64)
        for rule in self._shared:
            least = np.maximum(least, rule.workers(counts))
        if not self._cliques:
            return np.asarray(least)
        rules, heap = self._rules, counts * self._heap
        tasks = counts @ self._in_component
        own = np.maximum(_times(heap @ self._in_component, rules.heap_limit), tasks > 0)
        alone = [(c, c) in rules.conflicts for c in self._components.tolist()]
        own = np.where(alone, tasks, own)
        for clique in self._cliques:
            least = np.maximum(least, own[:, clique].sum(axis=1))
        return np.asarray(least)


def _times(heap: IntArray, limit: int) -> IntArray:
    """Return how many workers of a limit hold memory on the heap at least; 0 without a limit."""
    if limit in (0, NO_LIMIT):
        return np.zeros_like(heap)
    return np.asarray(-(-heap // limit))


MOST_CLIQUES = 16
"""Of components that share no worker pairwise; the largest are kept."""


def _cliques(components: Sequence[int], rules: Rules) -> list[list[int]]:
    """Return sets of `components`, by position, no two of which share a worker."""
    if not rules.isolates:
        return []
    apart: nx.Graph[int] = nx.Graph()
    apart.add_nodes_from(range(len(components)))
    apart.add_edges_from(
        (a, b)
        for (a, first), (b, second) in itertools.combinations(enumerate(components), 2)
        if rules.keeps_apart(first, second)
    )
    cliques = itertools.islice(nx.find_cliques(apart), MOST_CLIQUES**2)
    return sorted(map(sorted, cliques), key=lambda clique: (-len(clique), clique))[:MOST_CLIQUES]


def components_of(problem: Problem, kinds: TaskTypes) -> tuple[IntArray, IntArray]:
    """Return [C] the components of the kinds, and [K, C] 1 where a kind is of a component."""
    of_kind = np.array([problem.classes[group[0]].component for group in kinds.members])
    components = np.unique(of_kind)
    return components, (of_kind[:, None] == components).astype(np.int64)


def _cpu_of_own_workers(
    cpu: IntArray, per_worker: IntArray, least: int, counts: IntArray
) -> IntArray:
    """Return [Y] what nodes count where each kind is dealt evenly to as few workers as it can."""
    needed = np.maximum(-(-counts // np.maximum(per_worker, 1)), 1)
    share, remainder = counts // needed, counts % needed
    billed = (needed - remainder) * np.maximum(cpu * share, least * (share > 0))
    return np.asarray((billed + remainder * np.maximum(cpu * (share + 1), least)).sum(axis=1))


def heap_of(problem: Problem, kinds: TaskTypes) -> IntArray:
    """Return [K] the memory on the heap of a task of each kind."""
    return np.array([problem.heap[group[0]] for group in kinds.members], dtype=np.int64)


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
    topologies: Sequence[TopologyKinds],
    params: ConnectedParams,
    token: CancellationToken,
) -> FlowGraph:
    rules = [_within_worker(problem, one) for one in topologies]
    most = np.concatenate([most for most, _ in rules])

    def admits(counts: IntArray) -> BoolArray:
        mask = (counts <= most).all(axis=1)
        present = np.zeros(len(counts), dtype=np.int64)
        for one, (_, keeps) in zip(topologies, rules, strict=True):
            mask &= keeps(counts[:, one.at])
            present += counts[:, one.at].any(axis=1)
        return np.asarray(mask & (present <= 1))

    most = np.where(admits(np.eye(kinds.count, dtype=np.int64)), most, 0)
    heap = [WorkerRule(heap_of(problem, one.kinds), one.rules.heap_limit) for one in topologies]
    units = coarse(*in_common_units(heap), params.max_units)
    return make_flow_graph(kinds.sizes, kinds.flow, *units, most, admits, token, params)


def _within_worker(problem: Problem, one: TopologyKinds) -> tuple[IntArray, Admits]:
    """Return [K] most tasks of each kind in a worker, and whether a worker holds counts [Y, K]."""
    kinds, limit = one.kinds, one.rules.heap_limit
    heap = heap_of(problem, kinds)
    most = np.ones_like(kinds.sizes) if one.rules.one_task_per_worker else kinds.sizes.copy()
    for k in np.flatnonzero(heap).tolist():
        most[k] = min(int(most[k]), limit // int(heap[k]))
    kept_apart = _kept_apart(problem, kinds, one.rules)
    regions = _shared_on_heap(problem, kinds)

    def admits(counts: IntArray) -> BoolArray:
        load = counts @ heap
        for size, members in regions:
            load = load + size * counts[:, members].any(axis=1)
        return np.asarray((load <= limit) & kept_apart(counts))

    return most, admits


def _kept_apart(problem: Problem, kinds: TaskTypes, rules: Rules) -> Admits:
    """Return whether workers with counts [Y, K] hold no two tasks that rules keep apart."""
    components, in_component = components_of(problem, kinds)
    column = {component: at for at, component in enumerate(components.tolist())}
    pairs = [(column[a], column[b]) for a, b in rules.incompatible if {a, b} <= {*column}]

    def kept_apart(counts: IntArray) -> BoolArray:
        tasks = counts @ in_component
        mask = np.ones(len(counts), dtype=np.bool_)
        if rules.one_task_per_worker:
            mask &= tasks.sum(axis=1) <= 1
        elif rules.one_component_per_worker:
            mask &= (tasks > 0).sum(axis=1) <= 1
        for a, b in pairs:
            mask &= tasks[:, a] <= 1 if a == b else (tasks[:, a] == 0) | (tasks[:, b] == 0)
        return mask

    return kept_apart


def worker_counts(counts: IntArray, per_worker: IntArray) -> IntArray:
    """Return [Y] the workers of configurations [Y, K] if each kind has workers of its own."""
    needed = -(-counts // np.maximum(per_worker, 1))
    return np.asarray(needed.sum(axis=1))


def _per_worker(problem: Problem, kinds: TaskTypes, rules: Rules) -> IntArray:
    """Return [K] the most tasks of a kind in a worker of its own; 0 where none fits."""
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
    distinct, times = np.unique(weights[weights > 0], return_counts=True)
    sample = distinct[
        np.linspace(0, len(distinct) - 1, min(len(distinct), WHOLE_WEIGHTS)).astype(np.int64)
    ]
    best = 0.0, most, capacity
    for whole in sample.tolist():
        units = np.arange(1, most * whole // capacity + 1)
        unit = units[:, None] / whole
        rounded = np.floor(distinct * unit + 1e-9) / (distinct * unit) @ times
        tightness = rounded * capacity * units / whole / np.maximum(capacity * units // whole, 1)
        if len(units) and tightness.max() > best[0]:
            chosen = int(tightness.argmax())
            best = float(tightness[chosen]), chosen + 1, whole
    _, number, whole = best
    rounded_weights = [weight * number // whole for weight in weights.tolist()]
    return np.array(rounded_weights, dtype=np.int64), capacity * number // whole


def _rule_of_own_workers(kinds: TaskTypes, per_worker: IntArray) -> WorkerRule:
    """Return the rule on workers that hold one kind each.

    y tasks need at least y / per_worker workers, and one worker if the kind has one task only.
    """
    shares = [
        1 if size == 1 else max(1, int(most))
        for size, most in zip(kinds.sizes.tolist(), per_worker.tolist(), strict=True)
    ]
    unit = math.lcm(*shares)
    return WorkerRule(np.array([unit // share for share in shares], dtype=np.int64), unit)
