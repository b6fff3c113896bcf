"""The hard rules of the local search: which of many workers take one more task of a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.structure.node_types import signature

NO_ROW = -1
"""Row of a task that is nowhere, and of a worker that is not open yet."""
NO_LABEL = -1
ROWS_MORE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Workers that might take a task: row (`NO_ROW` = a fresh one) and node, [W] each."""

    row: IntArray
    node: IntArray

    def of(self, places: IntArray) -> Candidates:
        """Return some of them."""
        return Candidates(self.row[places], self.node[places])


@dataclass(slots=True, eq=False)
class WorkerTable:
    """Rows of workers, open or empty; the last row is always empty and stands for fresh ones.

    `near` [W, C]: flow of a class with what a worker holds; `counts` [W, C]; `regions` [W, G]:
    tasks that touch a region; `label` is `NO_LABEL` where it does not matter.
    """

    node: IntArray
    topology: IntArray
    label: IntArray
    held: IntArray
    heap: IntArray
    cpu: IntArray
    near: IntArray
    counts: IntArray
    regions: IntArray
    fixed: BoolArray
    free: list[int]

    @classmethod
    def empty(cls, problem: Problem) -> WorkerTable:
        """Return no workers but those where tasks have their homes."""
        size = (1, len(problem.classes))
        flat = (np.zeros(1, dtype=np.int64) for _ in range(6))
        node, topology, label, held, heap, cpu = flat
        regions = np.zeros((1, len(problem.regions)), dtype=np.int64)
        near, counts = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        fixed = np.zeros(1, dtype=np.bool_)
        table = cls(
            node, topology - 1, label + NO_LABEL, held, heap, cpu, near, counts, regions, fixed, []
        )
        homes = {(one.topology, *one.home) for one in problem.classes if one.home is not None}
        for home in sorted(homes) if problem.counts_moves else ():
            table.fixed[table.open(*home)] = True
        return table

    def find(self, topology: int, node: int, label: int) -> int | None:
        """Return the row of a worker that has this label, if there is one."""
        same = (self.node == node) & (self.label == label) & (self.topology == topology)
        return int(np.flatnonzero(same)[0]) if same.any() else None

    def open(self, topology: int, node: int, label: int = NO_LABEL) -> int:
        """Return a row for a new worker."""
        if not self.free:
            self._grow()
        row = self.free.pop()
        self.node[row], self.topology[row], self.label[row] = node, topology, label
        return row

    def _grow(self) -> None:
        rows = len(self.node)
        for name in ("node", "topology", "label", "held", "heap", "cpu", "near", "counts",
                     "regions", "fixed"):  # fmt: skip
            old = getattr(self, name)
            more = np.zeros((ROWS_MORE + rows, *old.shape[1:]), dtype=old.dtype)
            setattr(self, name, np.concatenate([old[:-1], more, old[-1:]]))
        self.topology[rows - 1 :] = -1
        self.free = list(range(len(self.node) - 2, rows - 2, -1))

    def close_empty(self, rows: set[int]) -> None:
        """Forget those of these rows that are empty."""
        for row in sorted(rows):
            if not self.held[row] and not self.fixed[row]:
                self.topology[row] = -1
                self.free.append(row)

    def candidates(self, topology: int, nodes: IntArray) -> Candidates:
        """Return the workers of a topology, and a fresh one on each of these nodes."""
        rows = np.flatnonzero(self.topology == topology)
        fresh = np.full(len(nodes), NO_ROW, dtype=np.int64)
        return Candidates(np.concatenate([rows, fresh]), np.concatenate([self.node[rows], nodes]))


