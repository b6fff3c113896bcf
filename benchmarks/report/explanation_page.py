"""An explanation as one HTML page that needs nothing else: sections, tables, drawings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.viewer.placement_svg import draw, legend
from slotwise.benchmarks.report.viewer.placement_view import legend_names, racks_of
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table: the heads of its columns, those of them that hold numbers, and the rows."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageSection:
    """A part of an explanation: heading (empty = none), sentences, and a table if there is one."""

    heading: str
    lines: tuple[str, ...] = ()
    table: PageTable | None = None


@dataclass(frozen=True, slots=True)
class PagePlacement:
    """A placement to draw, with its title and a caption."""

    title: str
    caption: str
    placement: Placement


@dataclass(frozen=True, slots=True)
class _Drawing:
    title: str
    caption: str
    svg: Markup


def write_explanation(
    path: Path,
    title: str,
    sections: Sequence[PageSection],
    problem: Problem,
    placements: Sequence[PagePlacement],
) -> None:
    """Write the page, whole or not at all."""
    drawings = [
        _Drawing(
            one.title,
            one.caption,
            Markup(draw(racks_of(problem, one.placement), f"Placement: {one.title}")),
        )
        for one in placements
    ]
    page = template("explanation.html.j2").render(
        title=title,
        sections=sections,
        drawings=drawings,
        legend=Markup(legend(legend_names(problem))) if drawings else "",
    )
    write_atomically(path, page)
