"""Where every task is in every placement: the table behind the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.benchmarks.report.viewer.components import Tasks
from slotwise.benchmarks.report.viewer.moves import place_text
from slotwise.benchmarks.report.viewer.ranges import ranges
from slotwise.benchmarks.report.viewer.side import Side
from slotwise.models.display import counted
from slotwise.models.problem.problem import Problem

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
