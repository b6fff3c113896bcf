"""A round of Apache Storm 1.0.6: ``ResourceAwareScheduler`` with its default strategies.

Read from the sources (tag v1.0.6). The user who uses the least share of a guarantee comes next,
with the first of the pending topologies. One that does not fit evicts others, one at a time, as
long as the rules allow; if that does not help, all is as it was before.
Statuses are Storm's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import TopologyOutcome
from slotwise.heuristics.one_by_one import one_of_each_in_turn
from slotwise.heuristics.ras.java.hash_codes import JAVA_RELEASE, executor_hash, set_copy
from slotwise.heuristics.ras.java.iteration_order import walk
from slotwise.heuristics.ras.model import Need
from slotwise.heuristics.rstorm.storm_1.cluster import (
    OverdrawnError,
    Slot,
    Storm1Node,
    storm_1_cluster,
)
from slotwise.heuristics.rstorm.storm_1.state import RUNNING, State, User, first_state
from slotwise.heuristics.rstorm.storm_1.topology import Storm1Topology, storm_1_topology
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement

SAME = 0.0001
"""Shares of guarantees that differ by less are the same."""

SCHEDULED = "Running - Fully Scheduled by DefaultResourceAwareStrategy"
INVALID = "Scheduling Attempted but topology is invalid"
OVERDRAWN = (
    "Unsuccessful in scheduling - IllegalStateException thrown when attempting to assign "
    "executors to nodes. Please check log for details."
)


@dataclass(frozen=True, slots=True)
class Storm1Round:
    """What a round leaves: all that has a place, and the outcome of each topology by id."""

    placement: Placement
    outcomes: Mapping[str, TopologyOutcome]


def schedule_storm_1(
    instance: Instance, java: int = JAVA_RELEASE, log: DecisionLog | None = None
) -> Storm1Round:
    """Return what one round makes of `instance`; `java`: whose hash tables are followed.

    `log` records what is placed and evicted, beginning with what runs; ``None`` = nothing does.

    Raises
    ------
    OverdrawnError
        Where Storm's scheduler itself throws, and schedules nothing.
    """
    topologies = {one.id: storm_1_topology(one, java) for one in instance.topologies}
    cluster = storm_1_cluster(instance, java)
    scheduler = _Scheduler(first_state(instance, cluster, topologies, java), log)
    while (topology := scheduler.next_topology()) is not None:
        scheduler.schedule(topology)
    if log is not None and (present := scheduler.present_log()) is not None:
        log.adopt(present)
    last = scheduler.state
    last.copy()  # Storm sums up once more, and may throw
    return _round(instance, last)


class _Scheduler:
    """The scheduler and its present state."""

    def __init__(self, state: State, log: DecisionLog | None = None) -> None:
        self.state = state
        self._log = log
        sizes = (len(topology.needs) for topology in state.topologies.values())
        self._first = dict(zip(state.topologies, accumulate(sizes, initial=0), strict=False))

    def next_topology(self) -> Storm1Topology | None:
        """Return whose turn it is (``DefaultSchedulingPriorityStrategy``)."""
        least, chosen = math.inf, None
        for user in self.state.users.values():
            if user.pending:
                share = user.average_share()
                if least > share or (
                    chosen and abs(least - share) < SAME and self._has_more(user, chosen)
                ):
                    chosen, least = user, share
        return chosen.next_topology() if chosen else None

    def _has_more(self, user: User, other: User) -> bool:
        return self._guaranteed(user) > self._guaranteed(other)

    def _guaranteed(self, user: User) -> float:
        """Return the mean share of the cluster that is guaranteed; NaN where it has nothing."""
        cluster = self.state.cluster
        cpu, memory = (
            part / total if total else part * math.inf
            for part, total in ((user.cpu, cluster.total_cpu), (user.memory, cluster.total_memory))
        )
        return (cpu + memory) / 2.0

    def schedule(self, topology: Storm1Topology) -> None:
        """Place a topology, evict for it, or give up; raises `OverdrawnError`."""
        if not self.state.unassigned(topology):
            user = self._owner(topology)
            user.move(topology, user.pending, user.running)
            if not self.state.statuses.get(topology.id):
                self.state.statuses[topology.id] = RUNNING
            return
        before = self.state.copy()
        status = self._attempts(topology)
        if status != SCHEDULED:
            self.state = before
        user = self._owner(topology)
        queues = {SCHEDULED: user.running, INVALID: user.invalid}
        user.move(topology, user.pending, queues.get(str(status), user.attempted))
        if status is not None:
            self.state.statuses[topology.id] = status

    def _attempts(self, topology: Storm1Topology) -> str | None:
        """Try, evicting in between, and return the status; ``None`` = as before."""
        strategy = Storm1Strategy()
        while True:
            try:
                copy = self.state.copy()
            except OverdrawnError:
                return INVALID
            if topology.ranks is None:
                return INVALID
            log = self.present_log()
            attempt = strategy.attempt(copy, topology, log, self._first[topology.id])
            if attempt is not None:
                self._log = log
                return self._assign(topology, attempt)
            count = len(topology.executors)
            placed = count - len(self.state.unassigned(topology))
            try:
                if not make_space(self.state, topology):
                    return (
                        f"Not enough resources to schedule - {placed}/{count} executors scheduled"
                    )
            except EvictionError:
                return None

    def present_log(self) -> DecisionLog | None:
        """Return a copy of the log in which exactly what has a place in the state stands."""
        if self._log is None:
            return None
        log = self._log.copy()
        places = {
            self._first[key] + executor: slot
            for key, held in self.state.assignments.items()
            for executor, slot in held.slots().items()
        }
        for decision in log.standing:
            if places.pop(decision.task, None) is None:
                log.remove(decision.task)
        for task, slot in sorted(places.items()):
            log.put(task, *slot)
        return log

    def _assign(self, topology: Storm1Topology, attempt: Attempt) -> str:
        try:
            for slot, executors in attempt.in_java_order():
                self.state.assign(topology, slot, executors)
        except OverdrawnError:
            return OVERDRAWN
        return SCHEDULED

    def _owner(self, topology: Storm1Topology) -> User:
        return self.state.users[topology.owner]


def _round(instance: Instance, state: State) -> Storm1Round:
    nodes: list[int] = []
    ports: list[int] = []
    outcomes: dict[str, TopologyOutcome] = {}
    for key, topology in state.topologies.items():
        assignment = state.assignments.get(key)
        slots = assignment.slots() if assignment else {}
        places = [
            slots.get(executor, (UNPLACED, UNPLACED)) for executor in range(len(topology.needs))
        ]
        nodes.extend(node for node, _ in places)
        ports.extend(port for _, port in places)
        whole = len(slots) == len(places)
        outcomes[key] = TopologyOutcome(whole, state.statuses.get(key, ""))
    return Storm1Round(Placement(tuple(nodes), tuple(ports)), outcomes)


# Who makes room for a topology: ``DefaultEvictionStrategy`` of Apache Storm 1.0.6 (tag v1.0.6).
#
# A topology within its owner's guarantee evicts the last running topology of the user who is most
# above the own guarantee; else it does so only where that user would be further above it than its
# owner. Failing that, it evicts the first running topology of its owner that has a lower
# priority. Owners without a guarantee evict nobody.


class EvictionError(SlotwiseError):
    """Storm's strategy stumbles over a topology without tasks, which never had a slot."""


