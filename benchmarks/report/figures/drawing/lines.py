"""Lines in a panel, each with its name at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.drawing.cast import Cast, Look
from slotwise.benchmarks.report.figures.drawing.colours import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 80
"""Of a step line; one with more keeps as many, evenly spaced."""

MARKERS = 5
"""On a step line, roughly."""

MARKER_POINTS = 4.0

OUTSIDE_IN = 0.65
"""Of a panel's height, for its title and its axis."""

LABEL_POINTS = 11.5
"""Least distance between two names, in points."""

MOST_GREY_POINTS = 30
"""Of a line without a name."""

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A method's line: points from left to right, at least one.

    `possible` are those of a thin dotted line beside it: where it may be as well; none = nowhere.
    """

    method: str
    points: Points
    possible: Points = ()


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
    for index, (line, look) in enumerate(sorted(looks, key=lambda one: one[1].is_named)):
        ax.plot(
            *zip(*_thinned(line.points, look), strict=True),
            drawstyle="steps-post" if is_stepped else "default",
            color=look.colour,
            linestyle=look.dash,
            linewidth=look.width,
            marker=look.marker,
            markersize=MARKER_POINTS,
            markevery=_marked(len(line.points), index) if is_stepped else None,
        )
        if line.possible:
            ax.plot(
                *zip(*_thinned(line.possible, look), strict=True),
                drawstyle="steps-post" if is_stepped else "default",
                color=look.colour,
                linestyle=(0, (1, 1.5)),
                linewidth=0.8,
            )


def _thinned(points: Points, look: Look) -> Points:
    """Return fewer points of a line without a name: it is there for its course alone."""
    every = 1 if look.is_named else -(-len(points) // MOST_GREY_POINTS)
    return (*points[:-1:every], points[-1])


def _marked(points: int, index: int) -> list[int]:
    """Return the points of a step line that get its marker, others than those of the next line."""
    every = max(1, points // MARKERS)
    return list(range(index * 2 % every, points - 1, every))


def name_lines(ax: Axes, lines: Sequence[Line], cast: Cast, height_in: float) -> None:
    """Write the names of the lines at the right of a panel of this height in inches.

    Each stands near the end of its line, behind a sample of it; of lines that end at one height,
    the one that lies higher on the way stands higher.
    """
    to_share = ax.transAxes.inverted().transform
    ends = []
    for line in lines:
        if cast.look(line.method).is_named:
            end = float(to_share(ax.transData.transform(line.points[-1]))[1])
            ends.append((round(end, 2), sum(y for _, y in line.points) / len(line.points), line))
    ends.sort(key=lambda one: one[:2])
    apart = LABEL_POINTS / (72 * (height_in - OUTSIDE_IN))
    for (_, _, line), place in zip(ends, spread([one[0] for one in ends], apart), strict=True):
        _name(ax, cast.short(line.method), cast.look(line.method), place)


def spread(positions: Sequence[float], apart: float) -> list[float]:
    """Return rising places near `positions` (rising, from 0 to 1) that are at least `apart`."""
    places: list[float] = []
    for place in positions:
        places.append(max(place, places[-1] + apart) if places else place)
    top = max(1.0, apart * (len(places) - 1))
    for index in range(len(places) - 1, -1, -1):
        places[index] = min(places[index], top)
        top = places[index] - apart
    return places


def _name(ax: Axes, name: str, look: Look, place: float) -> None:
    ax.plot(
        [1.015, 1.05, 1.085],
        [place] * 3,
        transform=ax.transAxes,
        clip_on=False,
        color=look.colour,
        linestyle=look.dash,
        linewidth=look.width,
        marker=look.marker,
        markersize=MARKER_POINTS,
        markevery=[1],
    )
    ax.annotate(name, (1.1, place), xycoords="axes fraction", va="center", color=colour("text"))
