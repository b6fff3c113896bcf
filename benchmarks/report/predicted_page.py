"""A prediction as one HTML page that needs nothing else: utilisations, and where time goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.text import DASH
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.prediction.loads import Kind
from slotwise.models.prediction.prediction import PredictedSpout, Prediction, Utilised
from slotwise.models.values import plain, short_text

PARTS = ("queueing", "service", "serialisation", "network", "synchronisation")
"""Of the latency of a tuple, in the order of the bars."""

RESOURCES = {
    Kind.CPU: "cpu",
    Kind.NIC_IN: "receiving",
    Kind.NIC_OUT: "sending",
    Kind.UPLINK_IN: "uplink, receiving",
    Kind.UPLINK_OUT: "uplink, sending",
}
"""Kinds of resources of nodes and racks, in words."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a chart: its label, its numbers as text, and the widths of its parts in percent."""

    label: str
    texts: tuple[str, ...]
    widths: tuple[float, ...]


def write_predicted(path: Path, prediction: Prediction, compared: Prediction | None = None) -> None:
    """Write the page, whole or not at all; `compared` is of another placement of the instance."""
    write_atomically(path, render_predicted(prediction, compared))


def render_predicted(prediction: Prediction, compared: Prediction | None = None) -> str:
    """Return the page; see `write_predicted`."""
    predictions = {"The placement": prediction}
    if compared is not None:
        predictions = {"The first placement": prediction, "The second placement": compared}
    longest = max(
        (s.latency.mean for one in predictions.values() for s in one.spouts if s.latency),
        default=1.0,
    )
    sections = [
        (title, one, list(_latencies(one, longest)), list(_utilisations(one)))
        for title, one in predictions.items()
    ]
    page: str = template("predicted.html.j2").render(
        name=prediction.given.name, sections=sections, parts=PARTS, number=number
    )
    return page


def _latencies(prediction: Prediction, longest: float) -> Iterator[Bar]:
    """Yield the time of a tuple of each spout, in its parts; all bars have one scale."""
    for spout in prediction.spouts:
        latency = spout.latency
        rate = DASH if spout.rate is None else number(spout.rate)
        if latency is None:
            yield Bar(_name(spout), (rate, "grows", *[DASH] * len(PARTS)), ())
        else:
            parts = [getattr(latency, part) for part in PARTS]
            texts = (rate, *map(number, (latency.mean, *parts)))
            yield Bar(_name(spout), texts, tuple(100 * part / longest for part in parts))


def _utilisations(prediction: Prediction) -> Iterator[Bar]:
    """Yield the utilisation of nodes, interfaces and uplinks, the busiest first."""
    shown = [one for one in prediction.utilisations if one.resource.kind in RESOURCES]
    for one in sorted(shown, key=_busiest_first):
        kind, share = one.resource.kind, 100 * one.utilisation
        yield Bar(one.resource.place, (RESOURCES[kind], f"{share:.3g} %"), (min(share, 100.0),))


def _busiest_first(utilised: Utilised) -> tuple[float, str]:
    return -utilised.utilisation, utilised.resource.place


def _name(spout: PredictedSpout) -> str:
    return f"{spout.topology}/{spout.component}"


def number(value: float) -> str:
    """Return a predicted number with four digits; more would be spurious."""
    return short_text(plain(float(f"{value:.4g}")))
