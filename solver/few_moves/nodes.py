"""Changes of one node: those of its workers, and of fresh ones, merged; its rules and its costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import NODE, RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.solver.column_generation.configurations.enumeration import within_node_caps
from slotwise.solver.column_generation.worker_packing.worker_costs import shared_and_heap
from slotwise.solver.core.memory import RunToken
from slotwise.solver.few_moves.changes import Changes, Merger, best_of
from slotwise.solver.structure.dominance import lexicographic_rank
from slotwise.solver.structure.task_types import TaskTypes, flow_inside
from slotwise.solver.structure.worker_layout import home_labels, keeps_apart

WORKERS, CPU, MEMORY, NETWORK = range(4)
"""Costs of a worker: itself; cpu and memory beyond what its tasks need; minus the flow inside."""


def worker_changes(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    held: IntArray,
    most: int,
    token: RunToken,
) -> Changes:
    """Return the changes of a worker that holds `held` [K] of its topology now.

    A fresh worker holds nothing. Those that break a rule of the worker are left out.
    """
    own = np.flatnonzero(kinds.topology == topology)
    net = np.zeros((1, len(own)), dtype=np.int64)
    for column, kind in enumerate(own.tolist()):
        token.check()
        least = -min(most, int(held[kind]))
        largest = min(most, int(kinds.sizes[kind] - held[kind]))
        steps = np.arange(least, largest + 1)
        used = np.abs(net).sum(axis=1)[:, None] + np.abs(steps)[None, :]
        row, step = np.nonzero(used <= most)
        net = net[row]
        net[:, column] = steps[step]
    counts = held[own][None, :] + net
    costs, allowed = _costs(problem, kinds, topology, own, counts)
    whole = np.zeros((len(net), kinds.count), dtype=np.int64)
    whole[:, own] = net
    moves = np.maximum(-net, 0).sum(axis=1)
    return Changes(whole[allowed], moves[allowed], costs[allowed])


def _costs(
    problem: Problem, kinds: TaskTypes, topology: int, own: IntArray, counts: IntArray
) -> tuple[IntArray, BoolArray]:
    """Return [S, 4] costs of workers that hold `counts` [S, k], and which keep their rules."""
    rules = problem.rules[topology]
    firsts = [kinds.members[k][0] for k in own.tolist()]
    used = counts.any(axis=1)
    costs = np.zeros((len(counts), 4), dtype=np.int64)
    costs[:, WORKERS] = used
    costs[:, NETWORK] = -flow_inside(kinds.flow[np.ix_(own, own)], counts)
    costs[:, MEMORY], heap = shared_and_heap(problem, topology, firsts, counts)
    if problem.cpu is not None:
        cpu = counts @ problem.demand[firsts, problem.cpu]
        costs[:, CPU] = used * np.maximum(problem.min_worker_cpu - cpu, 0)
    allowed = heap <= rules.heap_limit
    component = [problem.classes[c].component for c in firsts]
    for a in range(len(firsts)):
        if rules.keeps_apart(component[a], component[a]):
            allowed &= counts[:, a] <= 1
        for b in range(a):
            if rules.keeps_apart(component[a], component[b]):
                allowed &= (counts[:, a] == 0) | (counts[:, b] == 0)
    return costs, np.asarray(allowed, dtype=np.bool_)


Worker = tuple[int, int | None]
"""Topology and label; ``None`` = a fresh worker."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What runs now: [K] by home, (topology, node, label), and by node [N, K]."""

    workers: dict[tuple[int, int, int], IntArray]
    nodes: IntArray


def held_now(problem: Problem, kinds: TaskTypes) -> Held:
    """Return what each home and each node holds now."""
    workers: dict[tuple[int, int, int], IntArray] = {}
    nodes = np.zeros((problem.node_count, kinds.count), dtype=np.int64)
    for kind, group in enumerate(kinds.members):
        for c in group:
            one = problem.classes[c]
            assert one.home is not None, "the engine takes no others"
            key = (one.topology, *one.home)
            empty = np.zeros(kinds.count, dtype=np.int64)
            workers.setdefault(key, empty)[kind] += one.size
            nodes[one.home[0], kind] += one.size
    return Held(workers, nodes)


