"""The working cluster of a round of RAS: assignments, and the capacity left.

Storm keeps it in ``Cluster`` and ``SchedulerAssignmentImpl``: sums of doubles in the order of its
hash tables, loads of a node and of a worker. Where a last digit decides an eviction, the same digit
must come out here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.ras.java.hash_codes import executor_hash, map_copy, set_order, slot_hash
from slotwise.heuristics.ras.java.hash_map import LEAST_TABLE, JavaTable
from slotwise.heuristics.ras.java.iteration_order import map_order, string_hash
from slotwise.heuristics.ras.model import Offer, RasModel, RasTopology
from slotwise.models.instance.placement import UNPLACED, Placement, from_places

# The hash tables of a working cluster of Storm's (``Cluster``, ``SchedulerAssignmentImpl``).
#
# What is assigned stands in `RasState`. Here is only in which order Java would add it up, which
# shows where sums of doubles are rounded: a remainder of 2e-16 where there should be none evicts
# one topology more.

Slot = tuple[int, int]
"""Node index and worker label (Storm's port)."""


class AssignmentTables:
    """The tables of one topology.

    Attributes
    ----------
    executors
        Keys of ``executorToSlot``.
    workers, resources
        Keys of ``slotToExecutors`` and of ``resources``.
    nodes
        Keys of ``nodeIdToTotalSharedOffHeapNode``, also of nodes that have been left: those came
        out and back.
    """

    def __init__(self, node_hashes: Sequence[int]) -> None:
        """Start empty; `node_hashes` are the hash codes of the nodes' ids."""

        def hash_of_slot(slot: Slot) -> int:
            return slot_hash(node_hashes[slot[0]], slot[1])

        self._node_hashes = node_hashes
        self.executors = JavaTable(executor_hash)
        self.workers = JavaTable(hash_of_slot)
        self.resources = JavaTable(hash_of_slot)
        self.nodes = JavaTable(node_hashes.__getitem__)
        self._workers_on: Counter[int] = Counter()

    def assign(self, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `tasks` were put into the free `slot`, in this order."""
        for task in tasks:
            self.executors.put(task)
        self.workers.compute_if_absent(slot)
        self.resources.put(slot)
        self.nodes.put(slot[0])
        self._workers_on[slot[0]] += 1

    def free(self, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `slot` was freed of `tasks`, all it had."""
        self.workers.remove(slot)
        self._workers_on[slot[0]] -= 1
        for task in tasks:
            self.executors.remove(task)
        self.resources.remove(slot)
        if not self._workers_on[slot[0]]:
            self.nodes.remove(slot[0])
        self.nodes.put(slot[0])


class ClusterTables:
    """The tables of all topologies and nodes, by index.

    Attributes
    ----------
    topologies
        Keys of the map of assignments, also topologies that have lost all.
    assignments
        Per topology.
    """

    def __init__(self, model: RasModel, buckets: int = LEAST_TABLE) -> None:
        """Start with nothing assigned; `buckets` are those of the map of assignments."""
        self._model = model
        self._node_hashes = [string_hash(one) for one in model.cluster.ids]
        hashes = [string_hash(one.topology.id) for one in model.topologies]
        self._topology_hash = hashes.__getitem__
        self.topologies: JavaTable[int] = JavaTable(self._topology_hash, buckets)
        self._sharing: dict[int, JavaTable[int]] = {}
        self.assignments = [AssignmentTables(self._node_hashes) for _ in hashes]
        self._labels = [JavaTable(partial(slot_hash, start)) for start in self._node_hashes]

    def assign(self, topology: int, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `tasks` were put into the free `slot`, in this order."""
        self.topologies.put(topology)
        self.assignments[topology].assign(slot, tasks)
        self._labels[slot[0]].put(slot[1])
        if slot[0] not in self._sharing:
            self._sharing[slot[0]] = JavaTable(self._topology_hash)
        self._sharing[slot[0]].put(topology)

    def free(self, topology: int, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `slot` was freed of `tasks`, all it had."""
        self.assignments[topology].free(slot, tasks)

    def copy(self, tasks_of: Callable[[Slot], Sequence[int]]) -> ClusterTables:
        """Return the tables of a copied cluster, which assigns worker by worker again."""
        return self._assigned_again(ClusterTables(self._model), self.topologies, tasks_of)

    def taking_over(
        self, other: ClusterTables, tasks_of: Callable[[Slot], Sequence[int]]
    ) -> ClusterTables:
        """Return the tables after ``updateFrom``: assigned again in the order of a copied map.

        The map of assignments stays as large as it was.
        """
        listed = map_copy(list(other.topologies), self._topology_hash, self._model.java)
        emptied = ClusterTables(self._model, self.topologies.buckets)
        return other._assigned_again(emptied, listed, tasks_of)

    def _assigned_again(
        self,
        fresh: ClusterTables,
        topologies: Iterable[int],
        tasks_of: Callable[[Slot], Sequence[int]],
    ) -> ClusterTables:
        for topology in topologies:
            for slot in self.assignments[topology].workers:
                fresh.assign(topology, slot, tasks_of(slot))
        return fresh

    def read_topologies(self, running: Iterable[int]) -> list[int]:
        """Return running topologies in the order of the map of them that Storm reads.

        What runs has no order in a file, so the map is filled in that of the ids.
        """
        index = {self._model.topologies[t].topology.id: t for t in running}
        return [index[key] for key in map_order(sorted(index))]

    def read_slots(self, slots: Iterable[Slot]) -> list[Slot]:
        """Return the slots of a running topology in the order in which Storm reads them."""
        read = AssignmentTables(self._node_hashes).workers
        for slot in slots:
            read.compute_if_absent(slot)
        return list(read)

    def labels(self, node: int, used: Iterable[int]) -> list[int]:
        """Return the `used` labels of a node in the order of its map of slots."""
        used_labels = set(used)
        return [label for label in self._labels[node] if label in used_labels]

    def sharing(self, node: int, some: Iterable[int]) -> list[int]:
        """Return `some` topologies in the order of the node's map of what they share there."""
        selected = set(some)
        return [topology for topology in self._sharing.get(node, ()) if topology in selected]


# The contents and requests of a worker, in Storm's doubles (``Cluster.calculateWorkerResources``).


@dataclass(frozen=True, slots=True)
class RasWorker:
    """A worker of one topology; never changed, only replaced.

    Parameters
    ----------
    topology
        Index in the instance.
    tasks
        Its executors in the order in which Java would add up what they ask for.
    counts
        Component index -> executors of it.
    cpu, charged
        Cpu of its executors, and what counts on the node: at least the least cpu of a worker.
    onheap, offheap
        MB with shared regions of the worker, not those of the node.
    generic
        Of each generic resource.
    regions
        Indices of the shared regions that its executors touch.
    """

    topology: int
    tasks: tuple[int, ...]
    counts: dict[int, int]
    cpu: float
    charged: float
    onheap: float
    offheap: float
    generic: tuple[float, ...]
    regions: frozenset[int]


def worker_of(
    topology: RasTopology, index: int, tasks: Sequence[int], least_cpu: float
) -> RasWorker:
    """Return the worker of `tasks`, added up in their order."""
    cpu = onheap = offheap = 0.0
    generic = [0.0] * len(topology.components[topology.component_of[tasks[0]]].need.generic)
    counts: dict[int, int] = {}
    for task in tasks:
        c = topology.component_of[task]
        component = topology.components[c]
        need = component.need
        cpu += need.cpu
        onheap += need.onheap
        offheap += need.offheap
        for g, amount in enumerate(need.generic):
            generic[g] += amount
        counts[c] = counts.get(c, 0) + 1
    regions = topology.regions_of(counts)
    for r in regions:
        offheap += topology.regions[r].offheap_worker
        onheap += topology.regions[r].onheap
    charged = max(cpu, least_cpu)
    held = frozenset(regions)
    return RasWorker(
        index, tuple(tasks), counts, cpu, charged, onheap, offheap, tuple(generic), held
    )


def with_task(
    topology: RasTopology, index: int, worker: RasWorker | None, task: int, least_cpu: float
) -> RasWorker:
    """Return the worker with one more executor, added up in the order of Java's set of them."""
    before = () if worker is None else worker.tasks
    return worker_of(topology, index, set_order((task, *before), executor_hash), least_cpu)


def with_task_exactly(
    topology: RasTopology, index: int, worker: RasWorker | None, task: int, least_cpu: float
) -> RasWorker:
    """Return the same where no sum of doubles is ever rounded: by adding to what is there."""
    c = topology.component_of[task]
    component = topology.components[c]
    need = component.need
    if worker is None:
        return worker_of(topology, index, (task,), least_cpu)
    cpu = worker.cpu + need.cpu
    onheap, offheap = worker.onheap + need.onheap, worker.offheap + need.offheap
    regions = worker.regions
    for r in component.regions:
        if r not in regions:
            onheap += topology.regions[r].onheap
            offheap += topology.regions[r].offheap_worker
            regions = regions | {r}
    generic = worker.generic
    if generic:
        generic = tuple([a + b for a, b in zip(generic, need.generic, strict=True)])
    counts = dict(worker.counts)
    counts[c] = counts.get(c, 0) + 1
    charged = cpu if cpu > least_cpu else least_cpu
    return RasWorker(
        index, (*worker.tasks, task), counts, cpu, charged, onheap, offheap, generic, regions
    )


# The working cluster of one scheduling round: assignments, and the capacity left of each node.
#
# It stands over an `Instance`, not the compiled `Problem`: Storm computes in doubles of the
# user's own units, compares names, follows the file's order; integers of a `Problem` round
# differently.
#
# What a node has left is its capacity less its workers and the shared memory counted on it, 0 at
# the least, each sum taken in the order in which Java takes it. Where all numbers of the instance
# are so coarse that no sum can be rounded (`RasModel.exact`), the order decides nothing and sums
# are kept up by adding and subtracting.
#
# A wart of Storm's is kept: freeing the last executors of a topology on a node leaves its
# ``offheap_node`` memory counted there until the topology is assigned to the node again, or until
# the state is copied (``Cluster.freeSlot``, ``nodeToScheduledOffHeapNodeMemoryCache``).


class RasState:
    """Topologies' executors in workers on nodes; topologies and nodes by index.

    Attributes
    ----------
    model
        See `RasModel`.
    places
        Per topology: executor -> (node, worker label).
    workers
        Per node: worker label -> worker.
    cpu, memory, generic
        What each node has left.
    on_node
        Per topology: node -> number of its executors there.
    changes
        Nodes in the order in which something changed on them; grows.
    shrinks
        Per node: how often an executor or a worker left it.
    log
        Where assigning and freeing is noted; ``None`` = nowhere. A copy of the state has a copy.
    tables
        The orders in which Java adds up; ``None`` where no sum can be rounded.
    """

    def __init__(self, model: RasModel, log: DecisionLog | None = None) -> None:
        """Start with nothing assigned."""
        cluster = model.cluster
        self.model = model
        self.log = log
        self.places: list[dict[int, Slot]] = [{} for _ in model.topologies]
        self.on_node: list[dict[int, int]] = [{} for _ in model.topologies]
        self.workers: list[dict[int, RasWorker]] = [{} for _ in cluster.ids]
        self.cpu = list(cluster.cpu)
        self.memory = list(cluster.memory)
        self.generic = list(cluster.generics)
        self.changes: list[int] = []
        self.shrinks = [0] * len(cluster.ids)
        nothing: Load = (0.0, 0.0, 0.0, (0.0,) * len(cluster.generic))
        self._used = [nothing] * len(cluster.ids)
        self._shared: list[dict[int, float]] = [{} for _ in cluster.ids]
        self.tables = None if model.exact else ClusterTables(model)
        sizes = (len(topology.component_of) for topology in model.topologies)
        self._first = [0, *accumulate(sizes)]

    @classmethod
    def running(cls, model: RasModel, log: DecisionLog | None = None) -> RasState:
        """Return the state of ``instance.running``; without it nothing is assigned."""
        state = cls(model, log)
        running = model.instance.still_running
        if running is not None:
            state.put(from_places(model.instance, running))
        return state

    def copy(self) -> RasState:
        """Return an independent state that has the same assignments, and no stale memory."""
        return self._with_tables(None if self.tables is None else self.tables.copy(self._tasks_of))

    def _tasks_of(self, slot: Slot) -> tuple[int, ...]:
        return self.workers[slot[0]][slot[1]].tasks

    def _with_tables(self, tables: ClusterTables | None) -> RasState:
        """Return the copy that has these tables."""
        other = RasState(self.model, None if self.log is None else self.log.copy())
        other.places = [dict(one) for one in self.places]
        other.on_node = [dict(one) for one in self.on_node]
        other.workers = [dict(one) for one in self.workers]
        other.cpu, other.memory, other.generic = self.cpu[:], self.memory[:], self.generic[:]
        other._used = list(self._used)
        other._shared = [dict(one) for one in self._shared]
        other.tables = tables
        if tables is not None:
            for node, held in enumerate(other.workers):
                if held:
                    other._refresh(node)
        for node, shared in enumerate(self._shared):
            if shared:
                left = [t for t in shared if node in self.on_node[t]]
                other._shared[node] = {t: self.node_shared(t, node) for t in left}
                other._refresh(node)
        return other

    def adopt(self, other: RasState) -> None:
        """Take over all assignments of `other`, a state of the same instance."""
        tables = None
        if self.tables is not None and other.tables is not None:
            tables = self.tables.taking_over(other.tables, other._tasks_of)
        fresh = other._with_tables(tables)
        self.places, self.on_node, self.workers = fresh.places, fresh.on_node, fresh.workers
        self.cpu, self.memory, self.generic = fresh.cpu, fresh.memory, fresh.generic
        self._used, self._shared, self.tables = fresh._used, fresh._shared, fresh.tables
        self.log = fresh.log
        self.changes.extend(range(len(self.workers)))

    def put(self, placement: Placement) -> None:
        """Assign every task that `placement` places; tasks in the instance's canonical order.

        A worker that holds another topology is left to it, and the tasks stay unassigned.
        """
        slots: dict[int, dict[Slot, list[int]]] = {}
        for t, topology in enumerate(self.model.topologies):
            for task in range(len(topology.component_of)):
                row = self._first[t] + task
                if placement.nodes[row] != UNPLACED:
                    slot = placement.nodes[row], placement.workers[row]
                    slots.setdefault(t, {}).setdefault(slot, []).append(task)
        for t in slots if self.tables is None else self.tables.read_topologies(slots):
            own = slots[t]
            for slot in own if self.tables is None else self.tables.read_slots(own):
                if slot[1] not in self.workers[slot[0]]:
                    topology = self.model.topologies[t]
                    self.replace(slot, worker_of(topology, t, own[slot], self.model.least_cpu))

    def placement(self) -> Placement:
        """Return all assignments as a placement of the instance."""
        places = [
            self.places[t].get(task, (UNPLACED, UNPLACED))
            for t, topology in enumerate(self.model.topologies)
            for task in range(len(topology.component_of))
        ]
        return Placement(tuple(node for node, _ in places), tuple(label for _, label in places))

    def unassigned(self, topology: int) -> tuple[int, ...]:
        """Return the executors of `topology` without a place, ascending."""
        placed = self.places[topology]
        count = len(self.model.topologies[topology].component_of)
        return tuple(task for task in range(count) if task not in placed)

    def assign(self, topology: int, slot: Slot, tasks: Iterable[int]) -> None:
        """Put unassigned executors of `topology` into the worker at `slot`, opened if need be."""
        for task in tasks:
            self.replace(slot, self.grown(topology, self.workers[slot[0]].get(slot[1]), task))

    def free(self, topology: int) -> None:
        """Unassign all executors of `topology`."""
        for slot in dict.fromkeys(self.places[topology].values()):
            self.free_slot(slot)

    def free_slot(self, slot: Slot) -> None:
        """End the worker at `slot`; its node's shared memory stays counted (see the module)."""
        worker = self.workers[slot[0]].pop(slot[1])
        self.shrinks[slot[0]] += 1
        for task in worker.tasks:
            del self.places[worker.topology][task]
            if self.log is not None:
                self.log.remove(self._first[worker.topology] + task)
        self._count(worker.topology, slot[0], -len(worker.tasks))
        if self.tables is not None:
            self.tables.free(worker.topology, slot, worker.tasks)
        self._account(slot[0], worker, None)

    def free_task(self, slot: Slot, task: int) -> None:
        """Unassign one executor of the worker at `slot`; the last one ends the worker."""
        worker = self.workers[slot[0]][slot[1]]
        left = [one for one in set_order(worker.tasks, executor_hash) if one != task]
        log, self.log = self.log, None  # the others keep their places
        self.free_slot(slot)
        if left:
            topology = self.model.topologies[worker.topology]
            self.replace(slot, worker_of(topology, worker.topology, left, self.model.least_cpu))
        if log is not None:
            log.remove(self._first[worker.topology] + task)
            self.log = log

    def grown(self, topology: int, worker: RasWorker | None, task: int) -> RasWorker:
        """Return `worker` with one more executor; ``None`` = a new worker."""
        add = with_task_exactly if self.model.exact else with_task
        model = self.model.topologies[topology]
        return add(model, topology, worker, task, self.model.least_cpu)

    def replace(self, slot: Slot, worker: RasWorker) -> None:
        """Set the worker at `slot`, which is free or has some of the executors of `worker`."""
        node, label = slot
        before = self.workers[node].get(label)
        self.workers[node][label] = worker
        places = self.places[worker.topology]
        for task in worker.tasks:
            if self.log is not None and task not in places:
                self.log.put(self._first[worker.topology] + task, *slot)
            places[task] = slot
        added = len(worker.tasks) - (0 if before is None else len(before.tasks))
        self._count(worker.topology, node, added)
        if self.tables is not None:
            if before is not None:
                self.tables.free(worker.topology, slot, before.tasks)
            self.tables.assign(worker.topology, slot, worker.tasks)
        if self.model.topologies[worker.topology].node_shared:
            self._shared[node][worker.topology] = self.node_shared(worker.topology, node)
        self._account(node, before, worker)

    def node_shared(self, topology: int, node: int, extra: int | None = None) -> float:
        """Return the ``offheap_node`` memory of `topology` on `node`, MB, each region once.

        `extra` is the index of a component as if one executor of it came.
        """
        model = self.model.topologies[topology]
        present = dict.fromkeys(c for one in self._mine(topology, node) for c in one.counts)
        if extra is not None:
            present[extra] = None
        total = 0.0
        for r in model.regions_of(present):
            total += model.regions[r].offheap_node
        return total

    def component_count(self, topology: int, node: int, component: int) -> int:
        """Return the number of executors of a component on `node`."""
        return sum(worker.counts.get(component, 0) for worker in self._mine(topology, node))

    def available_totals(self) -> Offer:
        """Return what the nodes have left together, see `left_together`."""
        return left_together(self.model, self._used)

    def _mine(self, topology: int, node: int) -> list[RasWorker]:
        return [one for one in self.workers[node].values() if one.topology == topology]

    def _count(self, topology: int, node: int, added: int) -> None:
        here = self.on_node[topology]
        here[node] = here.get(node, 0) + added
        if not here[node]:
            del here[node]

    def _account(self, node: int, before: RasWorker | None, after: RasWorker | None) -> None:
        """Take note that a worker on `node` was replaced."""
        if self.model.exact and not self._shared[node]:
            self._used[node] = exchanged(self._used[node], before, after)
            self._set_left(node)
        else:
            self._refresh(node)

    def _refresh(self, node: int) -> None:
        """Add up what is used on `node` in the order in which Java does."""
        workers, shared = self.workers[node], self._shared[node]
        labels, sharing = list(workers), list(shared)
        if self.tables is not None:
            labels, sharing = self.tables.labels(node, workers), self.tables.sharing(node, shared)
        contents = [workers[label] for label in labels]
        self._used[node] = added_up(self.model, contents, [shared[t] for t in sharing])
        self._set_left(node)

    def _set_left(self, node: int) -> None:
        cluster = self.model.cluster
        cpu, onheap, offheap, generic = self._used[node]
        self.cpu[node] = max(0.0, cluster.cpu[node] - cpu)
        self.memory[node] = max(0.0, cluster.memory[node] - (onheap + offheap))
        if generic:
            pairs = zip(cluster.generics[node], generic, strict=True)
            self.generic[node] = tuple([max(0.0, a - b) for a, b in pairs])
        self.changes.append(node)


# What the workers on a node use together, in Storm's doubles.

Load = tuple[float, float, float, tuple[float, ...]]
"""Cpu, on-heap and off-heap MB, generic resources."""


def added_up(model: RasModel, workers: Iterable[RasWorker], shared: Iterable[float]) -> Load:
    """Return the load of workers, and of memory shared on the node, in the order given."""
    cpu = onheap = offheap = 0.0
    generic = [0.0] * len(model.cluster.generic)
    for worker in workers:
        cpu += worker.charged
        onheap += worker.onheap
        offheap += worker.offheap
        for g, amount in enumerate(worker.generic):
            generic[g] += amount
    for amount in shared:
        offheap += amount
    return cpu, onheap, offheap, tuple(generic)


def exchanged(load: Load, before: RasWorker | None, after: RasWorker | None) -> Load:
    """Return a load with one worker in place of another, where no sum is ever rounded."""
    cpu, onheap, offheap, generic = load
    for worker, sign in ((before, -1.0), (after, 1.0)):
        if worker is not None:
            cpu += sign * worker.charged
            onheap += sign * worker.onheap
            offheap += sign * worker.offheap
            if generic:
                pairs = zip(generic, worker.generic, strict=True)
                generic = tuple([a + sign * b for a, b in pairs])
    return cpu, onheap, offheap, generic


def left_together(model: RasModel, loads: Sequence[Load]) -> Offer:
    """Return what all nodes have left (``getNonBlacklistedClusterAvailableResources``).

    Capacities are added and loads subtracted node by node, 0 at the least each time.
    """
    cluster = model.cluster
    cpu = memory = 0.0
    generic = [0.0] * len(cluster.generic)
    for node in cluster.supervisor_order:
        used_cpu, onheap, offheap, used = loads[node]
        cpu = max(0.0, cpu + cluster.cpu[node] - used_cpu)
        memory = max(0.0, memory + cluster.memory[node] - (onheap + offheap))
        for g, amount in enumerate(cluster.generics[node]):
            generic[g] = max(0.0, generic[g] + amount - used[g])
    return Offer(cpu, memory, dict(zip(cluster.generic, generic, strict=True)))
