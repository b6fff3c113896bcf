"""R-Storm as released: ``DefaultResourceAwareStrategy`` of Apache Storm 1.0.6 (tag v1.0.6).

One executor of each component in turn goes to the nearest node that has room for its cpu and its
memory: distance = root of the sum of squares of (need - free) / (free + 1) for cpu and memory, and
of the network distance from the node of the executor placed last, which is 0 on that node, 0.5 in
its rack and 1 elsewhere. The oddities are kept because they decide placements:

- The first executor goes to a node of the rack with most (MB and points added up), or nowhere.
- Of nodes at equal distance only the *last* is known (``TreeMap.put``). If no slot there takes the
  executor, the others of that distance are not tried.
- A slot takes an executor while the memory of its executors, off-heap too, is within the heap limit
  of a worker. Slots are tried in the order of Java's set of them; one that the topology has from
  before a round is not joined.
- What found no place is tried once more at the end, together with what is not in the graph.
- An attempt after an eviction begins at the node where the attempt before it ended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.one_by_one import one_of_each_in_turn
from slotwise.heuristics.ras.java.hash_codes import executor_hash, set_copy
from slotwise.heuristics.ras.java.iteration_order import walk
from slotwise.heuristics.ras.model.topology import Need
from slotwise.heuristics.rstorm.storm_1.cluster import Slot
from slotwise.heuristics.rstorm.storm_1.node import Storm1Node
from slotwise.heuristics.rstorm.storm_1.state import State
from slotwise.heuristics.rstorm.storm_1.topology import Storm1Topology

SAME_NODE, SAME_RACK, ELSEWHERE = 0.0, 0.5**2, 1.0
"""Network distances, squared."""


@dataclass(slots=True)
class Attempt:
    """An attempt to place a topology.

    Parameters
    ----------
    state
        A copy to work on: its nodes fill up.
    topology
        What is placed.
    free
        The free slots of each node that the strategy knows; they stay the same.
    slots
        Executors by slot, in the order in which they were placed.
    used
        Memory of the executors in each of these, MB.
    log, first
        Where to note what is placed, and the index of the topology's first task there; ``None`` =
        nowhere.
    """

    state: State
    topology: Storm1Topology
    free: dict[int, list[int]]
    slots: dict[Slot, list[int]] = field(default_factory=dict)
    used: dict[Slot, float] = field(default_factory=dict)
    log: DecisionLog | None = None
    first: int = 0

    def in_java_order(self) -> list[tuple[Slot, list[int]]]:
        """Return the slots in the order of Java's map of them, each with its executors."""
        order = walk(list(self.slots), self.state.cluster.slot_hash)
        return [(slot, self.slots[slot]) for slot in order]


class Storm1Strategy:
    """The strategy of one topology; attempts share the reference node."""

    def __init__(self) -> None:
        self._reference: int | None = None

    def attempt(
        self,
        state: State,
        topology: Storm1Topology,
        log: DecisionLog | None = None,
        first: int = 0,
    ) -> Attempt | None:
        """Return the slots of all executors that had none, or ``None``: some found no place.

        `state` is a copy, which changes. The topology must have a spout.
        What is placed is noted in `log`, the topology's tasks counted from `first`.
        """
        unassigned = state.unassigned(topology)
        free = {node: state.nodes[node].free_ports() for node in state.cluster.rack_of}
        attempt = Attempt(state, topology, free, log=log, first=first)
        assert topology.ranks is not None
        ranks = [
            [executor for executor in rank if executor in set(unassigned)]
            for rank in topology.ranks
        ]
        placed = {
            executor for executor in one_of_each_in_turn(ranks) if self._place(attempt, executor)
        }
        left = set_copy(unassigned, executor_hash, state.java)
        again = [executor for executor in left if executor not in placed]
        missing = [executor for executor in again if not self._place(attempt, executor)]
        return None if missing else attempt

    def _place(self, attempt: Attempt, executor: int) -> bool:
        """Find a slot for `executor` and put it there; return whether there is one."""
        need = attempt.topology.needs[executor]
        slot = self._slot(attempt, need)
        if slot is None:
            return False
        attempt.slots.setdefault(slot, []).append(executor)
        attempt.used[slot] = attempt.used.get(slot, 0.0) + need.memory
        attempt.state.nodes[slot[0]].take(need)
        if attempt.log is not None:
            attempt.log.put(attempt.first + executor, *slot)
        self._reference = slot[0]
        return True

    def _slot(self, attempt: Attempt, need: Need) -> Slot | None:
        state = attempt.state
        racks = state.cluster.racks
        if self._reference is None:
            racks = _best_rack(state)
        nearest: dict[float, Storm1Node] = {}
        for rack in racks:
            for index in rack:
                node = state.nodes[index]
                if attempt.free[index] and node.memory >= need.memory and node.cpu >= need.cpu:
                    nearest[self._distance(state, node, need)] = node
        for distance in sorted(nearest):
            index = nearest[distance].index
            for port in attempt.free[index]:
                left = attempt.topology.heap_limit - attempt.used.get((index, port), 0.0)
                if left >= need.memory:
                    return index, port
        return None

    def _distance(self, state: State, node: Storm1Node, need: Need) -> float:
        cpu = (need.cpu - node.cpu) / (node.cpu + 1)
        memory = (need.memory - node.memory) / (node.memory + 1)
        return math.sqrt(cpu * cpu + memory * memory + self._network(state, node.index))

    def _network(self, state: State, node: int) -> float:
        if self._reference is None or node == self._reference:
            return SAME_NODE
        rack_of = state.cluster.rack_of
        return SAME_RACK if rack_of[node] == rack_of[self._reference] else ELSEWHERE


def _best_rack(state: State) -> tuple[tuple[int, ...], ...]:
    """Return only the first rack with most left; all racks if nothing is left."""
    best, most = state.cluster.racks, 0.0
    for rack in state.cluster.racks:
        total = 0.0
        for node in rack:
            total += state.nodes[node].memory + state.nodes[node].cpu
        if total > most:
            best, most = (rack,), total
    return best
