"""A partial placement that keeps every hard rule, and what one more task costs in it.

It shares nothing with engine ``exhaustive``, which confirms what engine ``orphans`` proves.

Flow between one more task and those placed is summed by worker, node and rack once per task, so
that its cost in each place is a few look-ups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, Problem

Place = tuple[int, int]
"""(node index, worker label)."""


@dataclass(frozen=True, slots=True)
class WorkerContents:
    """What a worker holds.

    Parameters
    ----------
    topology
        Index of its topology.
    components
        Indices of the components of its tasks.
    load
        Per dimension: its tasks and shared regions, before the least cpu of a worker.
    heap
        On-heap memory with shared on-heap regions.
    regions
        Indices of the shared regions that its tasks use, those shared on nodes excepted.
    """

    topology: int
    components: frozenset[int]
    load: tuple[int, ...]
    heap: int
    regions: frozenset[int]


@dataclass(frozen=True, slots=True)
class NodeContents:
    """What a node holds.

    Parameters
    ----------
    workers
        Number of workers.
    tasks
        Index of a component -> number of its tasks.
    load
        Per dimension: what workers are billed, and regions shared on the node.
    regions
        Indices of these regions.
    """

    workers: int
    tasks: Mapping[int, int]
    load: tuple[int, ...]
    regions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Fit:
    """A place with room for one more task; `worker` and `node` as they are with it."""

    place: Place
    worker: WorkerContents
    node: NodeContents


class _Room:
    """How what workers and nodes hold grows by a task, and whether the hard rules allow it."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._demand: list[list[int]] = problem.demand.tolist()
        self._heap: list[int] = problem.heap.tolist()
        self._slots: list[int] = problem.slots.tolist()
        self._capacity: list[list[int]] = problem.capacity.tolist()
        self._hard = [d for d, hard in enumerate(problem.hard.tolist()) if hard]
        self._soft = [(d, int(w)) for d, w in enumerate(problem.soft_weight) if w]
        self._max_per_node = {k: m for rules in problem.rules for k, m in rules.max_per_node}
        used = [
            frozenset(g for g, region in enumerate(problem.regions) if c in region.classes)
            for c in range(len(problem.classes))
        ]
        on_nodes = {g for g, region in enumerate(problem.regions) if region.kind == "offheap_node"}
        self._worker_regions = [one - on_nodes for one in used]
        self._node_regions = [one & on_nodes for one in used]
        nothing = (0,) * len(problem.dims)
        self.empty_node = NodeContents(0, {}, nothing, frozenset())
        self._empty_workers = [
            WorkerContents(t, frozenset(), nothing, 0, frozenset())
            for t in range(len(problem.rules))
        ]

    def worker_with(self, worker: WorkerContents | None, c: int) -> WorkerContents | None:
        """Return a worker (``None`` = a new one) with one more task; ``None`` = not allowed."""
        task_class = self._problem.classes[c]
        rules = self._problem.rules[task_class.topology]
        worker = worker or self._empty_workers[task_class.topology]
        if worker.topology != task_class.topology:
            return None
        others = worker.components if rules.isolates else ()
        if any(rules.keeps_apart(task_class.component, other) for other in others):
            return None
        new = self._worker_regions[c] - worker.regions
        kinds = [self._problem.regions[g] for g in new]
        heap = worker.heap + self._heap[c] + sum(r.size for r in kinds if r.kind == "onheap")
        if heap > rules.heap_limit:
            return None
        load = [a + b for a, b in zip(worker.load, self._demand[c], strict=True)]
        self._add_memory(load, new)
        return WorkerContents(
            task_class.topology,
            worker.components | {task_class.component},
            tuple(load),
            heap,
            worker.regions | new,
        )

    def node_with(
        self,
        n: int,
        node: NodeContents,
        before: WorkerContents | None,
        after: WorkerContents,
        c: int,
    ) -> NodeContents | None:
        """Return node `n` with a task of class `c` more in one worker; ``None`` = not allowed.

        `before` and `after` are what that worker holds; `before` is ``None`` where it is new.
        """
        component = self._problem.classes[c].component
        workers, count = node.workers + (before is None), node.tasks.get(component, 0) + 1
        if workers > self._slots[n] or count > self._max_per_node.get(component, count):
            return None
        freed = self._billed(before) if before else self.empty_node.load
        bills = zip(node.load, freed, self._billed(after), strict=True)
        load = [total - old + new for total, old, new in bills]
        new_regions = self._node_regions[c] - node.regions
        self._add_memory(load, new_regions)
        if any(load[d] > self._capacity[n][d] for d in self._hard):
            return None
        tasks = {**node.tasks, component: count}
        return NodeContents(workers, tasks, tuple(load), node.regions | new_regions)

    def _add_memory(self, load: list[int], regions: frozenset[int]) -> None:
        if regions:
            assert self._problem.memory is not None, "a region gives the problem a memory dimension"
            load[self._problem.memory] += sum(self._problem.regions[g].size for g in regions)

    def _billed(self, worker: WorkerContents) -> tuple[int, ...]:
        """Return what a worker loads on its node: at least the minimum cpu of a worker."""
        cpu, least = self._problem.cpu, self._problem.min_worker_cpu
        if cpu is None:
            return worker.load
        return (*worker.load[:cpu], max(worker.load[cpu], least), *worker.load[cpu + 1 :])

    def overload(self, n: int, node: NodeContents) -> int:
        """Return the weighted load of node `n` above its soft capacities."""
        capacity = self._capacity[n]
        return sum(weight * max(0, node.load[d] - capacity[d]) for d, weight in self._soft)


