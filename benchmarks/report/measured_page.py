"""Measured weights as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from slotwise.benchmarks.report.measured_chart import over_time
from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.stream_svg import draw_streams
from slotwise.benchmarks.report.text import DASH
from slotwise.models.display import counted
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.number_text import short_text
from slotwise.pipeline.statistics.weights.measured import (
    ComponentWeights,
    Measured,
    StreamWeights,
    Weight,
)

KIB = 1024


@dataclass(frozen=True, slots=True)
class _Drawing:
    title: str
    svg: Markup


def write_measured(
    path: Path, instance: Instance, measured: Measured, reasons: Mapping[str, str]
) -> None:
    """Write the page, whole or not at all.

    `instance` is the measured one; `reasons` says in words why lines were kept aside.
    """
    write_atomically(path, render_measured(instance, measured, reasons))


def render_measured(instance: Instance, measured: Measured, reasons: Mapping[str, str]) -> str:
    """Return the page; see `write_measured`."""
    cpu = [one for one in measured.lines if one.unit == "points"]
    rates = [one for one in measured.lines if one.unit != "points"]
    figures = (
        over_time("cpu", "Cpu of one task of each component", "points", cpu),
        over_time("rates", "Tuples that a component receives from another", "tuples/s", rates),
    )
    page: str = template("measured.html.j2").render(
        name=instance.name,
        measured=measured,
        several=len(instance.topologies) > 1,
        components=[_component_cells(one) for one in measured.components],
        streams=[_stream_cells(one) for one in measured.streams],
        drawings=[_drawing(one, measured) for one in instance.topologies if one.streams],
        has_interval=_has_interval(measured),
        thrown_away=[
            (reason, count, reasons.get(reason, ""))
            for reason, count in sorted(measured.thrown_away.items())
        ],
        figures=[one for one in figures if one is not None],
    )
    return page


def _has_interval(measured: Measured) -> bool:
    weights = [
        *(w for one in measured.components for w in (one.cost, one.cpu)),
        *(w for one in measured.components for w in (one.onheap_mb, one.offheap_mb)),
        *(w for one in measured.streams for w in (one.received, one.tuple_bytes)),
    ]
    return any(w is not None and (w.low is not None or w.high is not None) for w in weights)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A weight in a table: number, interval and samples, and whether it was estimated."""

    text: str
    detail: str = ""
    estimated: bool = False


def _cell(weight: Weight | None, scale: float = 1.0) -> _Cell:
    if weight is None:
        return _Cell(DASH)
    low, high = (
        None if one is None else short_text(float(one) * scale) for one in (weight.low, weight.high)
    )
    sure = "" if low is None and high is None else f"{low or '?'} to {high or '?'}"
    samples = counted(weight.samples, "sample")
    text = short_text(float(weight.value) * scale)
    return _Cell(text, f"{sure}, {samples}" if sure else samples, weight.estimated)


def _component_cells(one: ComponentWeights) -> tuple[str, str, int, tuple[_Cell, ...]]:
    weights = (one.cost, one.cpu, one.onheap_mb, one.offheap_mb)
    return one.topology, one.component, one.tasks, tuple(map(_cell, weights))


def _stream_cells(one: StreamWeights) -> tuple[str, str, tuple[_Cell, ...]]:
    volume = _Cell(DASH)
    if one.received is not None and one.tuple_bytes is not None:
        kib = float(one.received.value) * float(one.tuple_bytes.value) / KIB
        volume = _Cell(short_text(kib))
    cells = (_cell(one.received), _cell(one.tuple_bytes, 1 / KIB), volume)
    return one.topology, f"{one.source} → {one.target}", cells


def _drawing(topology: Topology, measured: Measured) -> _Drawing:
    cpu = {
        one.component: one.cpu.value
        for one in measured.components
        if one.topology == topology.id and one.cpu is not None
    }
    boxes = [
        (
            one.id,
            counted(one.parallelism, "task") + (f", {cpu[one.id]} points" if one.id in cpu else ""),
        )
        for one in topology.components
    ]
    edges = [
        (one.source, one.target, "" if one.rate is None else f"{short_text(one.rate)}/s")
        for one in topology.streams
    ]
    title = f"Rates on the streams of {topology.id}"
    return _Drawing(topology.id, Markup(draw_streams(boxes, edges, title)))
