"""Settings of Storm's Resource Aware Scheduler that a topology may have."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.values import whole


@dataclass(frozen=True, slots=True)
class RasSettings:
    """What Storm's RAS strategies read of a topology besides; no rule of the problem.

    Parameters
    ----------
    order_by_proximity
        Executors by nearness in the graph, not by connections
        (``topology.ras.order.executors.by.proximity.needs``).
    isolated_machines
        Most nodes that ``ras-round-robin`` uses, 1 or more (``topology.isolate.machines``);
        ``None`` = no limit.
    max_states
        Most assignments that a search tries (``topology.ras.constraint.max.state.search``).
    max_seconds
        Longest search, whole seconds (``topology.ras.constraint.max.time.secs``); ``None`` = the
        scheduler's own limit.
    """

    order_by_proximity: bool = False
    isolated_machines: int | None = None
    max_states: int = 10_000
    max_seconds: int | None = None

    def __post_init__(self) -> None:
        """Check each field."""
        if self.isolated_machines is not None:
            whole(self.isolated_machines, "isolated_machines", least=1)
        whole(self.max_states, "max_states")
        if self.max_seconds is not None:
            whole(self.max_seconds, "max_seconds")
