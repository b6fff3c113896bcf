"""The fragment of HTML with the placements of one instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from slotwise.benchmarks.report.viewer.boxes import Group, unplaced
from slotwise.benchmarks.report.viewer.components import Tasks, ranges, tasks_of
from slotwise.benchmarks.report.viewer.moves import Moves, moves, place_text
from slotwise.benchmarks.report.viewer.racks import RackBox, drawn_roles, rack_boxes
from slotwise.benchmarks.report.viewer.side import Shown, Side, side_of
from slotwise.benchmarks.report.viewer.traffic import Traffic, traffic
from slotwise.models.display import counted
from slotwise.models.problem.problem import Problem
from slotwise.models.values import short_text

MOST_KEYS = 30
"""Components that the key names."""

MOST_VIOLATIONS = 5
"""Broken rules that are listed."""


@dataclass(frozen=True, slots=True)
class _Pane:
    name: str
    caption: str
    failed: bool
    violations: tuple[str, ...]
    more_violations: int
    racks: tuple[RackBox, ...]
    unplaced: tuple[Group, ...]
    traffic: Traffic
    moves: Moves | None


def view(problem: Problem, placements: Sequence[Shown]) -> Markup:
    """Return the fragment; it needs ``viewer.css.j2``, and for choosing ``viewer.js.j2``.

    Parameters
    ----------
    problem
        What is placed.
    placements
        One or more. The first is the optimum, or the best that is known; the others are compared
        with it.

    Raises
    ------
    InputError
        When a placement is another instance's.
    """
    first = placements[0].placement
    sides = [side_of(problem, one, first if i else None) for i, one in enumerate(placements)]
    tasks = tasks_of(problem)
    roles = drawn_roles(problem, sides)
    flows = traffic([side.verdict for side in sides])
    panes = [
        _Pane(
            name=side.shown.name,
            caption=side.shown.caption or _costs(side),
            failed=side.shown.failed or not side.verdict.valid,
            violations=tuple(str(one) for one in side.verdict.violations[:MOST_VIOLATIONS]),
            more_violations=len(side.verdict.violations[MOST_VIOLATIONS:]),
            racks=rack_boxes(problem, side, tasks, roles),
            unplaced=unplaced(side, tasks),
            traffic=flow,
            moves=None if side.match is None else moves(problem, tasks, first, side),
        )
        for side, flow in zip(sides, flows, strict=True)
    ]
    text = (
        _environment()
        .get_template("viewer.html.j2")
        .render(
            name=problem.instance.name,
            panes=panes,
            keys=tasks.components[:MOST_KEYS],
            more_keys=len(tasks.components[MOST_KEYS:]),
            table=task_table(problem, tasks, sides),
        )
    )
    return Markup(text)


def standalone(problem: Problem, placements: Sequence[Shown]) -> Markup:
    """Return the fragment with its style and script: what a notebook shows."""
    load = _environment().get_template
    style, script = (load(f"viewer.{kind}.j2").render() for kind in ("css", "js"))
    return Markup(f"<style>{style}</style>{view(problem, placements)}<script>{script}</script>")


def page(problem: Problem, placements: Sequence[Shown]) -> str:
    """Return a page of the fragment alone."""
    template = _environment().get_template("viewer_page.html.j2")
    return template.render(name=problem.instance.name, viewer=view(problem, placements))


def _costs(side: Side) -> str:
    return ", ".join(
        f"{term.term} {short_text(term.value, grouped=True)}" for term in side.verdict.objective
    )


@cache
def _environment() -> Environment:
    return new_environment()


def new_environment() -> Environment:
    """Return the templates of `benchmarks.report`.

    What they insert is escaped, and a name that they are not given is an error.
    """
    return Environment(
        loader=PackageLoader("slotwise.benchmarks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


MOST_ROWS = 100
"""Rows of the table; it says how many tasks it leaves out."""


@dataclass(frozen=True, slots=True)
class TaskTable:
    """The rows: tasks that are together in every placement, and their place in each of them."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: str


def task_table(problem: Problem, tasks: Tasks, sides: Sequence[Side]) -> TaskTable:
    """Return the table; a place is written ``node/worker``."""
    together: dict[tuple[object, ...], list[int]] = {}
    for task in range(problem.task_count):
        places = [(s.shown.placement.nodes[task], s.shown.placement.workers[task]) for s in sides]
        together.setdefault((tasks.component[task], *places), []).append(task)
    groups = sorted(together.values(), key=lambda members: members[0])
    rows = []
    for members in groups[:MOST_ROWS]:
        task = members[0]
        name = tasks.components[tasks.component[task]].name
        cells = []
        for side in sides:
            place = side.shown.placement.nodes[task], side.shown.placement.workers[task]
            cells.append(place_text(problem, place))
        rows.append((f"{name}[{ranges([tasks.index[t] for t in members])}]", tuple(cells)))
    hidden = sum(map(len, groups[MOST_ROWS:]))
    return TaskTable(tuple(rows), f"and {counted(hidden, 'more task')}" if hidden else "")
