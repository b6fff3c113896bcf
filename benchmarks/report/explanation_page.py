"""An explanation as one HTML page that needs nothing else: sections, tables, placements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slotwise.benchmarks.report.page_template import template
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.benchmarks.report.viewer.view import view
from slotwise.models.formats.file_bytes import write_atomically
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


def write_explanation(
    path: Path,
    title: str,
    sections: Sequence[PageSection],
    problem: Problem,
    placements: Sequence[Shown],
) -> None:
    """Write the page, whole or not at all."""
    page = template("explanation.html.j2").render(
        title=title,
        sections=sections,
        count=len(placements),
        viewer=view(problem, placements) if placements else "",
    )
    write_atomically(path, page)
