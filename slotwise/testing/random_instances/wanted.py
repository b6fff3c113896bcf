"""What a random instance must have in any case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slotwise.models.instance.topology import Topology
from slotwise.testing.choices import Chooser


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a random instance must have; the default asks for nothing.

    Parameters
    ----------
    nodes
        Least number of nodes.
    topologies
        Least number of topologies, 1 or 2.
    tasks
        The first topology gets at least so many tasks, before any are left to ackers or components
        without tasks; with 1 or more, no topology is without tasks.
    memory
        Whether ``memory_mb`` is counted.
    running
        Whether at least one task is running.
    feature
        Changes the first topology; ``None`` = it stays as it is drawn.
    """

    nodes: int = 1
    topologies: int = 1
    tasks: int = 0
    memory: bool = False
    running: bool = False
    feature: Callable[[Chooser, Topology], Topology] | None = None

    @property
    def least_tasks(self) -> int:
        """Least number of tasks of all topologies together."""
        return max(self.tasks, 1) + self.topologies - 1
