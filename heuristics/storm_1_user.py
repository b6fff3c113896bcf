"""A user of Apache Storm 1.0.6's scheduler: ``User`` (tag v1.0.6), with a guarantee and queues."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace

from slotwise.heuristics.storm_1_topology import Storm1Topology

NOTHING_GUARANTEED = sys.float_info.max
"""Java's ``Double.MAX_VALUE``: how much of nothing is used."""


@dataclass(slots=True)
class User:
    """An owner of topologies.

    Parameters
    ----------
    cpu, memory
        What is guaranteed: points and MB, 0 = nothing.
    pending, running, attempted, invalid
        Topologies by priority, then the one launched first, then by id.
    """

    cpu: float
    memory: float
    pending: list[Storm1Topology] = field(default_factory=list)
    running: list[Storm1Topology] = field(default_factory=list)
    attempted: list[Storm1Topology] = field(default_factory=list)
    invalid: list[Storm1Topology] = field(default_factory=list)

    def copy(self) -> User:
        """Return a user with queues of its own."""
        return replace(
            self,
            pending=self.pending[:],
            running=self.running[:],
            attempted=self.attempted[:],
            invalid=self.invalid[:],
        )

    def move(
        self, topology: Storm1Topology, source: list[Storm1Topology], target: list[Storm1Topology]
    ) -> None:
        """Move `topology` between two queues; one that is not there, or there already, stays."""
        if topology in source and topology not in target:
            source.remove(topology)
            add(target, topology)

    def next_topology(self) -> Storm1Topology | None:
        """Return the first pending one that was not tried in vain."""
        return next((one for one in self.pending if one not in self.attempted), None)

    def cpu_share(self) -> float:
        """Return what runs, as a share of the guaranteed cpu."""
        return self._share([one.cpu for one in self.running], self.cpu)

    def memory_share(self) -> float:
        """Return what runs, as a share of the guaranteed memory."""
        return self._share([one.memory for one in self.running], self.memory)

    def average_share(self) -> float:
        """Return the mean of both shares."""
        return self.cpu_share() / 2.0 + self.memory_share() / 2.0

    @staticmethod
    def _share(used: list[float], guaranteed: float) -> float:
        if guaranteed == 0:
            return NOTHING_GUARANTEED
        total = 0.0
        for amount in used:
            total += amount
        return total / guaranteed


def add(queue: list[Storm1Topology], topology: Storm1Topology) -> None:
    """Put `topology` into a queue, at its place."""
    queue.append(topology)
    queue.sort(key=lambda one: one.turn)
