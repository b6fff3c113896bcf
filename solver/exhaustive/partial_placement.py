"""Books of the engine ``exhaustive``: what a partial placement loads and costs, task by task.

A second, independent implementation of the problem's rules and terms. It shares nothing with the
judge, which counts classes with NumPy once a placement is complete: here one task is added at a
time, in plain Python integers, and what it changes is added to what stands. That the two agree is
a test of both.
"""

from __future__ import annotations

from typing import NamedTuple

from slotwise.models.instance.instance import TERM_PARTS
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, Problem
from slotwise.models.values import NO_LIMIT

Place = tuple[int, int]
"""(node index, worker label)."""

OVERLOAD, NETWORK, REJECTED, NODES, WORKERS, MOVED, LINEAR = range(len(TERM_PARTS))


class Box(NamedTuple):
    """What a worker, or a node, holds.

    Parameters
    ----------
    topology
        Index of the only topology of a worker; -1 for a node.
    components
        Component of each task, in the order they came.
    load
        Per dimension. Of a worker: its tasks and its shared regions, before the least cpu. Of a
        node: what its workers bill, and the regions shared on the node.
    heap
        On-heap memory with shared on-heap regions (workers only).
    regions
        Shared regions that stand in it already.
    workers
        Number of workers (nodes only).
    """

    topology: int
    components: tuple[int, ...]
    load: tuple[int, ...]
    heap: int
    regions: frozenset[int]
    workers: int


class Undo(NamedTuple):
    """What `Books.put` wrote over."""

    node: int
    label: int
    node_before: Box
    worker_before: Box | None
    parts_before: tuple[int, ...]


