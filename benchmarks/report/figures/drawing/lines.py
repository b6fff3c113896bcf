"""Lines in a panel, each with its name at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.drawing.cast import Cast, Look
from slotwise.benchmarks.report.figures.drawing.colours import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 150
"""Of a step line; one with more keeps as many, evenly spaced."""

LABEL_POINTS = 11.5
"""Least distance between two names, in points."""


@dataclass(frozen=True, slots=True)
class Line:
    """A method's line: points from left to right, at least one."""

    method: str
    points: tuple[tuple[float, float], ...]


def steps(
    values: Iterable[float], total: int, start: float, end: float
) -> tuple[tuple[float, float], ...]:
    """Return the share of `total` that is at most x, from `start` to `end`, as a line of steps."""
    ordered = sorted(value for value in values if value <= end)
    points = [(start, sum(value <= start for value in ordered) / total)]
    for index, value in enumerate(ordered, 1):
        if value > start:
            if points[-1][0] == value:
                points.pop()
            points.append((value, index / total))
    if len(points) > MOST_POINTS:
        last = len(points) - 1
        points = [points[round(i * last / (MOST_POINTS - 1))] for i in range(MOST_POINTS)]
    return (*points, (end, points[-1][1]))


def draw_lines(ax: Axes, lines: Sequence[Line], cast: Cast, *, is_stepped: bool) -> None:
    """Draw the lines, those without names first; limits of the axes must not change afterwards."""
    looks = [(line, cast.look(line.method)) for line in lines]
    for line, look in sorted(looks, key=lambda one: one[1].is_named):
        ax.plot(
            *zip(*line.points, strict=True),
            drawstyle="steps-post" if is_stepped else "default",
            color=look.colour,
            linestyle=look.dash,
            linewidth=look.width,
            marker="" if is_stepped else look.marker,
            markersize=4.5,
        )


def name_lines(ax: Axes, lines: Sequence[Line], cast: Cast, height_in: float) -> None:
    """Write the names of the lines at the right of a panel that is so many inches high."""
    named = [(line, cast.look(line.method)) for line in lines]
    named = [(line, look) for line, look in named if look.is_named]
    low, high = ax.get_ylim()
    to_share = ax.transAxes.inverted().transform
    ends = []
    for line, look in named:
        pixel = ax.transData.transform(line.points[-1])
        ends.append((float(to_share(pixel)[1]), line, look))
    ends.sort(key=lambda end: end[0])
    places = spread([end[0] for end in ends], LABEL_POINTS / (72 * height_in))
    for (end, line, look), place in zip(ends, places, strict=True):
        _name(ax, cast.short(line.method), look, end, place)
    ax.set_ylim(low, high)


def spread(wanted: Sequence[float], apart: float) -> list[float]:
    """Return rising places near `wanted` (rising, from 0 to 1) that are at least `apart`."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + apart) if places else place)
    top = max(1.0, apart * (len(places) - 1))
    for index in range(len(places) - 1, -1, -1):
        places[index] = min(places[index], top)
        top = places[index] - apart
    return places


def _name(ax: Axes, name: str, look: Look, end: float, place: float) -> None:
    ax.plot(
        [1.0, 1.025, 1.05],
        [end, place, place],
        transform=ax.transAxes,
        clip_on=False,
        color=look.colour,
        linestyle=look.dash,
        linewidth=min(look.width, 1.3),
    )
    ax.annotate(
        name, (1.06, place), xycoords="axes fraction", va="center", ha="left", color=colour("text"),
    )  # fmt: skip
