"""Horizontal bars, one for each method: their names, stacked shares, the legend above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slotwise.benchmarks.report.figures.drawing.colours import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a stacked bar: its share, its colour, the text in it (empty = none) and its colour.

    Colours are those of `colours.colour`.
    """

    share: float
    colour: str
    text: str
    ink: str


def name_bars(ax: Axes, names: Sequence[str]) -> None:
    """Write the names of bars at the y axis, the first one on top."""
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelcolor=colour("text"))
    ax.set_ylim(len(names) - 0.5, -0.5)


def share_bars(ax: Axes, bars: Sequence[tuple[str, Sequence[Part]]], whole: str) -> None:
    """Draw named bars, each stacked from shares that sum to 1; `whole` is what they share."""
    for place, (_, parts) in enumerate(bars):
        start = 0.0
        for part in parts:
            ax.barh(
                place, part.share, left=start, height=0.68, color=part.colour,
                edgecolor=colour("surface"), linewidth=0.8,
            )  # fmt: skip
            if part.text:
                ax.annotate(
                    part.text, (start + part.share / 2, place), ha="center", va="center",
                    color=part.ink,
                )  # fmt: skip
            start += part.share
    name_bars(ax, [name for name, _ in bars])
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.5, 1], ["0", "50 %", f"100 % of {whole}"])
    ax.get_xticklabels()[-1].set_horizontalalignment("right")


def legend_above(figure: Figure, colours: Mapping[str, str], ncols: int, **layout: Any) -> None:
    """Write above all panels what each colour stands for: name -> colour."""
    from matplotlib.patches import Patch

    figure.legend(
        handles=[Patch(color=shade, label=name) for name, shade in colours.items()],
        loc="outside upper left",
        ncols=ncols,
        frameon=False,
        handlelength=1.0,
        **layout,
    )
