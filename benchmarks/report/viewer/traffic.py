"""The traffic of a placement: how much stays near, and which pairs of components pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from slotwise.models.explanation.cost_split import StreamCost, stream_costs
from slotwise.models.judge.verdict import Verdict
from slotwise.models.values import short_text

LEVEL_NAMES = (
    "inside workers",
    "between workers of a node",
    "between nodes of a rack",
    "between racks",
)
MOST_STREAMS = 8
"""Pairs of components that are listed, the dearest first."""


@dataclass(frozen=True, slots=True)
class LevelShare:
    """Flow of one level: its name, its amount as text, its share of a bar in percent."""

    name: str
    text: str
    share: int


@dataclass(frozen=True, slots=True)
class StreamLine:
    """A pair of components that pays: names, where its flow runs, its cost.

    `share` is the cost in percent of the dearest pair of all placements.
    """

    source: str
    target: str
    where: str
    cost: str
    share: int


@dataclass(frozen=True, slots=True)
class Traffic:
    """The flow by level, the dearest pairs, the sentence on the others, and the total cost."""

    levels: tuple[LevelShare, ...]
    streams: tuple[StreamLine, ...]
    left_out: str
    total: str


def traffic(verdicts: Sequence[Verdict]) -> tuple[Traffic, ...]:
    """Return the traffic of each of several placements of one instance, on one scale."""
    costs = [stream_costs(one.problem, one.accounting) for one in verdicts]
    dearest = max((stream.total for streams in costs for stream in streams), default=Fraction(0))
    return tuple(
        _traffic(verdict, streams, dearest)
        for verdict, streams in zip(verdicts, costs, strict=True)
    )


def _traffic(verdict: Verdict, streams: Sequence[StreamCost], dearest: Fraction) -> Traffic:
    has_several = len(verdict.problem.rules) > 1
    paying = [stream for stream in streams if stream.total]
    hidden = paying[MOST_STREAMS:]
    left_out = ""
    if hidden:
        cost = sum((stream.total for stream in hidden), Fraction(0))
        left_out = f"and {len(hidden):,} more for {_number(cost)}"
    flow = sum(verdict.flow_by_level, Fraction(0))
    return Traffic(
        levels=tuple(
            LevelShare(name, _number(amount), _percent(amount, flow))
            for name, amount in zip(LEVEL_NAMES, verdict.flow_by_level, strict=True)
        )
        if flow
        else (),
        streams=tuple(_line(one, has_several, dearest) for one in paying[:MOST_STREAMS]),
        left_out=left_out,
        total=_number(verdict.parts["network"]),
    )


def _line(stream: StreamCost, has_several: bool, dearest: Fraction) -> StreamLine:
    prefix = f"{stream.topology}/" if has_several else ""
    where = [
        f"{_number(flow)} {name}"
        for name, flow, cost in zip(LEVEL_NAMES, stream.flow, stream.cost, strict=True)
        if cost
    ]
    return StreamLine(
        source=prefix + stream.source,
        target=prefix + stream.target,
        where=", ".join(where),
        cost=_number(stream.total),
        share=_percent(stream.total, dearest),
    )


def _percent(part: Fraction, whole: Fraction) -> int:
    return round(100 * part / whole) if whole else 0


def _number(value: Fraction) -> str:
    return short_text(value, grouped=True)
