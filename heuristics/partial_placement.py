"""The partial placement of a heuristic that places tasks one by one, with its loads.

The judge checks the finished placement; this ledger only answers, during the construction, in
which worker of a node the next task fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT

NODE_REGION = "offheap_node"


@dataclass(slots=True)
class LedgerWorker:
    """A worker being filled.

    `counts` are its tasks by component, `heap` and `cpu` in integer units of the problem,
    `regions` the indices of the shared memory regions that its tasks touch.
    """

    topology: int
    label: int
    counts: Counter[int] = field(default_factory=Counter)
    heap: int = 0
    cpu: int = 0
    regions: set[int] = field(default_factory=set)


@dataclass(slots=True)
class NodeState:
    """A node being filled: its load [D], its workers in the order they were opened.

    `counts` are its tasks by component, `regions` the shared regions that are counted on it.
    """

    load: list[int]
    workers: list[LedgerWorker] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)
    regions: set[int] = field(default_factory=set)

    def free_label(self) -> int:
        """Return the smallest worker label that is not in use."""
        used = {worker.label for worker in self.workers}
        return next(label for label in range(len(used) + 1) if label not in used)


class Ledger:
    """A partial placement: tasks placed so far, their workers, and the loads of nodes.

    Parameters
    ----------
    problem
        The problem whose tasks are placed.
    hard
        Indices of the dimensions that may not be exceeded on any node.
    log
        Where to note what is placed and removed; ``None`` = nowhere.
    """

    def __init__(
        self, problem: Problem, hard: Collection[int], log: DecisionLog | None = None
    ) -> None:
        self.problem = problem
        self.log = log
        self.hard = tuple(sorted(hard))
        self.places: dict[int, tuple[int, int]] = {}
        self.nodes = [NodeState([0] * len(problem.dims)) for _ in range(problem.node_count)]
        self._capacity: list[list[int]] = problem.capacity.tolist()
        self._slots: list[int] = problem.slots.tolist()
        self._demand: list[list[int]] = problem.demand.tolist()
        self._heap: list[int] = problem.heap.tolist()
        self._soft_weight: list[int] = problem.soft_weight.tolist()
        self._class: list[int] = problem.task_class.tolist()
        self._regions = [
            [r for r, region in enumerate(problem.regions) if c in region.classes]
            for c in range(len(problem.classes))
        ]

    def has_free_slot(self, node: int) -> bool:
        """Whether one more worker may be opened on `node`."""
        return len(self.nodes[node].workers) < self._slots[node]

    def find_worker(
        self, task: int, node: int, limited: Collection[int] | None = None
    ) -> LedgerWorker | None:
        """Return the first worker of `node` that takes `task`, or ``None``.

        First fit over the topology's workers in the order they were opened, then a new worker
        (not opened yet) where a slot is free. `limited` are the dimensions that must not be
        exceeded; ``None`` = the hard ones.
        """
        limited = self.hard if limited is None else limited
        c = self._class[task]
        task_class = self.problem.classes[c]
        most = dict(self.problem.rules[task_class.topology].max_per_node).get(
            task_class.component, NO_LIMIT
        )
        state = self.nodes[node]
        if state.counts[task_class.component] >= most or not self._may_fit(c, node, limited):
            return None
        for worker in state.workers:
            if worker.topology == task_class.topology and self._fits(c, node, worker, limited):
                return worker
        if self.has_free_slot(node):
            fresh = self.new_worker(task, node)
            if self._fits(c, node, fresh, limited):
                return fresh
        return None

    def new_worker(self, task: int, node: int) -> LedgerWorker:
        """Return a worker for `task` on `node`, not opened yet, whether or not a slot is free."""
        topology = self.problem.classes[self._class[task]].topology
        return LedgerWorker(topology, self.nodes[node].free_label())

    def put(self, task: int, node: int, worker: LedgerWorker) -> None:
        """Place `task` in `worker` of `node`, opening the worker where it is new."""
        c = self._class[task]
        state = self.nodes[node]
        for d, need in enumerate(self._needs(c, node, worker)):
            state.load[d] += need
        worker.heap += self._heap_needed(c, worker)
        if self.problem.cpu is not None:
            worker.cpu += self._demand[c][self.problem.cpu]
        for r in self._regions[c]:
            home = state if self.problem.regions[r].kind == NODE_REGION else worker
            home.regions.add(r)
        worker.counts[self.problem.classes[c].component] += 1
        state.counts[self.problem.classes[c].component] += 1
        if all(worker is not known for known in state.workers):
            state.workers.append(worker)
        self.places[task] = (node, worker.label)
        if self.log is not None:
            self.log.put(task, node, worker.label)

    def remove(self, task: int) -> None:
        """Remove `task` from its node; the other tasks there stay in their workers."""
        log, self.log = self.log, None
        node, _ = self.places.pop(task)
        rest = [(other, label) for other, (n, label) in self.places.items() if n == node]
        self.nodes[node] = NodeState([0] * len(self.problem.dims))
        workers: dict[tuple[int, int], LedgerWorker] = {}
        for other, label in rest:
            owner = self.problem.classes[self._class[other]].topology
            worker = workers.setdefault((owner, label), LedgerWorker(owner, label))
            self.put(other, node, worker)
        if log is not None:
            log.remove(task)
            self.log = log

    def without(self, topology: int) -> Ledger:
        """Return a ledger in which nothing of `topology` has been placed."""
        ledger = Ledger(self.problem, self.hard)
        for task, (node, label) in self.places.items():
            owner = self.problem.classes[self._class[task]].topology
            if owner != topology:
                workers = ledger.nodes[node].workers
                worker = next((w for w in workers if w.label == label), LedgerWorker(owner, label))
                ledger.put(task, node, worker)
            elif self.log is not None:
                self.log.remove(task)
        ledger.log = self.log
        return ledger

    def take_out(self, topology: int) -> None:
        """Remove the tasks and workers of `topology`, but keep their load counted on nodes."""
        owners = self.problem.classes
        if self.log is not None:
            for task in self.places:
                if owners[self._class[task]].topology == topology:
                    self.log.remove(task)
        self.places = {
            task: place
            for task, place in self.places.items()
            if owners[self._class[task]].topology != topology
        }
        for state in self.nodes:
            state.workers = [one for one in state.workers if one.topology != topology]

    def is_overloaded(self, node: int) -> bool:
        """Whether `node` has more load than capacity in a soft resource."""
        loads = zip(self.nodes[node].load, self._capacity[node], strict=True)
        return any(load > capacity for load, capacity in loads)

    def placement(self) -> Placement:
        """Return what has been placed; all other tasks are unplaced."""
        nowhere = (UNPLACED, UNPLACED)
        places = [self.places.get(task, nowhere) for task in range(self.problem.task_count)]
        return Placement(tuple(node for node, _ in places), tuple(label for _, label in places))

    def overload(self, task: int, node: int, worker: LedgerWorker) -> int:
        """Return the weighted overload of `node` once `task` were in `worker`, in integer steps."""
        needs = self._needs(self._class[task], node, worker)
        loads = zip(self.nodes[node].load, needs, self._capacity[node], strict=True)
        return sum(
            weight * max(0, load + need - capacity)
            for weight, (load, need, capacity) in zip(self._soft_weight, loads, strict=True)
        )

    def lacks_only_a_slot(self, task: int, node: int, limited: Collection[int]) -> bool:
        """Whether `node` has room for `task`, but neither a free slot nor a worker for it."""
        c = self._class[task]
        topology = self.problem.classes[c].topology
        joined = any(worker.topology == topology for worker in self.nodes[node].workers)
        return not joined and not self.has_free_slot(node) and self._may_fit(c, node, limited)

    def _may_fit(self, c: int, node: int, limited: Collection[int]) -> bool:
        """Whether `node` has room for what the task itself needs, in whatever worker.

        A quick test before all workers are tried. Cpu is not tested where workers have a least
        cpu: a worker below it takes more tasks without adding load.
        """
        load, capacity = self.nodes[node].load, self._capacity[node]
        return all(
            not need or load[d] + need <= capacity[d]
            for d, need in enumerate(self._demand[c])
            if d in limited and not (d == self.problem.cpu and self.problem.min_worker_cpu)
        )

    def _fits(self, c: int, node: int, worker: LedgerWorker, limited: Collection[int]) -> bool:
        load, capacity = self.nodes[node].load, self._capacity[node]
        needs = self._needs(c, node, worker)
        if any(needs[d] and load[d] + needs[d] > capacity[d] for d in limited):
            return False
        limit = self.problem.rules[worker.topology].heap_limit
        if worker.heap + self._heap_needed(c, worker) > limit:
            return False
        return not worker.counts or self._admits(self.problem.classes[c].component, worker)

    def _admits(self, component: int, worker: LedgerWorker) -> bool:
        """Whether the rules on who shares a worker let `component` join `worker`."""
        rules = self.problem.rules[worker.topology]
        if rules.one_task_per_worker:
            return False
        if rules.one_component_per_worker and component not in worker.counts:
            return False
        return not any(
            (component == a and b in worker.counts) or (component == b and a in worker.counts)
            for a, b in rules.incompatible
        )

    def _needs(self, c: int, node: int, worker: LedgerWorker) -> list[int]:
        """Return what one more task of class `c` in `worker` adds to the load of `node`."""
        problem = self.problem
        needs = list(self._demand[c])
        if problem.cpu is not None and problem.min_worker_cpu:
            before = max(worker.cpu, problem.min_worker_cpu) if worker.counts else 0
            needs[problem.cpu] = max(worker.cpu + needs[problem.cpu], problem.min_worker_cpu)
            needs[problem.cpu] -= before
        for r in self._regions[c]:
            assert problem.memory is not None, "a region gives the problem a memory dimension"
            region = problem.regions[r]
            home = self.nodes[node] if region.kind == NODE_REGION else worker
            needs[problem.memory] += 0 if r in home.regions else region.size
        return needs

    def _heap_needed(self, c: int, worker: LedgerWorker) -> int:
        shared = (r for r in self._regions[c] if r not in worker.regions)
        regions = self.problem.regions
        return self._heap[c] + sum(regions[r].size for r in shared if regions[r].kind == "onheap")
