"""Settings of Storm's Resource Aware Scheduler that a topology may have."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.nouns import Flag, Noun, Positive, Whole


@dataclass(frozen=True, slots=True)
class RasSettings(Noun):
    """What Storm's RAS strategies read of a topology besides; no rule of the problem.

    Parameters
    ----------
    order_by_proximity
        Tasks are ordered by nearness in the graph, not by connections
        (``topology.ras.order.executors.by.proximity.needs``).
    isolated_machines
        Most nodes that ``ras-round-robin`` uses, 1 or more (``topology.isolate.machines``);
        ``None`` = no limit.
    max_states
        Most assignments that a strategy's search tries, 0 or more
        (``topology.ras.constraint.max.state.search``).
    max_seconds
        Longest search, whole seconds (``topology.ras.constraint.max.time.secs``); ``None`` = the
        scheduler's own limit.
    """

    order_by_proximity: Flag = False
    isolated_machines: Positive | None = None
    max_states: Whole = 10_000
    max_seconds: Whole | None = None