class Books:
    """A partial placement that keeps every hard rule, and the parts of the objective so far.

    Attributes
    ----------
    workers
        The workers in use.
    nodes
        One box per node.
    placed
        (class, place) of each placed task, in the order they came.
    parts
        Value of each of `TERM_PARTS` so far.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._demand: list[tuple[int, ...]] = [tuple(row) for row in problem.demand.tolist()]
        self._heap: list[int] = problem.heap.tolist()
        self._capacity: list[list[int]] = problem.capacity.tolist()
        self._hard: list[bool] = problem.hard.tolist()
        self._soft: list[int] = problem.soft_weight.tolist()
        self._slots: list[int] = problem.slots.tolist()
        self._rack: list[int] = problem.node_rack.tolist()
        self._distance: list[int] = problem.distance.tolist()
        self._matrix = None if problem.matrix is None else problem.matrix.tolist()
        self._linear = None if problem.linear is None else problem.linear.tolist()
        self._flow = {(flow.source, flow.target): flow.weight for flow in problem.flows}
        self._most = [dict(rules.max_per_node) for rules in problem.rules]
        empty = Box(-1, (), (0,) * len(problem.dims), 0, frozenset(), 0)
        self.nodes = [empty] * problem.node_count
        self.workers: dict[Place, Box] = {}
        self.placed: list[tuple[int, Place]] = []
        self.parts: tuple[int, ...] = (0,) * len(TERM_PARTS)

    def values(self) -> tuple[int, ...]:
        """Return each term of the objective, from the parts so far."""
        parts = dict(zip(TERM_PARTS, self.parts, strict=True))
        return tuple(
            sum(factor * parts[part] for part, factor in term.parts) for term in self._problem.terms
        )

    def put(self, c: int, place: Place) -> Undo | None:
        """Add a task of class `c`; return how to undo it, ``None`` where a rule forbids it."""
        n, label = place
        worker, node = self.workers.get(place), self.nodes[n]
        worker_after = self._joined(worker, c)
        if worker_after is None or not self._worker_keeps_rules(worker_after):
            return None
        node_after = self._loaded(node, worker, worker_after, c)
        if not self._node_keeps_rules(n, node_after, c):
            return None
        undo = Undo(n, label, node, worker, self.parts)
        parts = self._parts_after(c, place, node, node_after)
        if parts[MOVED] > self._problem.move_limit:
            return None
        self.parts = parts
        self.workers[place], self.nodes[n] = worker_after, node_after
        self.placed.append((c, place))
        return undo

    def take_back(self, undo: Undo) -> None:
        """Undo the last `put`."""
        self.placed.pop()
        self.nodes[undo.node] = undo.node_before
        if undo.worker_before is None:
            del self.workers[undo.node, undo.label]
        else:
            self.workers[undo.node, undo.label] = undo.worker_before
        self.parts = undo.parts_before

    def reject(self, topology: int) -> tuple[int, ...] | None:
        """Leave a topology out whole; return the parts before, to be set again.

        Its tasks are not where they run now, so they count as moved; ``None`` where that is too
        many.
        """
        before = self.parts
        parts = list(before)
        rules = self._problem.rules[topology]
        parts[REJECTED] += rules.reject_weight
        homed = (self._problem.classes[c] for c in rules.classes)
        parts[MOVED] += sum(len(one.tasks) for one in homed if one.home is not None)
        if parts[MOVED] > self._problem.move_limit:
            return None
        self.parts = tuple(parts)
        return before

    def _joined(self, worker: Box | None, c: int) -> Box | None:
        """Return the worker with one more task, or ``None`` if it is of another topology."""
        one = self._problem.classes[c]
        if worker is None:
            nothing = (0,) * len(self._problem.dims)
            worker = Box(one.topology, (), nothing, 0, frozenset(), 1)
        if worker.topology != one.topology:
            return None
        load = [a + b for a, b in zip(worker.load, self._demand[c], strict=True)]
        heap = worker.heap + self._heap[c]
        regions = worker.regions
        for index, region in enumerate(self._problem.regions):
            if region.kind == "offheap_node" or c not in region.classes or index in regions:
                continue
            regions |= {index}
            load[self._memory] += region.size
            heap += region.size if region.kind == "onheap" else 0
        components = (*worker.components, one.component)
        return worker._replace(components=components, load=tuple(load), heap=heap, regions=regions)

    def _worker_keeps_rules(self, worker: Box) -> bool:
        rules = self._problem.rules[worker.topology]
        if rules.heap_limit != NO_LIMIT and worker.heap > rules.heap_limit:
            return False
        if not rules.isolates:
            return True
        *others, new = worker.components  # the others keep the rules already
        return not any(rules.keeps_apart(new, other) for other in others)

    def _loaded(self, node: Box, before: Box | None, after: Box, c: int) -> Box:
        """Return the node with one of its workers changed from `before` to `after`."""
        load = [a + b for a, b in zip(node.load, self._billed(after), strict=True)]
        if before is not None:
            load = [a - b for a, b in zip(load, self._billed(before), strict=True)]
        regions = node.regions
        for index, region in enumerate(self._problem.regions):
            if region.kind == "offheap_node" and c in region.classes and index not in regions:
                regions |= {index}
                load[self._memory] += region.size
        return node._replace(
            components=(*node.components, after.components[-1]),
            load=tuple(load),
            regions=regions,
            workers=node.workers + (before is None),
        )

    def _billed(self, worker: Box) -> tuple[int, ...]:
        """Return what a worker loads on its node: at least the minimum cpu of a worker."""
        cpu, least = self._problem.cpu, self._problem.min_worker_cpu
        if cpu is None or worker.load[cpu] >= least:
            return worker.load
        return (*worker.load[:cpu], least, *worker.load[cpu + 1 :])

    def _node_keeps_rules(self, n: int, node: Box, c: int) -> bool:
        if node.workers > self._slots[n]:
            return False
        for load, capacity, hard in zip(node.load, self._capacity[n], self._hard, strict=True):
            if hard and load > capacity:
                return False
        one = self._problem.classes[c]
        most = self._most[one.topology].get(one.component)
        return most is None or node.components.count(one.component) <= most

    def _parts_after(self, c: int, place: Place, before: Box, after: Box) -> tuple[int, ...]:
        n = place[0]
        parts = list(self.parts)
        parts[OVERLOAD] += self._overload(n, after) - self._overload(n, before)
        parts[NETWORK] += self._network(c, place)
        parts[NODES] += not before.workers
        parts[WORKERS] += after.workers - before.workers
        home = self._problem.classes[c].home
        parts[MOVED] += home is not None and home != place
        parts[LINEAR] += 0 if self._linear is None else self._linear[c][n]
        return tuple(parts)

    def _overload(self, n: int, node: Box) -> int:
        return sum(
            weight * (load - capacity)
            for weight, load, capacity in zip(self._soft, node.load, self._capacity[n], strict=True)
            if load > capacity
        )

    def _network(self, c: int, place: Place) -> int:
        """Return what a new task of class `c` pays to the tasks that are placed already."""
        total = 0
        for other, there in self.placed:
            total += self._flow.get((c, other), 0) * self._far(place, there)
            total += self._flow.get((other, c), 0) * self._far(there, place)
        return total

    def _far(self, here: Place, there: Place) -> int:
        if self._matrix is not None:
            return int(self._matrix[here[0]][there[0]])
        if here == there:
            return self._distance[WORKER]
        if here[0] == there[0]:
            return self._distance[NODE]
        same_rack = self._rack[here[0]] == self._rack[there[0]]
        return self._distance[RACK if same_rack else CLUSTER]

    @property
    def _memory(self) -> int:
        assert self._problem.memory is not None, "a region gives the problem a memory dimension"
        return self._problem.memory
