"""Problems on equal places among which no distance matters: what the engine ``pieces`` takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slotwise.models.numbers import NO_LIMIT
from slotwise.models.placement import UNPLACED, Placement
from slotwise.models.problem import CLUSTER, NODE, RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.solver.kinds import Kinds, merge_twins
from slotwise.solver.node_types import node_types
from slotwise.solver.piece_graph import PieceGraph, piece_graph
from slotwise.solver.worker_layout import has_single_workers

ADDITIVE_PARTS = frozenset(("overload", "network"))
MOST_UNITS = 2_000
"""Units of a place in the tables; finer demands are rounded down, which keeps a bound one."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatPlaces:
    """A problem as kinds on equal nodes.

    Parameters
    ----------
    problem, kinds
        The problem and its kinds.
    graph
        The kinds on one node.
    per_worker
        [K] most tasks of a kind in a worker where workers are isolated by component; ``None``
        where one worker per node is enough.
    near, far
        Distance of two tasks on one node, and on two.
    """

    problem: Problem
    kinds: Kinds
    graph: PieceGraph
    per_worker: IntArray | None
    near: int
    far: int

    def placement(self, contents: list[IntArray]) -> Placement:
        """Return the placement with these contents [K] on the first nodes."""
        nodes = [UNPLACED] * self.problem.task_count
        labels = [UNPLACED] * self.problem.task_count
        waiting = [
            iter([task for c in group for task in self.problem.classes[c].tasks])
            for group in self.kinds.members
        ]
        for node, content in enumerate(contents):
            label = 0
            for k, count in enumerate(content.tolist()):
                for i in range(count):
                    if self.per_worker is not None and i and i % int(self.per_worker[k]) == 0:
                        label += 1
                    task = next(waiting[k])
                    nodes[task], labels[task] = node, label
                if self.per_worker is not None and count:
                    label += 1
        return Placement(tuple(nodes), tuple(labels))


def why_not_flat(problem: Problem) -> str | None:
    """Return ``None``, or what keeps the problem from being one of equal places."""
    topologies = [t for t, rules in enumerate(problem.rules) if rules.classes]
    if problem.matrix is not None:
        return "distances come as a matrix"
    if any(part not in ADDITIVE_PARTS for term in problem.terms for part, _ in term.parts):
        return "the objective counts more than network and overload"
    if len(topologies) != 1:
        return "not exactly one topology has tasks"
    if not problem.hard.all():
        return "a resource is soft"
    if problem.regions or problem.min_worker_cpu or problem.linear is not None:
        return "shared memory, a least cpu of workers or linear costs are not additive"
    if problem.move_limit != NO_LIMIT:
        return "the moves of running tasks are limited"
    if len(node_types(problem)) != 1:
        return "nodes differ"
    if len(problem.racks) > 1 and problem.distance[CLUSTER] != problem.distance[RACK]:
        return "there are several racks"
    return None if has_single_workers(problem, topologies[0]) else _why_not_isolated(problem)


def _why_not_isolated(problem: Problem) -> str | None:
    """Return ``None`` where each component has workers, and one kind of tasks, of its own."""
    rules = next(rules for rules in problem.rules if rules.classes)
    if not rules.one_component_per_worker:
        return "the split of a node into workers matters"
    if any(a != b for a, b in rules.incompatible):
        return "components are incompatible"
    kinds = merge_twins(problem)
    components = [problem.classes[group[0]].component for group in kinds.members]
    return None if len(set(components)) == len(components) else "tasks of a component differ"


