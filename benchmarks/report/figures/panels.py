"""Charts of panels: what each one draws, and its part of the words and of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import legend_above
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS, UPWARDS = 40, 24
"""Signs of a line below the narrowest chart, and beside the lowest one."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel of a chart.

    Parameters
    ----------
    heading
        Its title, and the first cell of each of its rows; "" = neither.
    height_in
        Inches.
    draw
        Draws it on axes of its own; ``None`` = there is nothing to see, only words and rows.
    sentence
        What one sees, with numbers.
    rows
        Its part of the table, without the heading.
    """

    heading: str
    height_in: float
    draw: Callable[[Axes], None] | None
    sentence: str
    rows: Sequence[tuple[str, ...]]


def chart_of(
    name: str,
    title: str,
    caption: str,
    columns: tuple[str, ...],
    panels: Sequence[Panel],
    legend: Mapping[str, str] | None = None,
) -> Chart | None:
    """Return the chart of some panels, one below the other; ``None`` where there is none to draw.

    Parameters
    ----------
    name, title, caption
        See `Chart`.
    columns
        Heads of the table; the first is of the panels' headings.
    panels
        From top to bottom.
    legend
        What stands above them all: name -> colour.
    """
    drawn = [(panel, panel.draw) for panel in panels if panel.draw is not None]
    if not drawn:
        return None
    figure, axes = new_chart([panel.height_in for panel, _ in drawn])
    for ax, (panel, draw) in zip(axes, drawn, strict=True):
        draw(ax)
        ax.set_title(panel.heading)
    if legend:
        legend_above(figure, legend, ncols=2, columnspacing=1.2, borderaxespad=0.2)
    has_heading = any(panel.heading for panel in panels)
    return Chart(
        name,
        title,
        caption,
        " ".join(panel.sentence for panel in panels if panel.sentence),
        figure,
        columns if has_heading else columns[1:],
        tuple(
            (panel.heading, *cells) if has_heading else cells
            for panel in panels
            for cells in panel.rows
        ),
    )


def folded(label: str, width: int) -> str:
    """Return the label of an axis in lines of at most `width` signs: what is longer is cut off."""
    return "\n".join(wrap(label, width))
