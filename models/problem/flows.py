"""Flow between components: how many units each ordered pair of tasks exchanges."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from slotwise.models.instance.topology import Stream, Topology
from slotwise.models.values import MAX_DECIMALS, as_decimal, decimals

SIGNIFICANT_DIGITS = 6
"""A measured rate divided over pairs is rounded to this many digits, and to six decimals."""

FIRST_ONLY = True

PairFlow = dict[tuple[str, str, bool], Decimal]
"""(source, target, whether only the target's first task receives) -> weight of one pair."""


def pair_flow(topology: Topology, flow: str) -> PairFlow:
    """Return the weight of each ordered pair of tasks, by component.

    ``pairs``: 1 for two components joined by at least one stream (docs/design.md, 3; as Storm's
    SchedulingNetworkMetric counts). ``rates``: the sum over streams of rate * tuple size, spread
    by grouping: ``global`` goes to the first task of the target; ``all`` reaches each target
    task whole; the others are divided evenly over all pairs. Self-streams are ignored.
    """
    if flow == "pairs":
        return {
            (s.source, s.target, not FIRST_ONLY): Decimal(1)
            for s in topology.streams
            if s.source != s.target
        }
    parallelism = {c.id: c.parallelism for c in topology.placed_components}
    total: dict[tuple[str, str, bool], Fraction] = {}
    for stream in topology.streams:
        senders, receivers = parallelism[stream.source], parallelism[stream.target]
        if stream.source == stream.target or not senders or not receivers:
            continue
        key = (stream.source, stream.target, stream.grouping == "global")
        total[key] = total.get(key, Fraction(0)) + _share(stream, senders, receivers)
    return {key: _rounded(weight) for key, weight in total.items() if weight}


def _share(stream: Stream, senders: int, receivers: int) -> Fraction:
    assert stream.rate is not None, "checked by the instance"
    volume = Fraction(stream.rate) * Fraction(
        Decimal(1) if stream.tuple_bytes is None else stream.tuple_bytes
    )
    if stream.grouping in ("all", "global"):
        return volume / senders
    return volume / (senders * receivers)


def _rounded(weight: Fraction) -> Decimal:
    """Return the weight itself if six decimals hold it, else rounded as a measured number is."""
    if 10**MAX_DECIMALS % weight.denominator == 0:
        exact = as_decimal(weight)
        if decimals(exact) <= MAX_DECIMALS:
            return exact
    approximate = Decimal(weight.numerator) / Decimal(weight.denominator)
    digits = SIGNIFICANT_DIGITS - 1 - approximate.adjusted()
    places = min(MAX_DECIMALS, digits)
    return approximate.quantize(Decimal(1).scaleb(-places))