class NodeChanges:
    """Makes the changes of nodes; `worker_of` says whose each part of them is."""

    def __init__(self, problem: Problem, kinds: TaskTypes, held: Held, merger: Merger) -> None:
        self._problem, self._kinds, self._held, self._merger = problem, kinds, held, merger
        self._fresh: dict[int, Changes] = {}
        self.worker_of: dict[int, Worker] = {}

    def of(self, node: int) -> Changes:
        """Return the changes of a node that keep its rules; costs: the terms, as they add up."""
        problem, found = self._problem, self._nothing()
        for t, rules in enumerate(problem.rules):
            if rules.classes:
                found = self._with_topology(found, t, node)
        counts = self._held.nodes[node][None, :] + found.net
        load = self._load(counts, found.costs)
        fits = ((load <= problem.capacity[node]) | ~problem.hard).all(axis=1)
        fits &= found.costs[:, WORKERS] <= problem.slots[node]
        fits &= within_node_caps(problem, self._kinds, counts)
        terms = self._terms(node, counts, load, found.costs)
        kept = np.flatnonzero(fits)
        found = found.with_costs(terms).where(kept)
        return best_of(found, lexicographic_rank(found.costs))

    def _nothing(self) -> Changes:
        net = np.zeros((1, self._kinds.count), dtype=np.int64)
        return Changes(net, np.zeros(1, dtype=np.int64), np.zeros((1, 4), dtype=np.int64))

    def _with_topology(self, found: Changes, topology: int, node: int) -> Changes:
        """Return the changes with those of the workers of one more topology."""
        fresh = self._fresh_worker(topology)
        most = self._merger.most if keeps_apart(self._problem, topology) else 1
        for _ in range(min(most, int(self._problem.slots[node]))):
            found = self._merged(found, fresh)
        for label in home_labels(self._problem, topology).get(node, ()):
            held = self._held.workers[topology, node, label]
            own = self._worker(topology, label, held)
            found = self._merged(found, own)
        return found

    def _fresh_worker(self, topology: int) -> Changes:
        if topology not in self._fresh:
            nothing = np.zeros(self._kinds.count, dtype=np.int64)
            self._fresh[topology] = self._worker(topology, None, nothing)
        return self._fresh[topology]

    def _worker(self, topology: int, label: int | None, held: IntArray) -> Changes:
        merger = self._merger
        made = worker_changes(self._problem, self._kinds, topology, held, merger.most, merger.token)
        self.worker_of[id(made)] = (topology, label)
        return made

    def _merged(self, one: Changes, other: Changes) -> Changes:
        made = self._merger.merged(one, other)
        return best_of(made, self._criteria(made.costs))

    def _criteria(self, costs: IntArray) -> IntArray:
        """Return what decides between changes of a part of a node: room, then the terms."""
        problem = self._problem
        matters = {
            WORKERS: bool((problem.slots < problem.task_count).any()),
            CPU: problem.min_worker_cpu > 0,
            MEMORY: bool(problem.regions),
        }
        room = costs[:, [cost for cost, counts in matters.items() if counts]]
        parts = {"network": self._in_worker * costs[:, NETWORK], "workers": costs[:, WORKERS]}
        return np.concatenate([room, lexicographic_rank(self._sums(parts, len(costs)))], axis=1)

    @property
    def _in_worker(self) -> int:
        return int(self._problem.distance[NODE] - self._problem.distance[WORKER])

    def _sums(self, parts: dict[str, IntArray], rows: int) -> IntArray:
        """Return [S, T] the terms, with the parts that are given."""
        nothing = np.zeros(rows, dtype=np.int64)
        terms = [
            sum((m * parts.get(part, nothing) for part, m in term.parts), start=nothing)
            for term in self._problem.terms
        ]
        return np.stack(terms, axis=1)

    def _load(self, counts: IntArray, costs: IntArray) -> IntArray:
        problem, kinds = self._problem, self._kinds
        load = counts @ kinds.demand
        if problem.cpu is not None:
            load[:, problem.cpu] += costs[:, CPU]
        if problem.memory is not None:
            load[:, problem.memory] += costs[:, MEMORY]
        firsts = [group[0] for group in kinds.members]
        for region in problem.regions:
            if region.kind == "offheap_node":
                users = np.isin(firsts, region.classes)
                load[:, problem.memory] += region.size * (counts[:, users] > 0).any(axis=1)
        return np.asarray(load)

    def _terms(self, node: int, counts: IntArray, load: IntArray, costs: IntArray) -> IntArray:
        """Return [S, T] the terms, as far as one node says: network against all in one rack."""
        problem, kinds = self._problem, self._kinds
        on_node = int(problem.distance[RACK] - problem.distance[NODE])
        linear = np.zeros(len(counts), dtype=np.int64)
        if problem.linear is not None:
            firsts = [group[0] for group in kinds.members]
            linear = counts @ problem.linear[firsts, node]
        over = np.maximum(load - problem.capacity[node], 0)
        parts = {
            "overload": over @ problem.soft_weight,
            "network": self._in_worker * costs[:, NETWORK] - on_node * kinds.pairs(counts),
            "nodes": (costs[:, WORKERS] > 0).astype(np.int64),
            "workers": costs[:, WORKERS],
            "linear": linear,
        }
        return self._sums(parts, len(counts))