def make_space(state: State, topology: Storm1Topology) -> bool:
    """Evict one topology for `topology`, if the rules allow; return whether they did.

    Raises
    ------
    EvictionError
        As Storm fails: the round goes on without `topology`.
    """
    owner = state.users[topology.owner]
    if owner.cpu == 0 or owner.memory == 0:
        return False
    victim = _of_another(state, topology, owner)
    if victim is None:
        lower = (one for one in owner.running if one.turn[0] > topology.turn[0])
        victim = next(lower, None)
    if victim is None:
        return False
    _evict(state, victim)
    return True


def _of_another(state: State, topology: Storm1Topology, owner: User) -> Storm1Topology | None:
    most_over = _most_over(state)
    if most_over is None:
        return None
    cpu = topology.cpu / owner.cpu
    memory = topology.memory / owner.memory
    within = 1.0 - owner.cpu_share() >= cpu and 1.0 - owner.memory_share() >= memory
    over = most_over.average_share() - 1.0
    if within or over > (cpu + memory) / 2 + (owner.average_share() - 1.0):
        return most_over.running[-1]
    return None


def _most_over(state: State) -> User | None:
    """Return the first user most above the guarantee, of those that have something running."""
    worst, most = None, 0.0
    for user in state.users.values():
        over = user.average_share() - 1.0
        if over > most and user.running:
            worst, most = user, over
    return worst


def _evict(state: State, victim: Storm1Topology) -> None:
    if victim.id in state.assignments:
        state.release(victim)
    elif any(node.workers() for node in state.nodes):
        raise EvictionError(f"topology {victim.id} has no slots to take")
    owner = state.users[victim.owner]
    owner.move(victim, owner.running, owner.pending)
    state.statuses[victim.id] = "Scheduling Pending"


# R-Storm as released: ``DefaultResourceAwareStrategy`` of Apache Storm 1.0.6 (tag v1.0.6).
#
# One executor of each component in turn goes to the nearest node that has room for its cpu and
# its memory: distance = root of the sum of squares of (need - free) / (free + 1) for cpu and
# memory, and of the network distance from the node of the executor placed last, which is 0 on
# that node, 0.5 in its rack and 1 elsewhere. The oddities are kept because they decide
# placements:
#
# - The first executor goes to a node of the rack with most (MB and points added up), or nowhere.
# - Of nodes at equal distance only the *last* is known (``TreeMap.put``). If no slot there takes
#   the executor, the others of that distance are not tried.
# - A slot takes an executor while the memory of its executors, off-heap too, is within the heap
#   limit of a worker. Slots are tried in the order of Java's set of them; one that the topology has
#   from before a round is not joined.
# - What found no place is tried once more at the end, together with what is not in the graph.
# - An attempt after an eviction begins at the node where the attempt before it ended.

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
