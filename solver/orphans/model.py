"""What remains where nothing may move: a CP-SAT model of the orphans alone.

Tasks that run are constants: what their workers and nodes hold, and what flow to them costs in each
place. A variable counts the orphans of a class in a worker: one of its topology that runs, or a
fresh one. Savings of flow between orphans are products of counts (`compact.cp_sat.builder`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.cp_sat.builder import Count, CpBuilder, product
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.orphans.partial_placement import (
    Attraction,
    PartialPlacement,
    Place,
    WorkerContents,
)
from slotwise.solver.structure.node_types import keeps_apart

MOST_COUNTS = 100_000
"""Counts of a model: classes of orphans times places; larger ones are not taken."""


@dataclass(frozen=True, slots=True, eq=False)
class _Worker:
    """A worker that may take orphans; `contents` is what it holds now, ``None`` if it is new."""

    place: Place
    topology: int
    contents: WorkerContents | None
    opened: Count
    counts: dict[int, Count] = field(default_factory=dict)
    upper: dict[int, int] = field(default_factory=dict)


class OrphansModel:
    """The model.

    Parameters
    ----------
    problem
        What is placed, nothing of what runs may move.
    running
        The tasks that run, in their places.
    orphans
        The other tasks.
    builder
        Where the model is stated.

    Attributes
    ----------
    terms
        An expression for each term of the objective; whole.

    Raises
    ------
    NotTakenError
        Where there are too many places for too many orphans.
    """

    def __init__(
        self,
        problem: Problem,
        running: PartialPlacement,
        orphans: tuple[int, ...],
        builder: CpBuilder,
    ) -> None:
        self._problem, self._running, self._builder = problem, running, builder
        self._tasks: dict[int, list[int]] = {}
        for task in orphans:
            self._tasks.setdefault(int(problem.task_class[task]), []).append(task)
        self._workers: list[_Worker] = []
        self._rejected = self._rejections()
        self._open_workers()
        self._place_all()
        for worker in self._workers:
            self._state_worker(worker)
        self._used: dict[int, Count] = {}
        self._over: list[Count] = []
        for node in range(problem.node_count):
            self._state_node(node)
        self.terms = self._terms()

    def placement(self, value: Callable[[Count], int]) -> Placement:
        """Return the placement of a solution; `value` gives the value of each count."""
        nodes, workers = (list(row) for row in self._current())
        left = {c: list(tasks) for c, tasks in self._tasks.items()}
        for worker in self._workers:
            for c, count in worker.counts.items():
                for _ in range(value(count)):
                    task = left[c].pop(0)
                    nodes[task], workers[task] = worker.place
        return Placement(tuple(nodes), tuple(workers))

    def hints(self, placement: Placement) -> Iterator[tuple[Count, int]]:
        """Yield counts and their values in a placement that moves nothing."""
        fresh: dict[Place, Place] = {}
        fresh_counts: dict[tuple[int, int], int] = {}
        for tasks in self._tasks.values():
            for task in tasks:
                place = (placement.nodes[task], placement.workers[task])
                topology = self._problem.classes[int(self._problem.task_class[task])].topology
                if place[0] >= 0 and place not in self._running.workers and place not in fresh:
                    same = [
                        w.place
                        for w in self._workers
                        if w.contents is None and w.topology == topology and w.place[0] == place[0]
                    ]
                    number = fresh_counts.get((place[0], topology), 0)
                    fresh_counts[place[0], topology] = number + 1
                    fresh[place] = same[number] if number < len(same) else place
        for worker in self._workers:
            for c, count in worker.counts.items():
                places = [(placement.nodes[t], placement.workers[t]) for t in self._tasks[c]]
                yield count, sum(fresh.get(one, one) == worker.place for one in places)

    def _current(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        placement = self._running.placement()
        return placement.nodes, placement.workers

    def _rejections(self) -> dict[int, Count]:
        """Return a choice for each topology that may be left out: nothing of it runs."""
        problem = self._problem
        if not problem.may_reject:
            return {}
        running = {contents.topology for contents in self._running.workers.values()}
        return {
            t: self._builder.boolean("")
            for t, rules in enumerate(problem.rules)
            if rules.classes and t not in running
        }

    def _open_workers(self) -> None:
        """List the workers of each topology with orphans: those that run, then fresh ones."""
        problem = self._problem
        by_topology: dict[int, list[int]] = {}
        for c in self._tasks:
            by_topology.setdefault(problem.classes[c].topology, []).append(c)
        labels = [
            {label for node, label in self._running.workers if node == n}
            for n in range(problem.node_count)
        ]
        for t, classes in by_topology.items():
            size = sum(len(self._tasks[c]) for c in classes)
            most = min(size, self._fresh_workers(t, classes))
            for node in range(problem.node_count):
                for place, contents in self._running.workers.items():
                    if place[0] == node and contents.topology == t:
                        self._workers.append(_Worker(place, t, contents, 1))
                free = int(problem.slots[node]) - self._running.nodes[node].workers
                before: Count | None = None
                for _ in range(min(most, free)):
                    label = next(n for n in range(len(labels[node]) + 1) if n not in labels[node])
                    labels[node].add(label)
                    opened = self._builder.boolean("")
                    if before is not None:
                        self._builder.implies("", opened, before)
                    before = opened
                    self._workers.append(_Worker((node, label), t, None, opened))
            if len(self._workers) * len(classes) > MOST_COUNTS:
                raise NotTakenError("orphans have too many places")

    def _fresh_workers(self, topology: int, classes: list[int]) -> int:
        """Return how many fresh workers of a topology can be of use on a node.

        Where only the heap limit keeps tasks apart, two workers whose heaps fit together are merged
        without loss, so w of them hold more than w/2 heaps (`structure.node_types`).
        """
        problem = self._problem
        rules = problem.rules[topology]
        if not keeps_apart(problem, topology):
            return 1
        shared = any(r.topology == topology and r.kind == "onheap" for r in problem.regions)
        if rules.isolates or shared or not 0 < rules.heap_limit < NO_LIMIT:
            return problem.task_count
        heap = sum(int(problem.heap[c]) * len(self._tasks[c]) for c in classes)
        return max(1, -(-2 * heap // rules.heap_limit) - 1)

    def _most_orphans(self, c: int, node: int) -> int:
        """Return how many orphans of a class a node has room for, beside what runs there.

        Cpu gives no limit where a worker may be billed more than its tasks need.
        """
        problem, most = self._problem, len(self._tasks[c])
        for d, load in enumerate(self._running.nodes[node].load):
            need, capacity = int(problem.demand[c, d]), int(problem.capacity[node, d])
            is_billed = d == problem.cpu and problem.min_worker_cpu > 0
            if problem.hard[d] and need and capacity != NO_LIMIT and not is_billed:
                most = min(most, max(0, capacity - load) // need)
        return most

    def _place_all(self) -> None:
        """Give each orphan of each class one worker, or leave its topology out."""
        problem, builder = self._problem, self._builder
        for c, tasks in self._tasks.items():
            topology = problem.classes[c].topology
            counts: list[Count] = []
            fits: dict[tuple[int, bool], bool] = {}
            for worker in self._workers:
                if worker.topology != topology:
                    continue
                if worker.contents is not None:
                    takes = self._running.fit(c, worker.place) is not None
                else:  # fresh workers of a node are alike
                    key = (worker.place[0], True)
                    if key not in fits:
                        fits[key] = self._running.fit(c, worker.place) is not None
                    takes = fits[key]
                if not takes:
                    continue
                upper = self._most_orphans(c, worker.place[0])
                count = builder.whole("", upper)
                worker.counts[c], worker.upper[c] = count, upper
                counts.append(count)
                if worker.contents is None:
                    builder.at_most("", count, upper * worker.opened)
            total = builder.total(counts)
            if topology in self._rejected:
                builder.equal("", total + len(tasks) * self._rejected[topology], len(tasks))
            else:
                builder.equal("", total, len(tasks))

    def _state_worker(self, worker: _Worker) -> None:
        """State isolation and incompatible components; those of what runs are in the counts."""
        problem, builder = self._problem, self._builder
        rules = problem.rules[worker.topology]
        if not rules.isolates or not worker.counts:
            return
        by_component: dict[int, list[int]] = {}
        for c in worker.counts:
            by_component.setdefault(problem.classes[c].component, []).append(c)
        presence: dict[int, Count] = {}
        for component, classes in by_component.items():
            total = builder.total(worker.counts[c] for c in classes)
            if rules.keeps_apart(component, component):
                builder.at_most("", total, 1)
                presence[component] = total
            else:
                presence[component] = builder.boolean("")
                most = sum(worker.upper[c] for c in classes)
                builder.at_most("", total, most * presence[component])
        components = list(presence)
        for index, first in enumerate(components):
            for second in components[:index]:
                if rules.keeps_apart(first, second):
                    builder.at_most("", presence[first] + presence[second], 1)

    def _touched(self, classes: tuple[int, ...], workers: list[_Worker]) -> Count | None:
        """Return whether an orphan of some classes joins some workers; ``None`` = none can."""
        builder = self._builder
        pairs = [
            (worker.counts[c], worker.upper[c])
            for worker in workers
            for c in classes
            if c in worker.counts
        ]
        if not pairs:
            return None
        touched = builder.boolean("")
        for count, upper in pairs:
            builder.at_most("", count, upper * touched)
        return touched

    def _state_node(self, node: int) -> None:
        """State heaps, capacities, slots and caps of a node, and its overload."""
        problem, builder = self._problem, self._builder
        workers = [one for one in self._workers if one.place[0] == node and one.counts]
        base = self._running.nodes[node]
        fresh = [one for one in workers if one.contents is None]
        load: list[Count] = list(base.load)
        for worker in workers:
            for d, more in enumerate(self._worker_load(worker)):
                load[d] = load[d] + more
        for index, region in enumerate(problem.regions):
            if region.kind == "offheap_node" and index not in base.regions:
                touched = self._touched(region.classes, workers)
                if touched is not None:
                    assert problem.memory is not None, "a region gives a memory dimension"
                    load[problem.memory] = load[problem.memory] + region.size * touched
        for d in range(len(problem.dims)):
            capacity = int(problem.capacity[node, d])
            if capacity == NO_LIMIT:
                continue
            if problem.hard[d]:
                if not isinstance(load[d], int):
                    builder.at_most("", load[d], capacity)
            elif problem.soft_weight[d]:
                if isinstance(load[d], int):
                    self._over.append(int(problem.soft_weight[d]) * max(0, load[d] - capacity))
                else:
                    over = builder.whole("", builder.most(load[d]))
                    builder.at_least("", over + capacity, load[d])
                    self._over.append(int(problem.soft_weight[d]) * over)
        if fresh and problem.slots[node] < NO_LIMIT:
            opened = builder.total(one.opened for one in fresh)
            builder.at_most("", opened, int(problem.slots[node]) - base.workers)
        if fresh and not base.workers:
            self._used[node] = builder.boolean("")
            for worker in fresh:
                builder.at_most("", worker.opened, self._used[node])
        for rules in problem.rules:
            for component, most in rules.max_per_node:
                counts = [
                    count
                    for worker in workers
                    for c, count in worker.counts.items()
                    if problem.classes[c].component == component
                ]
                if counts:
                    left = most - base.tasks.get(component, 0)
                    builder.at_most("", builder.total(counts), left)

    def _worker_load(self, worker: _Worker) -> list[Count]:
        """Return what orphans add to what a worker takes of its node; state its heap limit."""
        problem, builder = self._problem, self._builder
        rules = problem.rules[worker.topology]
        load: list[Count] = [
            builder.total(
                int(problem.demand[c, d]) * count
                for c, count in worker.counts.items()
                if problem.demand[c, d]
            )
            for d in range(len(problem.dims))
        ]
        heap = builder.total(int(problem.heap[c]) * n for c, n in worker.counts.items())
        for index, region in enumerate(problem.regions):
            if region.kind == "offheap_node" or region.topology != worker.topology:
                continue
            if worker.contents is not None and index in worker.contents.regions:
                continue
            touched = self._touched(region.classes, [worker])
            if touched is None:
                continue
            assert problem.memory is not None, "a region gives a memory dimension"
            load[problem.memory] = load[problem.memory] + region.size * touched
            if region.kind == "onheap":
                heap = heap + region.size * touched
        if rules.heap_limit != NO_LIMIT and not isinstance(heap, int):
            used = 0 if worker.contents is None else worker.contents.heap
            builder.at_most("", heap, rules.heap_limit - used)
        least, cpu = problem.min_worker_cpu, problem.cpu
        if cpu is not None and least:
            used = 0 if worker.contents is None else worker.contents.load[cpu]
            billed = 0 if worker.contents is None else max(used, least)
            more = builder.whole("", builder.most(load[cpu]) + least)
            builder.at_least("", more + billed, load[cpu] + used)
            if worker.contents is None:
                builder.at_least("", more, least * worker.opened)
            load[cpu] = more
        return load

    def _terms(self) -> tuple[Count, ...]:
        """Return each term: the constant share of running tasks, and what orphans add."""
        problem, builder, running = self._problem, self._builder, self._running
        fresh = [one for one in self._workers if one.contents is None and one.counts]
        linear: list[Count] = []
        if problem.linear is not None:
            for task, (node, _) in running.places.items():
                linear.append(int(problem.linear[int(problem.task_class[task]), node]))
            for worker in self._workers:
                for c, count in worker.counts.items():
                    linear.append(int(problem.linear[c, worker.place[0]]) * count)
        parts = {
            "overload": builder.total(self._over),
            "network": builder.total(self._network()) if self._counts("network") else 0,
            "rejected": builder.total(
                problem.rules[t].reject_weight * one for t, one in self._rejected.items()
            ),
            "nodes": sum(bool(node.workers) for node in running.nodes)
            + builder.total(self._used.values()),
            "workers": len(running.workers) + builder.total(one.opened for one in fresh),
            "moved": 0,
            "linear": builder.total(linear),
        }
        return tuple(
            builder.total(m * parts[part] for part, m in term.parts) for term in problem.terms
        )

    def _counts(self, part: str) -> bool:
        return any(part in dict(term.parts) for term in self._problem.terms)

    def _network(self) -> Iterator[Count]:
        """Yield the costs of flow: among running tasks, from and to them, among orphans."""
        running = self._running
        yield self._running_flow()
        for c in self._tasks:
            attraction = running.attraction(c)
            for worker in self._workers:
                if c in worker.counts:
                    yield attraction.cost(worker.place) * worker.counts[c]
        yield from self._among_orphans()

    def _running_flow(self) -> int:
        """Return the network cost among running tasks; the sum counts each pair twice."""
        running, twice = self._running, 0
        attractions: dict[int, Attraction] = {}
        for task, place in running.places.items():
            c = int(self._problem.task_class[task])
            if c not in attractions:
                attractions[c] = running.attraction(c)
            twice += attractions[c].cost(place)
        return twice // 2

    def _among_orphans(self) -> Iterator[Count]:
        """Yield what flow between orphans costs: as far apart as can be, less what is saved."""
        problem = self._problem
        flows = {
            pair: weight
            for pair, weight in problem.pair_flows().items()
            if weight and all(c in self._tasks for c in pair)
        }
        if not flows:
            return
        if problem.matrix is not None:
            raise NotTakenError("orphans exchange flow, and distances come as a matrix")
        distance = problem.distance.tolist()
        farthest = distance[CLUSTER if len(problem.racks) > 1 else RACK]
        for (a, b), weight in flows.items():
            pairs = weight * len(self._tasks[a]) * len(self._tasks[b])
            yield farthest * pairs
            if problem.classes[a].topology in self._rejected:
                yield -farthest * pairs * self._rejected[problem.classes[a].topology]
        leaves: dict[int, dict[int, int]] = {}
        for (a, b), weight in flows.items():
            leaves.setdefault(a, {})[b] = weight
        for saving, places in self._levels(distance):
            for place in places if saving else ():
                for center, others in leaves.items():
                    self._builder.token.check()
                    yield -saving * product(self._builder.model, place, center, others)

    def _levels(
        self, distance: list[int]
    ) -> Iterator[tuple[int, list[dict[int, tuple[Count, int]]]]]:
        """Yield (what a pair in one of the places saves, the places)."""
        problem = self._problem
        workers = [one for one in self._workers if one.counts]
        yield distance[NODE] - distance[WORKER], self._grouped(workers, lambda one: one.place)
        yield distance[RACK] - distance[NODE], self._grouped(workers, lambda one: one.place[0])
        if len(problem.racks) > 1:
            racks = problem.node_rack.tolist()
            by_rack = self._grouped(workers, lambda one: racks[one.place[0]])
            yield distance[CLUSTER] - distance[RACK], by_rack

    def _grouped(
        self, workers: list[_Worker], key: Callable[[_Worker], object]
    ) -> list[dict[int, tuple[Count, int]]]:
        """Return, for each group of workers, class -> (count there, most)."""
        groups: dict[object, dict[int, list[Count]]] = {}
        uppers: dict[object, dict[int, dict[int, int]]] = {}
        for worker in workers:
            group = key(worker)
            for c, count in worker.counts.items():
                groups.setdefault(group, {}).setdefault(c, []).append(count)
                by_node = uppers.setdefault(group, {}).setdefault(c, {})
                by_node[worker.place[0]] = worker.upper[c]
        total = self._builder.total
        return [
            {
                c: (total(counts), min(len(self._tasks[c]), sum(uppers[group][c].values())))
                for c, counts in counts_of.items()
            }
            for group, counts_of in groups.items()
        ]
