"""Measured weights as one HTML page that needs nothing else.

Two kinds of drawing: weights over time, and a topology as SVG, its components from left to right
with rates on the streams between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
from markupsafe import Markup

from slotwise.benchmarks.report.figures.chart import Chart, Figure
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart, styled
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import SERIES
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines
from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.text import DASH, number
from slotwise.models.display import counted
from slotwise.models.formats.file_bytes import write_atomically
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.values import short_text
from slotwise.pipeline.statistics.weights.measured import (
    ComponentWeights,
    Measured,
    StreamWeights,
    Weight,
)
from slotwise.pipeline.statistics.weights.measured import Line as MeasuredLine

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


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


def _component_cells(row: ComponentWeights) -> tuple[str, str, int, tuple[_Cell, ...]]:
    weights = (row.cost, row.cpu, row.onheap_mb, row.offheap_mb)
    return row.topology, row.component, row.tasks, tuple(map(_cell, weights))


def _stream_cells(row: StreamWeights) -> tuple[str, str, tuple[_Cell, ...]]:
    volume = _Cell(DASH)
    if row.received is not None and row.tuple_bytes is not None:
        kib = float(row.received.value) * float(row.tuple_bytes.value) / KIB
        volume = _Cell(short_text(kib))
    cells = (_cell(row.received), _cell(row.tuple_bytes, 1 / KIB), volume)
    return row.topology, f"{row.source} → {row.target}", cells


def _drawing(topology: Topology, measured: Measured) -> _Drawing:
    cpu = {
        component.component: component.cpu.value
        for component in measured.components
        if component.topology == topology.id and component.cpu is not None
    }
    boxes = [
        (
            component.id,
            counted(component.parallelism, "task")
            + (f", {cpu[component.id]} points" if component.id in cpu else ""),
        )
        for component in topology.components
    ]
    edges = [
        (
            stream.source,
            stream.target,
            "" if stream.rate is None else f"{short_text(stream.rate)}/s",
        )
        for stream in topology.streams
    ]
    title = f"Rates on the streams of {topology.id}"
    return _Drawing(topology.id, Markup(draw_streams(boxes, edges, title)))


HEIGHT_IN = 3.2

MINUTE = 1 / (24 * 60)
"""In days, as Matplotlib counts time."""


def over_time(name: str, title: str, unit: str, lines: Sequence[MeasuredLine]) -> Figure | None:
    """Return the chart of `lines`; ``None`` where there are none.

    Parameters
    ----------
    name
        Of the figure; its id on the page.
    title, unit
        What is drawn, and what it is measured in.
    lines
        Those with the largest values have a colour and a name each.
    """
    named = {_name(one, lines): one.points for one in lines if one.points}
    if not named:
        return None
    largest = sorted(named, key=lambda line: -max(value for _, value in named[line]))
    cast = Cast({}, {line: rank for rank, line in enumerate(largest)})
    most = f" The {SERIES} largest are named; grey: {cast.unnamed} more, in the table."
    with styled():
        chart = Chart(
            name,
            title,
            f"{title}, {unit}: means over steps of time.{most if cast.unnamed else ''}",
            _sentence(named, largest[0], unit),
            _drawn(named, cast, unit),
            ("what", "time", unit),
            tuple(
                (line, time.isoformat(" ", "seconds"), number(value))
                for line, points in named.items()
                for time, value in points
            ),
        )
        return chart.figure()


Points = Sequence[tuple[datetime, float]]


def _name(measured_line: MeasuredLine, lines: Sequence[MeasuredLine]) -> str:
    has_several = len({line.topology for line in lines}) > 1
    return f"{measured_line.topology}/{measured_line.name}" if has_several else measured_line.name


def _sentence(named: Mapping[str, Points], largest: str, unit: str) -> str:
    time, value = max(named[largest], key=lambda point: point[1])
    return f"{largest} is highest, {number(value)} {unit} at {time.isoformat(' ', 'seconds')}."


def _drawn(named: Mapping[str, Points], cast: Cast, unit: str) -> Drawn:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    figure, (ax,) = new_chart([HEIGHT_IN])
    lines = [
        Line(line, tuple((_day(time), value) for time, value in points))
        for line, points in named.items()
    ]
    draw_lines(ax, lines, cast, is_stepped=False)
    days = {x for line in lines for x, _ in line.points}
    if len(days) == 1:  # no range to divide
        ax.set_xlim(min(days) - MINUTE, max(days) + MINUTE)
    locator = AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(
        ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
    )
    ax.set_ylim(bottom=0)
    ax.set(ylabel=unit)
    ax.grid(axis="y")
    name_lines(ax, lines, cast, HEIGHT_IN)
    return figure


def _day(time: datetime) -> float:
    """Return a time as Matplotlib counts it: in days since 1970."""
    from matplotlib.dates import date2num

    return float(date2num(time))  # type: ignore[no-untyped-call]


WIDTH, HEIGHT = 150, 44
GAP_X, GAP_Y = 130, 26
MARGIN = 12

Edge = tuple[str, str, str]
"""Source, target, and what stands on the line between them."""


def draw_streams(components: Sequence[tuple[str, str]], edges: Sequence[Edge], title: str) -> str:
    """Return the drawing: a box for each component, with its second text below the name."""
    at = _positions([name for name, _ in components], edges)
    size_x = max((x for x, _ in at.values()), default=0) + WIDTH + MARGIN
    size_y = max((y for _, y in at.values()), default=0) + HEIGHT + MARGIN
    lines = [_edge(at[a], at[b], text) for a, b, text in edges if a != b]
    boxes = [_box(at[name], name, below) for name, below in components]
    return (
        f'<svg class="streams" viewBox="0 0 {size_x} {size_y}" width="{size_x}" role="img">'
        f"<title>{escape(title)}</title>{''.join(lines)}{''.join(boxes)}</svg>"
    )


def _positions(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, tuple[int, int]]:
    """Return the corner of each box: its column is the longest way to it, cycles taken as one."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((a, b) for a, b, _ in edges)
    parts = nx.condensation(graph)
    column = dict.fromkeys(parts, 0)
    for part in nx.topological_sort(parts):
        for after in parts.successors(part):
            column[after] = max(column[after], column[part] + 1)
    row = {level: count() for level in set(column.values())}
    positions = {}
    for name in names:
        level = column[parts.graph["mapping"][name]]
        x, y = level * (WIDTH + GAP_X), next(row[level]) * (HEIGHT + GAP_Y)
        positions[name] = (MARGIN + x, MARGIN + y)
    return positions


def _edge(start: tuple[int, int], end: tuple[int, int], text: str) -> str:
    x, y = start[0] + WIDTH, start[1] + HEIGHT // 2
    to_x, to_y = end[0], end[1] + HEIGHT // 2
    bend = max(40, abs(to_x - x) // 2)
    path = f"M{x},{y} C{x + bend},{y} {to_x - bend},{to_y} {to_x},{to_y}"
    return (
        f'<path class="stream" d="{path}"/>'
        f'<text class="note" text-anchor="middle" x="{(x + to_x) // 2}" y="{(y + to_y) // 2 - 4}">'
        f"{escape(text)}</text>"
    )


def _box(corner: tuple[int, int], name: str, below: str) -> str:
    x, y = corner
    short = name if len(name) <= 20 else f"{name[:19]}…"
    return (
        f'<g><title>{escape(name)}</title><rect class="node" x="{x}" y="{y}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="6"/><text class="node-name" x="{x + 8}" y="{y + 18}">'
        f"{escape(short)}</text>"
        f'<text class="note" x="{x + 8}" y="{y + 34}">{escape(below)}</text></g>'
    )
