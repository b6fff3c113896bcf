"""A chart before it is an image, and its images: for the page, and as files for a paper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from slotwise.benchmarks.report.figures.drawing.canvas import image
from slotwise.benchmarks.report.figures.drawing.page_svg import page_svg
from slotwise.benchmarks.report.figures.figure import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


@dataclass(frozen=True)
class Chart:
    """A chart that was drawn; see `Figure` for its words and its table."""

    name: str
    title: str
    caption: str
    alt: str
    drawn: Drawn
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @cached_property
    def svg(self) -> bytes:
        """The image as SVG, drawn once: of a second one Matplotlib lays out some a little off."""
        return image(self.drawn, "svg")

    def figure(self) -> Figure:
        """Return it for the page."""
        svg = page_svg(self.svg.decode(), self.name, f"{self.title}. {self.alt}")
        return Figure(self.name, self.title, self.caption, self.alt, svg, self.columns, self.rows)
