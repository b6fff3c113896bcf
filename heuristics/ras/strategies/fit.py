"""Whether an executor may join a worker (``Cluster.wouldFit``, ``RasNode.wouldFit``)."""

from __future__ import annotations

from slotwise.heuristics.ras.model import ports_of, slot_order
from slotwise.heuristics.ras.state import RasState, RasWorker, Slot
from slotwise.heuristics.ras.strategies.executor_order import incompatible

SMALL_CPU = 0.001
"""A least cpu of workers below this counts as none in the rough test of a node."""


class Fit:
    """The rules of one strategy call: workers of one topology on the nodes of one state.

    Candidates are the slots that are free when the call starts, also once it has filled them;
    workers that the topology has from before are not joined (``RasNode.originallyFreeSlots``).

    Parameters
    ----------
    state
        The working state; changed by the call.
    topology
        Index of the topology to schedule.
    constrained
        Whether its constraints count (the constraint solver strategy alone reads them).
    """

    def __init__(self, state: RasState, topology: int, *, constrained: bool) -> None:
        model = state.model
        self.state = state
        self.topology = topology
        self.view = model.topologies[topology]
        self.least_cpu = model.least_cpu
        self._candidates: dict[int, list[int]] = {}
        self._opened: dict[int, int] = {}
        self._full: dict[tuple[int, int], tuple[int, int]] = {}
        self.slot_counts = [self._free_slots(node) for node in range(len(model.cluster.ids))]
        self._apart = incompatible(self.view) if constrained else None
        limits = self.view.topology.constraints.max_per_node
        self._most = [limits.get(one.id) for one in self.view.components]

    def slots(self, node: int) -> list[int]:
        """Return the labels of the candidate slots of `node` in the order they are tried.

        Must be asked for before the call changes anything on the node.
        """
        slots = self._candidates.get(node)
        if slots is None:
            slots = self._candidates[node] = self._find_slots(node)
        return slots

    def could_ever_fit(self, node: int, component: int) -> bool:
        """Whether the node has room for what an executor itself asks for (``couldEverFit``)."""
        need = self.view.components[component].need
        state = self.state
        least = self.least_cpu
        cpu = need.cpu if least < SMALL_CPU else max(need.cpu - least, 0.0)
        if cpu > state.cpu[node] or need.memory > state.memory[node]:
            return False
        left = state.generic[node]
        return all(a >= b for a, b in zip(left, need.generic, strict=True))

    def join(self, node: int, label: int, task: int) -> RasWorker | None:
        """Return the worker of a slot with `task` in it; ``None`` where that is not valid.

        The caller has seen to `could_ever_fit`.
        """
        view, state = self.view, self.state
        worker = state.workers[node].get(label)
        c = view.component_of[task]
        if worker is not None and not self._admits(worker, c):
            return None
        if self._apart is not None and self._too_many(node, c):
            return None
        after = state.grown(self.topology, worker, task)
        cpu_added = after.charged - (0.0 if worker is None else worker.charged)
        if cpu_added > state.cpu[node] or after.onheap > view.heap_limit:
            return None
        memory = 0.0 if worker is None else worker.offheap + worker.onheap
        memory_after = after.offheap + after.onheap
        if view.node_shared:
            memory += state.node_shared(self.topology, node)
            memory_after += state.node_shared(self.topology, node, c)
        return None if memory_after - memory > state.memory[node] else after

    def scan(self, node: int, task: int, skip: int) -> tuple[int, RasWorker] | None:
        """Return the first candidate slot of `node` that takes `task`, and its worker then.

        The slot is its place in `slots`; the first `skip` are passed over. Slots without a worker
        are all alike.
        """
        workers = self.state.workers[node]
        component = self.view.component_of[task]
        labels = self.slots(node)
        full = self._full_before(node, component)
        fresh_is_full = False
        fit = None
        for index in range(max(skip, full), len(labels)):
            worker = workers.get(labels[index])
            if worker is None and fresh_is_full:
                if index >= self._opened.get(node, 0):
                    break  # no candidate behind has a worker
                continue
            if index == full and worker is not None and not self._admits(worker, component):
                full += 1
                continue
            after = self.join(node, labels[index], task)
            if after is not None:
                fit = index, after
                break
            fresh_is_full = fresh_is_full or worker is None
        self._full[node, component] = self.state.shrinks[node], full
        return fit

    def take(self, node: int, index: int, after: RasWorker) -> Slot:
        """Put the worker that `scan` found into its slot of `node`; return the slot."""
        slot = node, self.slots(node)[index]
        self._opened[node] = max(self._opened.get(node, 0), index + 1)
        self.state.replace(slot, after)
        return slot

    def _full_before(self, node: int, component: int) -> int:
        """Return how many candidate slots of `node` at its front are known to refuse a component.

        Their workers themselves refuse it; growing, they always will. Where sums of doubles can
        be rounded, in whatever order, nothing is taken as known.
        """
        shrinks, full = self._full.get((node, component), (0, 0))
        return full if shrinks == self.state.shrinks[node] and self.state.model.exact else 0

    def _admits(self, worker: RasWorker, component: int) -> bool:
        """Whether the worker itself takes one more; its heap only where no sum is rounded."""
        topology = self.view.topology
        heap = worker.onheap + self.view.components[component].need.onheap
        if heap > self.view.heap_limit and self.state.model.exact:
            return False
        if topology.one_task_per_worker:
            return False
        if topology.one_component_per_worker and component not in worker.counts:
            return False
        return self._apart is None or self._apart[component].isdisjoint(worker.counts)

    def _too_many(self, node: int, component: int) -> bool:
        most = self._most[component]
        if most is None:
            return False
        return self.state.component_count(self.topology, node, component) >= most

    def _free_slots(self, node: int) -> int:
        """Return how many candidates a node has: its ports that are not in use."""
        cluster, used = self.state.model.cluster, self.state.workers[node]
        return max(cluster.slots[node], len(cluster.running[node].union(used))) - len(used)

    def _find_slots(self, node: int) -> list[int]:
        """Return the candidates; ports are fixed by what ran when the round began."""
        cluster, used = self.state.model.cluster, self.state.workers[node]
        ports = ports_of(cluster.running[node].union(used), cluster.slots[node])
        return slot_order(cluster.ids[node], ports, used)
