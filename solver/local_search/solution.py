"""A placement that tasks are put into and taken out of, with the best place for a task by one scan.

All candidate workers are looked at together, as arrays; rules and parts of the objective are kept
up step by step. T tasks, C classes, N nodes, W rows (workers), D dimensions, G shared regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import CLUSTER, IntArray, Problem, Term
from slotwise.solver.local_search.feasibility import (
    NO_LABEL,
    NO_ROW,
    Candidates,
    Rulebook,
    WorkerTable,
)

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
        "max_moved",
        "shared_memory",
        "worker_min_cpu",
        "soft",
    }
)
"""Rules that moves keep, see `feasibility`."""

PARTS = ("network", "overload", "nodes", "workers", "linear", "moved", "rejected")
NETWORK, OVERLOAD, NODES, WORKERS, LINEAR, MOVED, REJECTED = range(len(PARTS))
COLUMN = {part: column for column, part in enumerate(PARTS)}


def multipliers(terms: Sequence[Term]) -> IntArray:
    """Return [terms, `PARTS`]: how often a term counts a part; an unknown part is a `KeyError`."""
    table = np.zeros((len(terms), len(PARTS)), dtype=np.int64)
    for row, term in enumerate(terms):
        for part, multiplier in term.parts:
            table[row, COLUMN[part]] = multiplier
    return table


class Field:
    """Tasks in workers on nodes.

    Parameters
    ----------
    problem
        Distances by level.
    start
        A valid placement. Topologies that it leaves out stay out.
    token
        Checked for each task: `best_row` raises `CancelledError`.
    """

    def __init__(self, problem: Problem, start: Placement, token: CancellationToken) -> None:
        self._token = token
        self.problem = problem
        self.rules = Rulebook(problem)
        self.task_class: list[int] = problem.task_class.tolist()
        self._terms = multipliers(problem.terms)
        self.flow = np.zeros((len(problem.classes),) * 2, dtype=np.int64)
        for (a, b), weight in problem.pair_flows().items():
            self.flow[a, b] = self.flow[b, a] = weight
        self._saving = np.diff(problem.distance)
        self.workers = WorkerTable.empty(problem)
        self.row = [NO_ROW] * problem.task_count
        self._in_node = np.zeros((problem.node_count, len(problem.classes)), dtype=np.int64)
        self._in_rack = np.zeros((len(problem.racks), len(problem.classes)), dtype=np.int64)
        self.parts = self._parts_of_nothing(start)
        self.members: dict[int, set[int]] = {}
        self._fill(start)

    def _parts_of_nothing(self, start: Placement) -> IntArray:
        """Return the parts as if all tasks that are placed were far from each other."""
        problem, parts = self.problem, np.zeros(len(PARTS), dtype=np.int64)
        sizes = [sum(start.nodes[i] != UNPLACED for i in one.tasks) for one in problem.classes]
        far = int(problem.distance[CLUSTER])
        parts[NETWORK] = far * sum(
            weight * sizes[a] * sizes[b] for (a, b), weight in problem.pair_flows().items()
        )
        parts[MOVED] = sum(one.size for one in problem.classes if one.home is not None)
        parts[REJECTED] = sum(
            rules.reject_weight
            for rules in problem.rules
            if rules.classes and not any(sizes[c] for c in rules.classes)
        )
        return parts

    def _fill(self, start: Placement) -> None:
        rows: dict[tuple[int, int, int], int] = {}
        for task, (node, label) in enumerate(zip(start.nodes, start.workers, strict=True)):
            self._token.check()
            if node == UNPLACED:
                continue
            topology = self.problem.classes[self.task_class[task]].topology
            key = (topology, node, label)
            if key not in rows:
                home = self.workers.find(*key)
                rows[key] = self.workers.open(topology, node) if home is None else home
            self.put(task, rows[key])

    def values(self) -> tuple[int, ...]:
        """Return the value of each term."""
        return tuple((self._terms @ self.parts).tolist())

    def put(self, task: int, row: int) -> None:
        """Put a task that is nowhere into a worker."""
        self._book(task, row, 1)
        self.row[task] = row
        self.members.setdefault(int(self.workers.node[row]), set()).add(task)

    def take(self, task: int) -> int:
        """Take a task out of its worker; return that."""
        row = self.row[task]
        self._book(task, row, -1)
        self.row[task] = NO_ROW
        self.members[int(self.workers.node[row])].discard(task)
        return row

    def _book(self, task: int, row: int, sign: int) -> None:
        c, workers = self.task_class[task], self.workers
        node = int(workers.node[row])
        rack = int(self.problem.node_rack[node])
        self.parts[NETWORK] -= sign * int(
            self._saving[0] * workers.near[row, c]
            + self._saving[1] * self._in_node[node, c]
            + self._saving[2] * self._in_rack[rack, c]
        )
        flows = sign * self.flow[c]
        workers.near[row] += flows
        self._in_node[node] += flows
        self._in_rack[rack] += flows
        if self.problem.linear is not None:
            self.parts[LINEAR] += sign * int(self.problem.linear[c, node])
        if self.problem.classes[c].home == (node, int(workers.label[row])):
            self.parts[MOVED] -= sign
        before = self._place_parts(row, node)
        self.rules.book(workers, c, row, sign)
        self.parts[[OVERLOAD, NODES, WORKERS]] += self._place_parts(row, node) - before

    def _place_parts(self, row: int, node: int) -> IntArray:
        """Return overload of the node, whether it is in use, and whether the worker is."""
        used, opened = self.rules.node_held[node] > 0, self.workers.held[row] > 0
        return np.array([self.rules.overload(node), int(used), int(opened)], dtype=np.int64)

    def best_row(self, task: int, rng: Generator, blink: float) -> int | None:
        """Return the best worker for a task, opened if need be; ``None`` if none takes it.

        Each candidate is overlooked with probability `blink`.
        """
        self._token.check()
        c = self.task_class[task]
        topology = self.problem.classes[c].topology
        candidates = self.workers.candidates(topology, self.rules.worth_a_look())
        fits = self.rules.admits(self.workers, c, candidates)
        if blink:
            fits &= rng.random(len(fits)) >= blink
        places = np.flatnonzero(fits)
        if not len(places):
            return None
        ranks = self._ranks(c, candidates.of(places))
        places = places[ranks == 0]
        at = int(places[rng.integers(len(places))]) if len(places) > 1 else int(places[0])
        row = int(candidates.row[at])
        return row if row >= 0 else self.workers.open(topology, int(candidates.node[at]))

    def _ranks(self, c: int, at: Candidates) -> IntArray:
        """Return 0 for the candidates that cost least, the first terms first."""
        parts = np.zeros((len(PARTS), len(at.node)), dtype=np.int64)
        near = np.where(at.row >= 0, self.workers.near[at.row, c], 0)
        parts[NETWORK] = -(
            self._saving[0] * near
            + self._saving[1] * self._in_node[at.node, c]
            + self._saving[2] * self._in_rack[self.problem.node_rack[at.node], c]
        )
        opens = (at.row < 0) | (self.workers.held[at.row] == 0)
        parts[WORKERS] = opens
        parts[NODES] = self.rules.node_held[at.node] == 0
        if self.rules.soft:
            parts[OVERLOAD] = self.rules.more_overload(self.workers, c, at)
        if self.problem.linear is not None:
            parts[LINEAR] = self.problem.linear[c, at.node]
        home = self.problem.classes[c].home
        if home is not None:
            at_home = (at.node == home[0]) & (self.workers.label[at.row] == home[1])
            parts[MOVED] = -at_home.astype(np.int64)
        costs = self._terms @ parts
        worse = np.zeros(costs.shape[1], dtype=np.int64)
        for cost in costs:
            worse[worse == 0] = (cost > cost[worse == 0].min())[worse == 0]
        return worse

    def snapshot(self) -> Snapshot:
        """Return where everything is; cheaper than a placement."""
        workers = self.workers
        return Snapshot(np.array(self.row), workers.node.copy(), workers.label.copy())


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Row of each task [T], node and label of each row [W]."""

    row: IntArray
    node: IntArray
    label: IntArray

    def placement(self) -> Placement:
        """Return it as a placement; workers without a label get one that is free."""
        label = self.label.copy()
        used = np.unique(self.row[self.row != NO_ROW])
        used_labels = {
            (int(self.node[w]), int(label[w])) for w in np.flatnonzero(label != NO_LABEL)
        }
        following: dict[int, int] = {}
        for row in used[label[used] == NO_LABEL].tolist():
            node = int(self.node[row])
            free = following.get(node, 0)
            while (node, free) in used_labels:
                free += 1
            label[row] = free
            following[node] = free + 1
        nowhere = self.row == NO_ROW
        return Placement(
            tuple(np.where(nowhere, UNPLACED, self.node[self.row]).tolist()),
            tuple(np.where(nowhere, UNPLACED, label[self.row]).tolist()),
        )
