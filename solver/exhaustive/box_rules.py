"""What workers and nodes of a partial placement hold, their hard rules and their overload.

Part of the books of the engine ``exhaustive``, see `partial_placement`.
"""

from __future__ import annotations

from typing import NamedTuple

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT

Place = tuple[int, int]
"""(node index, worker label)."""


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


class BoxRules:
    """How boxes change as tasks come, and whether they keep the rules of workers and nodes."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._demand: list[tuple[int, ...]] = [tuple(row) for row in problem.demand.tolist()]
        self._heap: list[int] = problem.heap.tolist()
        self._capacity: list[list[int]] = problem.capacity.tolist()
        self._hard: list[bool] = problem.hard.tolist()
        self._soft: list[int] = problem.soft_weight.tolist()
        self._slots: list[int] = problem.slots.tolist()
        self._most = [dict(rules.max_per_node) for rules in problem.rules]

    def joined(self, worker: Box | None, c: int) -> Box | None:
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

    def worker_keeps_rules(self, worker: Box) -> bool:
        """Return whether a worker whose last task is new keeps every hard rule."""
        rules = self._problem.rules[worker.topology]
        if rules.heap_limit != NO_LIMIT and worker.heap > rules.heap_limit:
            return False
        if not rules.isolates:
            return True
        *others, new = worker.components  # the others keep the rules already
        return not any(rules.keeps_apart(new, other) for other in others)

    def loaded(self, node: Box, before: Box | None, after: Box, c: int) -> Box:
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

    def node_keeps_rules(self, n: int, node: Box, c: int) -> bool:
        """Return whether node `n`, to which a task of class `c` came, keeps every hard rule."""
        if node.workers > self._slots[n]:
            return False
        for load, capacity, hard in zip(node.load, self._capacity[n], self._hard, strict=True):
            if hard and load > capacity:
                return False
        one = self._problem.classes[c]
        most = self._most[one.topology].get(one.component)
        return most is None or node.components.count(one.component) <= most

    def overload(self, n: int, node: Box) -> int:
        """Return the weighted load of node `n` above its soft capacities."""
        return sum(
            weight * (load - capacity)
            for weight, load, capacity in zip(self._soft, node.load, self._capacity[n], strict=True)
            if load > capacity
        )

    @property
    def _memory(self) -> int:
        assert self._problem.memory is not None, "a region gives the problem a memory dimension"
        return self._problem.memory
