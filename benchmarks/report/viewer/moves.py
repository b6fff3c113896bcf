"""What a placement has elsewhere than the first one, once equal things are exchanged."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.benchmarks.report.viewer.components import Tasks, ranges
from slotwise.benchmarks.report.viewer.side import Place, Side
from slotwise.models.display import counted, listed
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem

MOST_MOVES = 30
"""Rows of the table."""

MOST_OPEN = 6
"""A longer table is collapsed."""

MOST_EXCHANGED = 12
"""Pairs of equal nodes that are named."""


@dataclass(frozen=True, slots=True)
class MoveLine:
    """Tasks of a component that go the same way, and both places, as ``node/worker``."""

    tasks: str
    count: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Moves:
    """How many tasks move, the table, what it leaves out, and which equal nodes were exchanged."""

    count: int
    lines: tuple[MoveLine, ...]
    left_out: str
    exchanged: str

    @property
    def is_short(self) -> bool:
        """Whether the table is short enough to stand open."""
        return len(self.lines) <= MOST_OPEN


def moves(problem: Problem, tasks: Tasks, first: Placement, side: Side) -> Moves:
    """Return the moves from the `first` placement to that of `side`, nodes named as in `first`."""
    assert side.match is not None, "the first placement has no moves"
    after = side.match.placement
    ways: dict[tuple[int, Place, Place], list[int]] = {}
    for task in range(problem.task_count):
        here = first.nodes[task], first.workers[task]
        target = after.nodes[task], after.workers[task]
        if here != target:
            ways.setdefault((tasks.component[task], here, target), []).append(task)
    lines = [
        MoveLine(
            tasks=f"{tasks.components[number].name}[{ranges([tasks.index[t] for t in moved])}]",
            count=len(moved),
            before=place_text(problem, here),
            after=place_text(problem, target),
        )
        for (number, here, target), moved in ways.items()
    ]
    hidden = sum(line.count for line in lines[MOST_MOVES:])
    left_out = f"and {counted(hidden, 'more task')}" if hidden else ""
    return Moves(
        count=sum(line.count for line in lines),
        lines=tuple(lines[:MOST_MOVES]),
        left_out=left_out,
        exchanged=_exchanged(problem, side.match.nodes),
    )


def place_text(problem: Problem, place: Place) -> str:
    """Return a place as ``node/worker``."""
    node, worker = place
    return "no place" if node < 0 else f"{problem.instance.cluster.nodes[node].id}/{worker}"


def _exchanged(problem: Problem, nodes: dict[int, int]) -> str:
    ids = [node.id for node in problem.instance.cluster.nodes]
    return listed([f"{ids[m]} as {ids[n]}" for m, n in sorted(nodes.items())], MOST_EXCHANGED)
