"""Weights over time, as a chart of the page of measured weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart, styled
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import SERIES
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines
from slotwise.benchmarks.report.figures.figure import Figure
from slotwise.benchmarks.report.text import number
from slotwise.pipeline.statistics.weights.measured import Line as MeasuredLine

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

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


def _name(one: MeasuredLine, lines: Sequence[MeasuredLine]) -> str:
    several = len({line.topology for line in lines}) > 1
    return f"{one.topology}/{one.name}" if several else one.name


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