class Flows:
    """Flows between classes: from each class (`out`) and to it (`into`)."""

    def __init__(self, problem: Problem) -> None:
        self.out: dict[int, list[tuple[int, int]]] = {}
        self.into: dict[int, list[tuple[int, int]]] = {}
        for flow in problem.flows:
            self.out.setdefault(flow.source, []).append((flow.target, flow.weight))
            self.into.setdefault(flow.target, []).append((flow.source, flow.weight))


@dataclass(slots=True)
class Attraction:
    """Network cost of one more task of a class in any place, beside all tasks placed."""

    problem: Problem
    total: int = 0
    by_worker: Counter[Place] = field(default_factory=Counter)
    by_node: Counter[int] = field(default_factory=Counter)
    by_rack: Counter[int] = field(default_factory=Counter)
    sent: Counter[int] = field(default_factory=Counter)
    """Node -> flow from the new task to it; only where distances come as a matrix."""
    received: Counter[int] = field(default_factory=Counter)

    def add(self, place: Place, flow: int, *, is_sent: bool) -> None:
        """Add flow between the new task and tasks in a place."""
        node = place[0]
        if self.problem.matrix is not None:
            (self.sent if is_sent else self.received)[node] += flow
            return
        self.total += flow
        self.by_worker[place] += flow
        self.by_node[node] += flow
        self.by_rack[int(self.problem.node_rack[node])] += flow

    def cost(self, place: Place) -> int:
        """Return the cost in a place."""
        node, matrix = place[0], self.problem.matrix
        if matrix is not None:
            sent = sum(flow * int(matrix[node, other]) for other, flow in self.sent.items())
            return sent + sum(
                flow * int(matrix[other, node]) for other, flow in self.received.items()
            )
        far = self.problem.distance.tolist()
        return int(
            far[CLUSTER] * self.total
            - (far[CLUSTER] - far[RACK]) * self.by_rack[int(self.problem.node_rack[node])]
            - (far[RACK] - far[NODE]) * self.by_node[node]
            - (far[NODE] - far[WORKER]) * self.by_worker[place]
        )


COPIED_PER_FIT = 4
"""Classes whose places are copied in the time of a call of `fit`, as measured."""


