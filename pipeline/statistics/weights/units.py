"""From collected sums to weights in their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from slotwise.pipeline.statistics.weights.collected import Value
from slotwise.pipeline.statistics.weights.measured import Weight, rounded
from slotwise.pipeline.statistics.weights.presence import Presence
from slotwise.pipeline.statistics.weights.windows import DEFAULT_HZ

GHZ_MS = Fraction(1, 10**15)
"""A nanosecond times a hertz, in milliseconds times GHz."""
MB, KIB = 2**20, 2**10
PER_SECOND = 10**6
"""Rates are sums by microseconds."""


def weight_of(value: Value, scale: Fraction, estimated: bool = False) -> Weight:
    """Return a value times `scale` as a weight."""
    low, high = (None if one is None else rounded(one * scale) for one in (value.low, value.high))
    return Weight(rounded(value.value * scale), value.samples, low, high, estimated)


def reference_hz(clocks: Mapping[str, int], presences: Iterable[Presence]) -> int:
    """Return the clock rate that points of cpu are counted at: that of the slowest known node.

    A demand in these points is enough on every node, and too much on faster ones.
    """
    used = {one.node for one in presences}
    return min((hz for node, hz in clocks.items() if node in used), default=DEFAULT_HZ)
