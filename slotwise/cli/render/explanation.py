"""Explanations for people: the same sections as text and as a page."""

from __future__ import annotations

from pathlib import Path

from slotwise.api.explanation_answers import (
    Explained,
    ExplainedComparison,
    ExplainedInstance,
    ExplainedMethod,
    ExplainedPlacement,
    ExplainedTask,
)
from slotwise.benchmarks.report.explanation_page import (
    PageSection,
    write_explanation,
)
from slotwise.benchmarks.report.viewer.side import Shown
from slotwise.cli.render.explained import cost_text, instance_sections, values_text
from slotwise.cli.render.explained_method import method_sections
from slotwise.cli.render.explained_placement import (
    comparison_sections,
    placement_sections,
    task_sections,
)
from slotwise.cli.render.tables import MOST_ROWS, show, table
from slotwise.models.instance.placement import Placement


def sections(answer: Explained) -> list[PageSection]:
    """Return an explanation as sections."""
    if isinstance(answer, ExplainedInstance):
        return instance_sections(answer)
    if isinstance(answer, ExplainedMethod):
        return method_sections(answer)
    if isinstance(answer, ExplainedPlacement):
        return placement_sections(answer)
    if isinstance(answer, ExplainedComparison):
        return comparison_sections(answer)
    return task_sections(answer)


def show_explained(answer: Explained) -> None:
    """Show an explanation as text; long tables are cut."""
    for index, section in enumerate(sections(answer)):
        if section.heading:
            show(*([""] if index else []), section.heading)
        show(*section.lines)
        if section.table is not None:
            rows = section.table.rows
            show(table(rows[:MOST_ROWS], section.table.heads, section.table.numbers))
            if len(rows) > MOST_ROWS:
                show(f"  ... and {len(rows) - MOST_ROWS} more: see --json")


def write_page(path: Path, answer: Explained) -> None:
    """Write an explanation as one HTML page, with drawings of the placements."""
    title = f"{_TITLES[type(answer)]}: {answer.problem.instance.name}"
    write_explanation(path, title, sections(answer), answer.problem, _drawn(answer))


_TITLES: dict[type, str] = {
    ExplainedInstance: "Instance explained",
    ExplainedMethod: "Method explained",
    ExplainedPlacement: "Placement explained",
    ExplainedComparison: "Placements compared",
    ExplainedTask: "Task explained",
}


def found_placement(answer: Explained) -> Placement | None:
    """Return the valid placement of an answer, which ``--out`` writes."""
    if isinstance(answer, ExplainedInstance):
        return answer.placement
    if isinstance(answer, ExplainedMethod):
        return answer.missed_placement if answer.run.failed else answer.run.placement
    if isinstance(answer, ExplainedPlacement):
        if answer.optimal is not None:
            return answer.optimal.placement
        return None if answer.nearest is None else answer.nearest.placement
    return None


def _drawn(answer: Explained) -> list[Shown]:
    """Return the placements to draw."""
    if isinstance(answer, ExplainedComparison):
        one, two = answer.comparison.first, answer.comparison.second
        first, second = answer.placements
        return [
            Shown("First", first, values_text(one.verdict)),
            Shown("Second", second, values_text(two.verdict)),
        ]
    if isinstance(answer, ExplainedPlacement | ExplainedTask):
        drawn = [Shown("Given", answer.placement, cost_text(answer.split))]
        near = answer.nearest if isinstance(answer, ExplainedPlacement) else None
        if near is not None and near.placement is not None:
            drawn.append(Shown("Nearest valid placement", near.placement))
        return drawn
    if isinstance(answer, ExplainedMethod):
        return _drawn_method(answer)
    if answer.placement is None or answer.split is None:
        return []
    return [Shown("Placement", answer.placement, cost_text(answer.split))]


def _drawn_method(answer: ExplainedMethod) -> list[Shown]:
    drawn = []
    if answer.mistake is not None and answer.mistake.decision is not None:
        fixed = answer.mistake.fixed(answer.problem.instance)
        drawn.append(Shown("After the first mistake", fixed))
    elif answer.run.placement is not None:
        drawn.append(Shown(answer.run.method, answer.run.placement))
    if answer.missed is not None and answer.missed_placement is not None:
        caption = cost_text(answer.missed)
        drawn.append(Shown("A placement it missed", answer.missed_placement, caption))
    return drawn
