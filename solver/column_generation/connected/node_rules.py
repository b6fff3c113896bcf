"""What the tasks of each topology count on a node, and what its workers hold.

What workers count together (a least cpu, shared memory) and what keeps tasks apart in them is
checked of each configuration that is listed; the tables of `tree_knapsack` know one additive rule
(`worker_rules`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem, Rules
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import least_load
from slotwise.solver.column_generation.connected.graph import Admits
from slotwise.solver.column_generation.connected.worker_rules import (
    LARGEST_UNITS,
    WorkerRule,
    find_worker_rules,
    in_common_units,
)
from slotwise.solver.structure.task_types import TaskTypes


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


def _cpu_of_own_workers(
    cpu: IntArray, per_worker: IntArray, least: int, counts: IntArray
) -> IntArray:
    """Return [Y] what nodes count where each kind is dealt evenly to as few workers as it can."""
    needed = np.maximum(-(-counts // np.maximum(per_worker, 1)), 1)
    share, remainder = counts // needed, counts % needed
    billed = (needed - remainder) * np.maximum(cpu * share, least * (share > 0))
    return np.asarray((billed + remainder * np.maximum(cpu * (share + 1), least)).sum(axis=1))


def _rule_of_own_workers(kinds: TaskTypes, per_worker: IntArray) -> WorkerRule:
    """Return the rule on workers that hold one kind each.

    y tasks need at least y / per_worker workers, and one worker if the kind has one task only.
    Where the common units would be too fine, weights are rounded down, which keeps the rule valid.
    """
    shares = [
        1 if size == 1 else max(1, int(most))
        for size, most in zip(kinds.sizes.tolist(), per_worker.tolist(), strict=True)
    ]
    unit = min(math.lcm(*shares), LARGEST_UNITS)
    return WorkerRule(np.array([unit // share for share in shares], dtype=np.int64), unit)


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


def within_worker(problem: Problem, one: TopologyKinds) -> tuple[IntArray, Admits]:
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


def _shared_on_heap(problem: Problem, kinds: TaskTypes) -> list[tuple[int, BoolArray]]:
    """Return size and kinds [K] of each region on the heap that some of the kinds share."""
    regions = [
        (region.size, kinds.among(region.classes))
        for region in problem.regions
        if region.kind == "onheap"
    ]
    return [(size, members) for size, members in regions if members.any()]


def components_of(problem: Problem, kinds: TaskTypes) -> tuple[IntArray, IntArray]:
    """Return [C] the components of the kinds, and [K, C] 1 where a kind is of a component."""
    of_kind = np.array([problem.classes[group[0]].component for group in kinds.members])
    components = np.unique(of_kind)
    return components, (of_kind[:, None] == components).astype(np.int64)


def heap_of(problem: Problem, kinds: TaskTypes) -> IntArray:
    """Return [K] the memory on the heap of a task of each kind."""
    return np.array([problem.heap[group[0]] for group in kinds.members], dtype=np.int64)
