"""Scales and ticks that several charts share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS = 7
"""Most ticks of an axis of ratios."""

WIDE = 20
"""A range of sizes this many times its least gets a log scale."""


def share_axis(ax: Axes, label: str) -> None:
    """Make the y axis one of shares, from 0 to 100 %."""
    ax.set_ylim(-0.02, 1.02)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    ax.set_ylabel(label)
    ax.grid()


def decades(ax: Axes, most: float) -> None:
    """Put ticks at 0, 1, 10, 100 ... up to `most` on a symmetric log axis."""
    ticks = [0.0, *(10.0**power for power in range(_power(most) + 1))]
    ax.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    ax.set_xticks([], minor=True)


def ratios(ax: Axes, most: float) -> None:
    """Make the x axis one of ratios from 1 to `most`, with ticks that are easy to read."""
    steps = [1.0, 1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0]
    steps += [10.0**power * step for power in range(1, 13) for step in (1, 2, 5)]
    ax.set_xscale("log")
    ticks: list[float] = []
    for step in steps:
        if step <= most and (not ticks or math.log(step / ticks[-1]) * TICKS >= math.log(most)):
            ticks.append(step)
    ax.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(1.0, most)


def seconds_axis(ax: Axes, least: float, most: float) -> None:
    """Make the y axis one of seconds on a log scale, with a tick at each power of ten."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    ticks = [10.0**power for power in range(low, max(high, low + 1) + 1)]
    ax.set_yscale("log")
    ax.set_yticks(ticks, [f"{tick:,g}" for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_ylim(ticks[0], ticks[-1])


def size_axis(ax: Axes, sizes: list[float], label: str) -> None:
    """Make the x axis fit sizes: logarithmic where they differ by a factor of `WIDE`."""
    low, high = min(sizes), max(sizes)
    ax.set_xlabel(label)
    if low > 0 and high >= WIDE * low:
        ax.set_xscale("log")
        powers = range(math.floor(math.log10(low)), _power(high) + 1)
        ticks = [step * 10.0**power for power in powers for step in (1, 3)]
        visible = [tick for tick in ticks if low * 0.8 <= tick <= high * 1.2]
        ax.set_xticks(visible, [f"{tick:,g}" for tick in visible])
        ax.set_xticks([], minor=True)


def _power(most: float) -> int:
    return math.floor(math.log10(most)) if most >= 1 else 0
