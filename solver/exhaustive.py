"""Engine ``exhaustive``: every placement of a tiny instance, up to symmetry. Ground truth.

Depth-first branch and bound over the tasks, class by class. A branch ends where a hard rule breaks
or the partial vector of terms is not lexicographically below the incumbent's. The comment on
the search proves the three symmetries it uses. `Books` is a second
implementation of all rules and costs that shares nothing with the judge: that both agree is a test
of both. It values placements without the judge, so that it stays independent of what it checks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, Problem
from slotwise.models.problem.workload import LOCAL, Emission, Workload
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.parameters import Parameters
from slotwise.solver.structure.node_types import equal_nodes

# What workers and nodes of a partial placement hold, their hard rules and their overload.

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
        task_class = self._problem.classes[c]
        if worker is None:
            nothing = (0,) * len(self._problem.dims)
            worker = Box(task_class.topology, (), nothing, 0, frozenset(), 1)
        if worker.topology != task_class.topology:
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
        components = (*worker.components, task_class.component)
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
        task_class = self._problem.classes[c]
        most = self._most[task_class.topology].get(task_class.component)
        return most is None or node.components.count(task_class.component) <= most

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


@dataclass(frozen=True, slots=True)
class ExhaustiveParams(Parameters):
    """Which problems are small enough.

    Parameters
    ----------
    max_tasks
        Tasks.
    max_placements
        Estimated placements, tasks of a class being interchangeable.
    """

    max_tasks: int = 14
    max_placements: int = 10**9


EXHAUSTIVE_DEFAULTS = ExhaustiveParams()


# Books of the engine ``exhaustive``: what a partial placement loads and costs, task by task.
#
# A second, independent implementation of the problem's rules and terms. It shares nothing with
# the judge, which counts classes with NumPy once a placement is complete: here one task is added
# at a time, in plain Python integers, and what it changes is added to what stands. That the two
# agree is a test of both.

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
        "matrix",
    }
)
"""Rules that the search keeps, here or for single workers and nodes."""

PARTS = ("overload", "network", "rejected", "nodes", "workers", "moved", "linear", "bottleneck")
OVERLOAD, NETWORK, REJECTED, NODES, WORKERS, MOVED, LINEAR, BOTTLENECK = range(len(PARTS))


class Undo(NamedTuple):
    """What `Books.put` wrote over."""

    node: int
    label: int
    node_before: Box
    worker_before: Box | None
    parts_before: tuple[int, ...]
    used_before: tuple[int, ...]


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
        Value of each of `PARTS` so far.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._rules = BoxRules(problem)
        self._rack: list[int] = problem.node_rack.tolist()
        self._distance: list[int] = problem.distance.tolist()
        self._matrix = None if problem.matrix is None else problem.matrix.tolist()
        self._linear = None if problem.linear is None else problem.linear.tolist()
        self._flow = {(flow.source, flow.target): flow.weight for flow in problem.flows}
        empty = Box(-1, (), (0,) * len(problem.dims), 0, frozenset(), 0)
        self.nodes = [empty] * problem.node_count
        self.workers: dict[Place, Box] = {}
        self.placed: list[tuple[int, Place]] = []
        self.parts: tuple[int, ...] = (0,) * len(PARTS)
        self._use = None if problem.workload is None else Utilisation(problem, problem.workload)
        self._used = (0,) * (3 * problem.node_count + 2 * len(problem.racks))

    def values(self, *, complete: bool = False) -> tuple[int, ...]:
        """Return each term of the objective, from the parts so far.

        A part that is not in `PARTS` is a `KeyError`. While a placement is not complete the part
        ``bottleneck`` leaves out what is sent by ``local_or_shuffle``.
        """
        parts = dict(zip(PARTS, self.parts, strict=True))
        if complete and self._use is not None:
            parts["bottleneck"] = self._use.whole(self.placed)
        return tuple(
            sum(factor * parts[part] for part, factor in term.parts) for term in self._problem.terms
        )

    def put(self, c: int, place: Place) -> Undo | None:
        """Add a task of class `c`; return how to undo it, ``None`` where a rule forbids it."""
        n, label = place
        worker, node = self.workers.get(place), self.nodes[n]
        worker_after = self._rules.joined(worker, c)
        if worker_after is None or not self._rules.worker_keeps_rules(worker_after):
            return None
        node_after = self._rules.loaded(node, worker, worker_after, c)
        if not self._rules.node_keeps_rules(n, node_after, c):
            return None
        undo = Undo(n, label, node, worker, self.parts, self._used)
        parts = self._parts_after(c, place, node, node_after)
        if parts[MOVED] > self._problem.move_limit:
            return None
        if self._use is not None:
            self._used = self._use.after(self._used, self.placed, c, place)
            parts = (*parts[:BOTTLENECK], max(self._used))
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
        self.parts, self._used = undo.parts_before, undo.used_before

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

    def _parts_after(self, c: int, place: Place, before: Box, after: Box) -> tuple[int, ...]:
        n = place[0]
        parts = list(self.parts)
        parts[OVERLOAD] += self._rules.overload(n, after) - self._rules.overload(n, before)
        parts[NETWORK] += self._network(c, place)
        parts[NODES] += not before.workers
        parts[WORKERS] += after.workers - before.workers
        home = self._problem.classes[c].home
        parts[MOVED] += home is not None and home != place
        parts[LINEAR] += 0 if self._linear is None else self._linear[c][n]
        return tuple(parts)

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


class Utilisation:
    """Utilisation of each cpu, interface and uplink, task by task, in steps of the part."""

    def __init__(self, problem: Problem, workload: Workload) -> None:
        self._problem, self._workload = problem, workload
        self._rack: list[int] = problem.node_rack.tolist()
        self._flow = {(one.source, one.target): one for one in workload.pairs.flows}

    def after(
        self, before: tuple[int, ...], placed: list[tuple[int, Place]], c: int, place: Place
    ) -> tuple[int, ...]:
        """Return the use of cpu and links after a task of class `c` joins those placed.

        By node its cpu, its interface out and in, then by rack its uplink out and in; without what
        is sent by ``local_or_shuffle``, whose receivers may still come.
        """
        used, pairs = list(before), self._workload.pairs
        used[place[0]] += pairs.work[c] * pairs.cpu[place[0]]
        self._add(used, c, place, c, place)
        for other, there in placed:
            self._add(used, c, place, other, there)
            self._add(used, other, there, c, place)
        return tuple(used)

    def _add(self, used: list[int], a: int, here: Place, b: int, there: Place) -> None:
        """Add what a task of class `a` sends one of class `b`."""
        flow = self._flow.get((a, b))
        if flow is None:
            return
        pairs, nodes = self._workload.pairs, self._problem.node_count
        (n, _), (m, _) = here, there
        level = self._level(here, there)
        used[n] += flow.work[level] * pairs.cpu[n]
        if level >= RACK and pairs.nic_out:
            used[nodes + n] += flow.bits * pairs.nic_out[n]
            used[2 * nodes + m] += flow.bits * pairs.nic_in[m]
        if level == CLUSTER and pairs.uplink:
            r, s, racks = self._rack[n], self._rack[m], len(self._problem.racks)
            used[3 * nodes + r] += flow.bits * pairs.uplink[r]
            used[3 * nodes + racks + s] += flow.bits * pairs.uplink[s]

    def _level(self, here: Place, there: Place) -> int:
        if here == there:
            return WORKER
        if here[0] == there[0]:
            return NODE
        return RACK if self._rack[here[0]] == self._rack[there[0]] else CLUSTER

    def whole(self, placed: list[tuple[int, Place]]) -> int:
        """Return the highest utilisation of a complete placement, with all that is sent."""
        workload = self._workload
        offered = {
            "cpu": workload.cores,
            "out": workload.nic_out,
            "in": workload.nic_in,
            "up": workload.uplink,
            "down": workload.uplink,
        }
        used: dict[tuple[str, int], Fraction] = {}
        for what, where, amount in self._uses(Dealt(self._problem, workload, placed)):
            used[what, where] = used.get((what, where), Fraction(0)) + amount
        shares = (amount / offered[what][where] for (what, where), amount in used.items())
        steps = max(shares, default=Fraction(0)) / workload.unit
        assert steps.denominator == 1, "every utilisation is a whole number of steps"
        return steps.numerator

    def _uses(self, dealt: Dealt) -> Iterator[tuple[str, int, Fraction]]:
        """Yield (kind of resource, node or rack, what a task asks of it), nothing left out."""
        workload = self._workload
        for component, rates in dealt.rates.items():
            for (_, place), rate in zip(dealt.tasks[component], rates, strict=True):
                yield "cpu", place[0], rate * workload.receivers[component].service
        for emission in workload.emissions:
            for sender, receiver, amount in dealt.traffic(emission):
                level = self._level(sender, receiver)
                yield "cpu", sender[0], amount * workload.serialise[level]
                bits = amount * emission.megabits
                if level >= RACK and bits:
                    yield "out", sender[0], bits
                    yield "in", receiver[0], bits
                if level == CLUSTER and bits:
                    yield "up", self._rack[sender[0]], bits
                    yield "down", self._rack[receiver[0]], bits


class Dealt:
    """How tuples are dealt in a complete placement, task by task.

    Attributes
    ----------
    tasks
        Component -> (class, place) of each of its tasks.
    rates
        Component -> tuples/s that each of them receives, of a spout emits.
    """

    def __init__(
        self, problem: Problem, workload: Workload, placed: list[tuple[int, Place]]
    ) -> None:
        self._workload = workload
        self.tasks: dict[int, list[tuple[int, Place]]] = {}
        for c, place in placed:
            self.tasks.setdefault(problem.classes[c].component, []).append((c, place))
        self.rates: dict[int, list[Fraction]] = {}
        for component in workload.receivers:  # senders by `LOCAL` first
            if component in self.tasks:
                self.rates[component] = self._received(component)

    def _received(self, component: int) -> list[Fraction]:
        one, first = self._workload.receivers[component], self._workload.first.get(component)
        rates = [one.even + (one.first if c == first else 0) for c, _ in self.tasks[component]]
        for emission in self._workload.emissions:
            if emission.target == component and emission.grouping == LOCAL:
                for sender, (_, place) in enumerate(self.tasks[emission.source]):
                    to = self._targets(emission, place)
                    for receiver in to:
                        rates[receiver] += self._emitted(emission, sender) / len(to)
        return rates

    def _emitted(self, emission: Emission, sender: int) -> Fraction:
        return emission.by_task(
            self.rates[emission.source][sender], len(self.tasks[emission.source])
        )

    def _targets(self, emission: Emission, place: Place) -> list[int]:
        """Return which of the receiving tasks a task in a place sends to."""
        tasks = self.tasks[emission.target]
        some = list(range(len(tasks)))
        if emission.grouping == "global":
            return [j for j in some if tasks[j][0] == self._workload.first[emission.target]]
        if emission.grouping == LOCAL:
            return [j for j in some if tasks[j][1] == place] or some
        return some

    def traffic(self, emission: Emission) -> Iterator[tuple[Place, Place, Fraction]]:
        """Yield (place of the sender, of the receiver, tuples/s) for each pair of tasks."""
        for sender, (_, place) in enumerate(self.tasks.get(emission.source, ())):
            receivers = self._targets(emission, place)
            amount = self._emitted(emission, sender) / (
                1 if emission.grouping == "all" else len(receivers)
            )
            for receiver in receivers:
                yield place, self.tasks[emission.target][receiver][1], amount


# Which instances are tiny enough.


@declares(RULES, PARTS)
def supports(problem: Problem, params: ExhaustiveParams = EXHAUSTIVE_DEFAULTS) -> str | None:
    """Return ``None``, or why the problem is too large to enumerate."""
    tasks = problem.task_count
    if tasks > params.max_tasks:
        return f"{tasks} tasks; exhaustive search takes at most {params.max_tasks}"
    placements = _estimate(problem)
    if placements > params.max_placements:
        return (
            f"about {placements:.0e} placements of {tasks} tasks on {problem.node_count} nodes; "
            f"exhaustive search takes at most {params.max_placements:.0e}"
        )
    return None


def run(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Search all placements; deterministic work counts the places tried.

    It ends so soon that it reports nothing while it runs.
    """
    search = Search(Incumbent(problem, reporter or null_reporter(problem, "exhaustive")), limits)
    finished = search.run(hint)
    best, proof = search.best, ""
    if finished:
        if best.values is None:
            best.prove_infeasible()
        else:
            best.prove(best.values)
        proof = f"all placements enumerated up to symmetry, {search.tried} places tried"
    return best.outcome(proof, float(search.tried))