class PartialPlacement:
    """Tasks and their places, all hard rules kept save the limit of moves.

    Attributes
    ----------
    nodes
        What each node holds.
    workers
        What each worker in use holds, by its place.
    places
        The place of each task that has one.
    tried
        Number of calls of `fit`, and of what copies take instead: the work so far.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._room, self._flows = _Room(problem), Flows(problem)
        self._class_of: list[int] = problem.task_class.tolist()
        self.nodes = [self._room.empty_node] * problem.node_count
        self.workers: dict[Place, WorkerContents] = {}
        self._on: list[dict[int, Place]] = [{} for _ in range(problem.node_count)]
        self.places: dict[int, Place] = {}
        self._counts: dict[int, Counter[Place]] = {}
        self.tried = 0

    def fit(self, c: int, place: Place) -> Fit | None:
        """Return how a task of class `c` fits a place; ``None`` where a rule forbids it."""
        self.tried += 1
        before = self.workers.get(place)
        worker = self._room.worker_with(before, c)
        if worker is None:
            return None
        node = self._room.node_with(place[0], self.nodes[place[0]], before, worker, c)
        return None if node is None else Fit(place, worker, node)

    def fits(self, c: int) -> Iterator[Fit]:
        """Yield the workers that can take a task of class `c`, in use or one new on each node."""
        for node in range(self.problem.node_count):
            yield from self.fits_on(c, node)

    def fits_on(self, c: int, node: int) -> Iterator[Fit]:
        """Yield the same on one node."""
        labels = {label for _, label in self._on[node].values()}
        fresh = next(label for label in range(len(labels) + 1) if label not in labels)
        topology = self.problem.classes[c].topology
        for label in sorted(labels | {fresh}):
            worker = self.workers.get((node, label))
            if worker is None or worker.topology == topology:
                fit = self.fit(c, (node, label))
                if fit is not None:
                    yield fit

    def put(self, task: int, fit: Fit) -> None:
        """Add a task where it fits."""
        place = fit.place
        self.workers[place], self.nodes[place[0]] = fit.worker, fit.node
        self.places[task] = self._on[place[0]][task] = place
        self._counts.setdefault(self._class_of[task], Counter())[place] += 1

    def remove(self, task: int) -> None:
        """Remove a task; what its node holds is computed again without it."""
        node = self.places[task][0]
        rest = [(other, place) for other, place in self._on[node].items() if other != task]
        for other in self._on[node]:
            self._counts[self._class_of[other]][self.places.pop(other)] -= 1
        self.workers = {place: held for place, held in self.workers.items() if place[0] != node}
        self.nodes[node], self._on[node] = self._room.empty_node, {}
        for other, place in rest:
            fit = self.fit(self._class_of[other], place)
            assert fit is not None, "the node held more before"
            self.put(other, fit)

    def tasks_on(self, node: int) -> tuple[int, ...]:
        """Return the tasks on a node."""
        return tuple(self._on[node])

    def copy(self) -> PartialPlacement:
        """Return an independent copy, which is work, too."""
        other = object.__new__(PartialPlacement)
        other.problem, other._room, other._flows = self.problem, self._room, self._flows
        other._class_of = self._class_of
        other.nodes, other.workers = list(self.nodes), dict(self.workers)
        other._on = [dict(tasks) for tasks in self._on]
        other.places = dict(self.places)
        other._counts = {c: Counter(counts) for c, counts in self._counts.items()}
        other.tried = self.tried + len(self._counts) // COPIED_PER_FIT
        return other

    def attraction(self, c: int) -> Attraction:
        """Return the network cost of one more task of class `c` in any place."""
        attraction = Attraction(self.problem)
        for adjacent, is_sent in ((self._flows.out, True), (self._flows.into, False)):
            for other, weight in adjacent.get(c, ()):
                for place, count in self._counts.get(other, {}).items():
                    if count:
                        attraction.add(place, weight * count, is_sent=is_sent)
        return attraction

    def added_cost(self, c: int, fit: Fit, attraction: Attraction) -> tuple[int, ...]:
        """Return what one more task adds to each term.

        A part of the objective that is not listed counts 0: the cost orders places, and the judge
        computes the value of the placement that results.
        """
        problem, node = self.problem, fit.place[0]
        before, home = self.nodes[node], problem.classes[c].home
        parts = {
            "overload": self._room.overload(node, fit.node) - self._room.overload(node, before),
            "network": attraction.cost(fit.place),
            "nodes": int(not before.workers),
            "workers": fit.node.workers - before.workers,
            "moved": int(home is not None and home != fit.place),
            "linear": 0 if problem.linear is None else int(problem.linear[c, node]),
        }
        return tuple(
            sum(m * parts.get(part, 0) for part, m in term.parts) for term in problem.terms
        )

    def placement(self) -> Placement:
        """Return it as a placement; the other tasks are unplaced."""
        nowhere = (UNPLACED, UNPLACED)
        places = [self.places.get(task, nowhere) for task in range(self.problem.task_count)]
        return Placement(tuple(n for n, _ in places), tuple(w for _, w in places))
