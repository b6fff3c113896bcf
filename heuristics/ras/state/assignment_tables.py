"""The hash tables of a working cluster of Storm's (``Cluster``, ``SchedulerAssignmentImpl``).

What is assigned stands in `RasState`. Here is only in which order Java would add it up, which
shows where sums of doubles are rounded: a remainder of 2e-16 where there should be none evicts
one topology more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from slotwise.heuristics.ras.java.hash_codes import executor_hash, slot_hash
from slotwise.heuristics.ras.java.hash_map import JavaTable
from slotwise.heuristics.ras.java.iteration_order import string_hash
from slotwise.heuristics.ras.model.model import RasModel

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
        Keys of ``nodeIdToTotalSharedOffHeapNode``, also of nodes that have been left.
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

    def assign(self, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `tasks` were put into the free `slot`, in this order."""
        for task in tasks:
            self.executors.put(task)
        self.workers.compute_if_absent(slot)
        self.resources.put(slot)
        self.nodes.put(slot[0])

    def free(self, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `slot` was freed of `tasks`, all it had."""
        self.workers.remove(slot)
        for task in tasks:
            self.executors.remove(task)
        self.resources.remove(slot)
        self.nodes.put(slot[0])


class ClusterTables:
    """The tables of all topologies and nodes, by index.

    Attributes
    ----------
    assignments
        Per topology.
    """

    def __init__(self, model: RasModel) -> None:
        """Start with nothing assigned."""
        self._model = model
        self._node_hashes = [string_hash(one) for one in model.cluster.ids]
        hashes = [string_hash(one.topology.id) for one in model.topologies]
        self._topologies: JavaTable[int] = JavaTable(lambda topology: hashes[topology])
        self.assignments = [AssignmentTables(self._node_hashes) for _ in hashes]
        self._labels = [JavaTable(partial(slot_hash, start)) for start in self._node_hashes]

    def assign(self, topology: int, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `tasks` were put into the free `slot`, in this order."""
        self._topologies.put(topology)
        self.assignments[topology].assign(slot, tasks)
        self._labels[slot[0]].put(slot[1])

    def free(self, topology: int, slot: Slot, tasks: Sequence[int]) -> None:
        """Note that `slot` was freed of `tasks`, all it had."""
        self.assignments[topology].free(slot, tasks)

    def copy(self, tasks_of: Callable[[Slot], Sequence[int]]) -> ClusterTables:
        """Return the tables of a copied cluster, which assigns worker by worker again."""
        other = ClusterTables(self._model)
        for topology in self._topologies:
            for slot in self.assignments[topology].workers:
                other.assign(topology, slot, tasks_of(slot))
        return other

    def read_order(self, slots: Iterable[Slot]) -> list[Slot]:
        """Return the slots of a running topology in the order in which Storm reads them."""
        read = AssignmentTables(self._node_hashes).workers
        for slot in slots:
            read.compute_if_absent(slot)
        return list(read)

    def labels(self, node: int, used: Iterable[int]) -> list[int]:
        """Return the `used` labels of a node in the order of its map of slots."""
        wanted = set(used)
        return [label for label in self._labels[node] if label in wanted]

    def topologies(self, some: Iterable[int]) -> list[int]:
        """Return `some` assigned topologies in the order of the map of assignments."""
        wanted = set(some)
        return [topology for topology in self._topologies if topology in wanted]