def _engine(params: ExhaustiveParams) -> Engine:
    return Engine(
        name="exhaustive",
        run=run,
        supports=partial(supports, params=params),
        version=lambda: version("slotwise"),
    )


EXHAUSTIVE = configurable(_engine, EXHAUSTIVE_DEFAULTS)


def _estimate(problem: Problem) -> float:
    """Return about how many placements there are, tasks of a class being interchangeable.

    Partitions of T tasks into w workers, each on one of N nodes: sum over w of S(T, w) * N**w,
    with Stirling numbers of the second kind; then divided by the permutations inside classes.
    """
    partitions: list[int] = [1]
    for _ in range(problem.task_count):
        partitions = [
            w * stay + new
            for w, (stay, new) in enumerate(zip([*partitions, 0], [0, *partitions], strict=True))
        ]
    total: int = sum(count * problem.node_count**w for w, count in enumerate(partitions))
    return float(total / math.prod(math.factorial(size) for size in problem.sizes))


# The search of the engine ``exhaustive``: branch and bound over all placements up to symmetry.
#
# Depth first over the tasks, class by class, each to a place (node, worker label). A branch ends
# where a hard rule breaks (adding tasks never mends a rule) or where the terms so far are not
# lexicographically below the incumbent's (every part only grows as tasks are added, so a partial
# vector is a lower bound of all its completions).
#
# Symmetry. Three kinds of change turn a placement into one that keeps the same rules at the same
# cost in every term:
#
# - swap two tasks of one class (same demand, flows, costs, home);
# - on one node, swap two *plain* worker labels, that is labels which are nobody's home there
#   (labels matter to the part ``moved`` alone, and that compares them with homes only);
# - swap the whole contents of two *twin* nodes: same rack, capacities, slots and linear costs,
#   neither is anyone's home, and distances come by level, not from a matrix.
#
# Write a placement as the sequence of places of the tasks in search order, and take, among all
# placements these changes reach, the one whose sequence is lexicographically least (there is one:
# places are pairs of non-negative integers). Then
#
# 1. inside a class the places do not fall, else swapping the two tasks gives a smaller sequence;
# 2. a plain label that its node's earlier tasks do not use is the smallest such label, else
#    swapping it with the smallest leaves the earlier tasks alone and lowers this one;
# 3. a node that no earlier task uses has no unused twin of lower index, else swapping the two
#    leaves the earlier tasks alone and lowers this one.
#
# So the search offers only places that keep 1, 2 and 3 and still meets every placement up to
# those changes; the three rules combine because one and the same sequence keeps them all.
# Topologies left out whole are the same ones throughout. Racks are never swapped.