class Rulebook:
    """What nodes hold, and which workers take one more task."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        nodes = problem.node_count
        self.load = np.zeros((nodes, len(problem.dims)), dtype=np.int64)
        self.node_held = np.zeros(nodes, dtype=np.int64)
        self._open = np.zeros(nodes, dtype=np.int64)
        self._of_component = np.zeros((nodes, len(problem.components)), dtype=np.int64)
        self._node_regions = np.zeros((nodes, len(problem.regions)), dtype=np.int64)
        self._component = [one.component for one in problem.classes]
        self._touched = [
            [g for g, region in enumerate(problem.regions) if c in region.classes]
            for c in range(len(problem.classes))
        ]
        self._limit = dict(pair for rules in problem.rules for pair in rules.max_per_node)
        self.soft = bool(problem.soft_weight.any())
        self._kind = _kinds(problem)
        self._nodes: IntArray | None = None
        self._apart = [classes_apart(problem, c) for c in range(len(problem.classes))]

    def worth_a_look(self) -> IntArray:
        """Return the nodes in use, and of the others one of each kind and rack."""
        if self._nodes is None:
            empty = np.flatnonzero(self.node_held == 0)
            _, first = np.unique(self._kind[empty], return_index=True)
            self._nodes = np.concatenate([np.flatnonzero(self.node_held), empty[first]])
        return self._nodes

    def overload(self, node: int) -> int:
        """Return the overload of a node."""
        if not self.soft:
            return 0
        over = np.maximum(self.load[node] - self._problem.capacity[node], 0)
        return int(over @ self._problem.soft_weight)

    def book(self, workers: WorkerTable, c: int, row: int, sign: int) -> None:
        """Book one task of a class more, or less."""
        problem, node = self._problem, int(workers.node[row])
        held, cpu = int(workers.held[row]), int(workers.cpu[row])
        workers.held[row] += sign
        workers.counts[row, c] += sign
        workers.heap[row] += sign * problem.heap[c]
        if self.node_held[node] in (0, -sign):
            self._nodes = None
        self.node_held[node] += sign
        self._open[node] += int(held + sign > 0) - int(held > 0)
        self._of_component[node, self._component[c]] += sign
        self.load[node] += sign * problem.demand[c]
        if problem.cpu is not None and problem.min_worker_cpu:
            now = cpu + sign * int(problem.demand[c, problem.cpu])
            workers.cpu[row] = now
            least = problem.min_worker_cpu
            short = max(least - now, 0) if held + sign else 0
            self.load[node, problem.cpu] += short - (max(least - cpu, 0) if held else 0)
        for g in self._touched[c]:
            region = problem.regions[g]
            book = self._node_regions if region.kind == "offheap_node" else workers.regions
            at = node if region.kind == "offheap_node" else row
            before = int(book[at, g])
            book[at, g] += sign
            size = region.size * (int(before + sign > 0) - int(before > 0))
            self.load[node, problem.memory] += size
            workers.heap[row] += size if region.kind == "onheap" else 0

    def _needs(self, workers: WorkerTable, c: int, at: Candidates) -> tuple[IntArray, IntArray]:
        """Return [W, D] what one more task adds to the nodes' loads, [W] to the heaps."""
        problem = self._problem
        needs = np.repeat(problem.demand[c][None], len(at.node), axis=0)
        heaps = np.full(len(at.node), problem.heap[c])
        if problem.cpu is not None and problem.min_worker_cpu:
            held, cpu = workers.held[at.row] > 0, workers.cpu[at.row]
            after = np.maximum(cpu + problem.demand[c, problem.cpu], problem.min_worker_cpu)
            needs[:, problem.cpu] = after - np.maximum(cpu, problem.min_worker_cpu) * held
        for g in self._touched[c]:
            region = problem.regions[g]
            on_node = region.kind == "offheap_node"
            regions = self._node_regions[at.node, g] if on_node else workers.regions[at.row, g]
            size = region.size * (regions == 0)
            needs[:, problem.memory] += size
            heaps += size if region.kind == "onheap" else 0
        return needs, heaps

    def more_overload(self, workers: WorkerTable, c: int, at: Candidates) -> IntArray:
        """Return [W] how much more overload one more task makes."""
        room = self._problem.capacity[at.node] - self.load[at.node]
        needs, _ = self._needs(workers, c, at)
        over = np.maximum(needs - room, 0) - np.maximum(-room, 0)
        return np.asarray(over @ self._problem.soft_weight, dtype=np.int64)

    def admits(self, workers: WorkerTable, c: int, at: Candidates) -> BoolArray:
        """Return [W] whether a worker takes one more task of the class, by all rules.

        A fresh worker is the last row, which is empty.
        """
        problem = self._problem
        task_class = problem.classes[c]
        rules = problem.rules[task_class.topology]
        needs, heaps = self._needs(workers, c, at)
        hard = problem.hard
        room = problem.capacity[at.node][:, hard] - self.load[at.node][:, hard]
        fits: BoolArray = np.asarray((needs[:, hard] <= room).all(axis=1))
        fits &= workers.heap[at.row] + heaps <= rules.heap_limit
        empty = workers.held[at.row] == 0
        fits &= ~empty | (self._open[at.node] < problem.slots[at.node])
        if task_class.component in self._limit:
            fits &= (
                self._of_component[at.node, task_class.component]
                < self._limit[task_class.component]
            )
        if rules.one_task_per_worker:
            return np.asarray(fits & empty)
        apart = self._apart[c]
        if len(apart):
            fits &= ~np.asarray((workers.counts[at.row][:, apart] > 0).any(axis=1))
        return fits


def classes_apart(problem: Problem, c: int) -> IntArray:
    """Return the classes whose tasks never share a worker with one more task of class c."""
    rules = problem.rules[problem.classes[c].topology]
    component = [one.component for one in problem.classes]
    others = [k for k in rules.classes if rules.keeps_apart(component[c], component[k])]
    return np.array(others, dtype=np.int64)


def node_groups(problem: Problem) -> list[list[int]]:
    """Return the nodes of each kind in each rack."""
    groups: dict[object, list[int]] = {}
    for n in range(problem.node_count):
        groups.setdefault((int(problem.node_rack[n]), signature(problem, n)), []).append(n)
    return list(groups.values())


def _kinds(problem: Problem) -> IntArray:
    """Return [N] a number for each kind of node in each rack."""
    kinds = np.zeros(problem.node_count, dtype=np.int64)
    for index, group in enumerate(node_groups(problem)):
        kinds[group] = index
    return kinds
