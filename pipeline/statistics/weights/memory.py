"""Memory of a task, from that of the workers it runs in: Storm measures workers only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from slotwise.models.instance.topology import Topology
from slotwise.pipeline.statistics.schema import STORM
from slotwise.pipeline.statistics.weights import windows as w
from slotwise.pipeline.statistics.weights.collected import Collected, Value
from slotwise.pipeline.statistics.weights.measured import Weight
from slotwise.pipeline.statistics.weights.presence import Presence, shares
from slotwise.pipeline.statistics.weights.reporting import DEFAULT_INTERVAL_S
from slotwise.pipeline.statistics.weights.units import MB, weight_of

WORKER = "-1"
"""Storm's number of the task that stands for its worker."""

Composition = Mapping[str, float]
"""Component -> how many tasks of it a worker has, on average over time."""


def split(
    workers: Sequence[Composition], used: Sequence[float], declared: Mapping[str, float]
) -> dict[str, float]:
    """Return the memory of one task of each component that best explains the workers'.

    Of all least-squares solutions the one nearest to the proportions of `declared`, so that what
    the workers do not tell apart is shared in these. Nothing is below 0.

    Parameters
    ----------
    workers
        What runs in each.
    used
        Memory of each worker, any unit.
    declared
        Component -> what a task should need, any unit; where one has 0, all share alike.
    """
    components = sorted({name for one in workers for name in one})
    known = [declared.get(name, 0.0) for name in components]
    weights = np.array(known if all(value > 0 for value in known) else [1.0] * len(known))
    counts = np.array([[one.get(name, 0.0) for name in components] for one in workers])
    memory = np.array(used, dtype=float)
    expected = counts @ weights
    start = weights * (memory.sum() / expected.sum())
    correction, *_ = np.linalg.lstsq(counts, memory - counts @ start, rcond=1e-9)
    solution = np.maximum(start + correction, 0.0)
    return {name: float(value) for name, value in zip(components, solution, strict=True)}


def memory_weights(
    topology: Topology, collected: Collected
) -> tuple[dict[str, Weight], dict[str, Weight]]:
    """Return on-heap and off-heap memory of a task in MB, by component.

    Off-heap is what a worker's control group has beyond the heap. Where a worker has tasks of
    several components, their shares are estimated.
    """
    interval_s = collected.interval_s.get((topology.id, STORM), DEFAULT_INTERVAL_S)
    placed = compositions(collected.presences, topology.id, interval_s)
    return (
        _weights(topology, placed, _levels(topology, collected, w.HEAP), "onheap_mb"),
        _weights(topology, placed, _levels(topology, collected, w.BESIDE), "offheap_mb"),
    )


def _levels(topology: Topology, collected: Collected, kind: str) -> dict[tuple[str, str], Value]:
    return {
        (a, b or ""): value
        for (subject, name, _, a, b), value in collected.values.items()
        if (subject, name) == (kind, topology.id) and a is not None
    }


def _weights(
    topology: Topology,
    placed: Mapping[tuple[str, str], Composition],
    levels: Mapping[tuple[str, str], Value],
    resource: str,
) -> dict[str, Weight]:
    used = {place: value for place, value in levels.items() if placed.get(place)}
    if not used:
        return {}
    workers = [placed[place] for place in used]
    declared = {one.id: float(one.resources.get(resource, 0)) for one in topology.placed_components}
    middle = split(workers, [float(one.value) for one in used.values()], declared)
    lows = [float(one.value if one.low is None else one.low) for one in used.values()]
    highs = [float(one.value if one.high is None else one.high) for one in used.values()]
    low, high = split(workers, lows, declared), split(workers, highs, declared)
    sure = all(one.low is not None and one.high is not None for one in used.values())
    return {
        name: weight_of(
            Value(
                Fraction(value),
                sum(one.samples for place, one in used.items() if name in placed[place]),
                Fraction(min(value, low[name])) if sure else None,
                Fraction(max(value, high[name])) if sure else None,
            ),
            Fraction(1, MB),
            estimated=any(name in one and len(one) > 1 for one in workers),
        )
        for name, value in middle.items()
    }


def compositions(
    presences: Iterable[Presence], topology: str, interval_s: float
) -> dict[tuple[str, str], dict[str, float]]:
    """Return (node, worker) -> component -> number of its tasks in it, on average over time."""
    mine = [one for one in presences if one.topology == topology and one.source == STORM]
    return shares([one for one in mine if one.task != WORKER], interval_s)