CLOCK_EVERY = 256
"""Places tried between two looks at the clock."""


class _OutOfTimeError(Exception):
    """The search met its limit."""


class Search:
    """One run: the books, the incumbent and the clock."""

    def __init__(self, best: Incumbent, limits: Limits) -> None:
        self.problem = problem = best.problem
        self.best = best
        self.books = Books(problem)
        self.tried = 0
        self._limits = limits
        self._homes = _home_labels(problem)
        self._twins_before = _twins_before(problem)
        self._order = [
            [c for c in rules.classes for _ in problem.classes[c].tasks] for rules in problem.rules
        ]

    def run(self, hint: Placement | None) -> bool:
        """Search; return whether the search came to its end."""
        try:
            if hint is not None:
                self._replay(hint)
            self._topology(0)
        except _OutOfTimeError:
            return False
        except CancelledError:
            self.best.interrupted = True
            return False
        return True

    def _topology(self, t: int) -> None:
        """Place or leave out topology `t` and all after it."""
        if t == len(self._order):
            self._record()
            return
        self._task(t, 0, (0, 0))
        if self.problem.may_reject and self._order[t]:
            before = self.books.reject(t)
            if before is not None:
                if self._promising():
                    self._topology(t + 1)
                self.books.parts = before

    def _task(self, t: int, k: int, least: Place) -> None:
        """Place tasks k, k+1, ... of topology `t`, task k not below place `least`."""
        order = self._order[t]
        if k == len(order):
            self._topology(t + 1)
            return
        for place in self._offers(t, least):
            self._tick()
            undo = self.books.put(order[k], place)
            if undo is None:
                continue
            if self._promising():
                same_class = k + 1 < len(order) and order[k + 1] == order[k]
                self._task(t, k + 1, place if same_class else (0, 0))
            self.books.take_back(undo)

    def _offers(self, t: int, least: Place) -> Iterator[Place]:
        """Yield the places worth trying, ascending, from `least` on."""
        nodes = self.books.nodes
        for n in range(least[0], len(nodes)):
            if not nodes[n].workers and any(not nodes[m].workers for m in self._twins_before[n]):
                continue
            for label in self._labels(n, t):
                if (n, label) >= least:
                    yield n, label

    def _labels(self, n: int, t: int) -> list[int]:
        """Return homes on node `n`, labels of topology `t` in use, and the first plain one free.

        Labels in use by other topologies are not a choice: a worker has one topology.
        """
        homes = self._homes[n]
        used = {label: box for (node, label), box in self.books.workers.items() if node == n}
        fresh = next(i for i in itertools.count() if i not in used and i not in homes)
        own = {label for label, box in used.items() if box.topology == t}
        return sorted(own | (homes - used.keys()) | {fresh})

    def _promising(self) -> bool:
        best = self.best.values
        return best is None or self.books.values() < best

    def _record(self) -> None:
        """Keep the complete placement of the books if it is better than the incumbent.

        With the books' own values: they are what the judge is compared with.
        """
        best, values = self.best.values, self.books.values(complete=True)
        if best is None or values < best:
            self.best.keep(self._placement(), values)

    def _placement(self) -> Placement:
        """Return the books' tasks as a placement; tasks of a class take its places in order."""
        nodes = [UNPLACED] * self.problem.task_count
        labels = [UNPLACED] * self.problem.task_count
        places: dict[int, list[Place]] = {}
        for c, place in self.books.placed:
            places.setdefault(c, []).append(place)
        for c, class_places in places.items():
            for task, (n, label) in zip(self.problem.classes[c].tasks, class_places, strict=True):
                nodes[task], labels[task] = n, label
        return Placement(tuple(nodes), tuple(labels))

    def _replay(self, hint: Placement) -> None:
        """Make the hint the incumbent if it is whole and keeps every rule."""
        undos = []
        before = self.books.parts
        valid = len(hint.nodes) == self.problem.task_count
        for t, rules in enumerate(self.problem.rules):
            tasks = [(c, task) for c in rules.classes for task in self.problem.classes[c].tasks]
            if not valid or not tasks:
                continue
            if self.problem.may_reject and all(hint.nodes[task] == UNPLACED for _, task in tasks):
                valid = self.books.reject(t) is not None
                continue
            for c, task in tasks:
                place = (hint.nodes[task], hint.workers[task])
                is_node = 0 <= place[0] < self.problem.node_count
                undo = self.books.put(c, place) if is_node else None
                if undo is None:
                    valid = False
                    break
                undos.append(undo)
        if valid:
            self._record()
        for undo in reversed(undos):
            self.books.take_back(undo)
        self.books.parts = before

    def _tick(self) -> None:
        """Count one place tried; stop at the limits."""
        work = self._limits.deterministic_work
        if work is not None and self.tried >= work:
            raise _OutOfTimeError
        look = self.tried % CLOCK_EVERY == 0
        if look:
            self.best.reporter.token.check()
        if look and self.best.seconds > self._limits.time_s:
            raise _OutOfTimeError
        self.tried += 1


def _home_labels(problem: Problem) -> list[set[int]]:
    """Return, per node, the worker labels that are some class's home."""
    homes: list[set[int]] = [set() for _ in range(problem.node_count)]
    for task_class in problem.classes:
        if task_class.home is not None:
            homes[task_class.home[0]].add(task_class.home[1])
    return homes


def _twins_before(problem: Problem) -> list[list[int]]:
    """Return, per node, the interchangeable nodes of lower index."""
    twins: list[list[int]] = [[] for _ in range(problem.node_count)]
    for alike in equal_nodes(problem) if problem.matrix is None else ():
        for position, n in enumerate(alike):
            twins[n] = alike[:position]
    return twins