def flat_places(problem: Problem) -> FlatPlaces:
    """Return the problem as kinds on equal nodes; `why_not_flat` must have said ``None``.

    Raises
    ------
    NotTakenError
        When the flows have too many cycles.
    """
    kinds = merge_twins(problem)
    topology = next(t for t, rules in enumerate(problem.rules) if rules.classes)
    isolated = not has_single_workers(problem, topology)
    per_worker = _per_worker(problem, kinds, topology) if isolated else None
    most = _most(problem, kinds, per_worker)
    weights, capacity = _tightest(problem, kinds, per_worker)

    def admits(counts: IntArray) -> BoolArray:
        kept = (counts @ kinds.demand <= problem.capacity[0]).all(axis=1) & (counts <= most).all(1)
        if per_worker is not None:
            workers = -(-counts // np.maximum(per_worker, 1))
            kept &= workers.sum(axis=1) <= problem.slots[0]
        return np.asarray(kept & _capped(problem, kinds, counts))

    return FlatPlaces(
        problem=problem,
        kinds=kinds,
        graph=piece_graph(kinds.sizes, kinds.flow, weights, capacity, most, admits),
        per_worker=per_worker,
        near=int(problem.distance[NODE if isolated else WORKER]),
        far=int(problem.distance[RACK]),
    )


def _per_worker(problem: Problem, kinds: Kinds, topology: int) -> IntArray:
    """Return [K] the most tasks of a kind in a worker of its own; 0 where none fits."""
    rules = problem.rules[topology]
    most = []
    for group, size in zip(kinds.members, kinds.sizes.tolist(), strict=True):
        heap, component = int(problem.heap[group[0]]), problem.classes[group[0]].component
        fits = size if not heap or rules.heap_limit == NO_LIMIT else rules.heap_limit // heap
        alone = rules.one_task_per_worker or (component, component) in rules.incompatible
        most.append(min(fits, 1 if alone else size))
    return np.array(most, dtype=np.int64)


def _most(problem: Problem, kinds: Kinds, per_worker: IntArray | None) -> IntArray:
    """Return [K] the most tasks of a kind on a node."""
    most = kinds.sizes.copy()
    for k in range(kinds.count):
        needs = kinds.demand[k] > 0
        fits = problem.capacity[0][needs] // kinds.demand[k][needs]
        most[k] = min([int(most[k]), *fits.tolist()])
        if per_worker is not None:
            most[k] = min(int(most[k]), int(per_worker[k]) * min(10**6, int(problem.slots[0])))
        elif problem.slots[0] == 0:
            most[k] = 0
    return most


def _tightest(problem: Problem, kinds: Kinds, per_worker: IntArray | None) -> tuple[IntArray, int]:
    """Return the rule that fills most nodes, as whole units per kind and per node."""
    rules = [
        (kinds.demand[:, d], int(problem.capacity[0, d]))
        for d in range(len(problem.dims))
        if problem.capacity[0, d] < NO_LIMIT and kinds.demand[:, d].any()
    ]
    if per_worker is not None and problem.slots[0] < NO_LIMIT:
        rules.append(_slot_rule(kinds, per_worker, int(problem.slots[0])))
    tasks = int(kinds.sizes.sum())
    rules.append((np.ones(kinds.count, dtype=np.int64), tasks))
    weights, capacity = max(rules, key=lambda rule: int(kinds.sizes @ rule[0]) / max(rule[1], 1))
    divisor = math.gcd(*weights.tolist()) or 1
    weights, capacity = weights // divisor, capacity // divisor
    coarse = -(-capacity // MOST_UNITS) or 1
    return weights // coarse, capacity // coarse


def _slot_rule(kinds: Kinds, per_worker: IntArray, slots: int) -> tuple[IntArray, int]:
    """Return the rule that the workers of a node take at most its slots.

    y tasks need at least y / per_worker workers, and one worker if the kind has one task only.
    """
    shares = [
        1 if size == 1 else max(1, int(most))
        for size, most in zip(kinds.sizes.tolist(), per_worker.tolist(), strict=True)
    ]
    unit = math.lcm(*shares)
    return np.array([unit // share for share in shares], dtype=np.int64), unit * slots


def _capped(problem: Problem, kinds: Kinds, counts: IntArray) -> BoolArray:
    """Return [Y] whether the most tasks per node of each component are kept."""
    kept = np.ones(len(counts), dtype=np.bool_)
    component = np.array([problem.classes[group[0]].component for group in kinds.members])
    for rules in problem.rules:
        for one, most in rules.max_per_node:
            kept &= counts[:, component == one].sum(axis=1) <= most
    return kept
