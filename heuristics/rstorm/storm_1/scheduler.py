"""A round of Apache Storm 1.0.6: ``ResourceAwareScheduler`` with its default strategies.

Read from the sources (tag v1.0.6). The user who uses the least share of a guarantee comes next,
with the first of the pending topologies. One that does not fit evicts others, one at a time, as
long as the rules allow (`eviction`); if that does not help, all is as it was before.
Statuses are Storm's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.ras.java.hash_codes import JAVA_RELEASE
from slotwise.heuristics.rstorm.storm_1.cluster import storm_1_cluster
from slotwise.heuristics.rstorm.storm_1.eviction import EvictionError, make_space
from slotwise.heuristics.rstorm.storm_1.node import OverdrawnError
from slotwise.heuristics.rstorm.storm_1.state import RUNNING, State, first_state
from slotwise.heuristics.rstorm.storm_1.strategy import Attempt, Storm1Strategy
from slotwise.heuristics.rstorm.storm_1.topology import Storm1Topology, storm_1_topology
from slotwise.heuristics.rstorm.storm_1.user import User
from slotwise.heuristics.storm_outcome import TopologyOutcome
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

    `log` is told what is placed and evicted, beginning with what runs; ``None`` = nobody is.

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
    if log is not None and (found := scheduler.present_log()) is not None:
        log.adopt(found)
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
        for one in log.standing:
            if places.pop(one.task, None) is None:
                log.remove(one.task)
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
        held = state.assignments.get(key)
        slots = held.slots() if held else {}
        places = [
            slots.get(executor, (UNPLACED, UNPLACED)) for executor in range(len(topology.needs))
        ]
        nodes.extend(node for node, _ in places)
        ports.extend(port for _, port in places)
        whole = len(slots) == len(places)
        outcomes[key] = TopologyOutcome(whole, state.statuses.get(key, ""))
    return Storm1Round(Placement(tuple(nodes), tuple(ports)), outcomes)
