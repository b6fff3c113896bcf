"""Which nodes the panes draw, rack by rack, and what is said of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.benchmarks.report.viewer.boxes import NodeBox, node_box
from slotwise.benchmarks.report.viewer.components import Tasks
from slotwise.benchmarks.report.viewer.side import Side
from slotwise.models.display import counted
from slotwise.models.instance.placement import UNPLACED
from slotwise.models.problem.problem import Problem

MOST_NODES = 24
"""Nodes that a pane draws."""

MOST_WITH_EMPTY = 12
"""Of a cluster with more nodes, those that no placement uses are counted, not drawn."""

MOST_OPEN_TASKS = 400
"""With more tasks all racks but the first are collapsed."""


@dataclass(frozen=True, slots=True)
class RackBox:
    """A rack, what is in it, the nodes that are drawn, and a sentence on those that are not."""

    name: str
    note: str
    nodes: tuple[NodeBox, ...]
    left_out: str
    is_open: bool


def drawn_roles(problem: Problem, sides: Sequence[Side]) -> frozenset[int]:
    """Return the nodes to draw, the same in all panes: by the nodes that they stand for.

    Of many the overloaded ones first, then those with most tasks.
    """
    if problem.node_count <= MOST_WITH_EMPTY:
        return frozenset(range(problem.node_count))
    tasks: Counter[int] = Counter()
    over: set[int] = set()
    for side in sides:
        for node, count in side.task_counts().items():
            if node != UNPLACED:
                tasks[side.role(node)] = max(tasks[side.role(node)], count)
        over.update(side.role(n) for n in range(problem.node_count) if side.overloaded(n))
    ranked = sorted(tasks.keys() | over, key=lambda n: (n not in over, -tasks[n], n))
    return frozenset(ranked[:MOST_NODES])


def rack_boxes(
    problem: Problem, side: Side, tasks: Tasks, roles: frozenset[int]
) -> tuple[RackBox, ...]:
    """Return the racks of a pane, in the order of the racks that they stand for."""
    racks: dict[int, list[int]] = {}
    for node in sorted(range(problem.node_count), key=side.role):
        racks.setdefault(int(problem.node_rack[node]), []).append(node)
    counts = side.task_counts()
    large = problem.task_count > MOST_OPEN_TASKS
    boxes: list[RackBox] = []
    bare: list[int] = []
    for rack, nodes in racks.items():
        drawn = [node for node in nodes if side.role(node) in roles]
        if not drawn and len(racks) > 1:
            bare += nodes
            continue
        boxes.append(
            RackBox(
                name=f"rack {problem.racks[rack]}",
                note=_note(nodes, counts) + _role(problem, side, nodes),
                nodes=tuple(node_box(problem, side, tasks, node) for node in drawn),
                left_out=_left_out([n for n in nodes if side.role(n) not in roles], counts),
                is_open=not large or not boxes,
            )
        )
    if bare:
        name = counted(len(racks) - len(boxes), "rack") + " not drawn"
        boxes.append(RackBox(name, _note(bare, counts), (), "", is_open=False))
    return tuple(boxes)


def _role(problem: Problem, side: Side, nodes: Sequence[int]) -> str:
    """Say which equal rack this one is compared with, where that is another one."""
    role = int(problem.node_rack[side.role(nodes[0])])
    own = role == int(problem.node_rack[nodes[0]])
    return "" if own else f", in place of {problem.racks[role]}"


def _note(nodes: Sequence[int], counts: Counter[int]) -> str:
    total = sum(counts[node] for node in nodes)
    used = sum(counts[node] > 0 for node in nodes)
    if not total:
        return f"{counted(len(nodes), 'node')}, empty"
    return f"{counted(len(nodes), 'node')}, {used:,} in use, {counted(total, 'task')}"


def _left_out(nodes: Sequence[int], counts: Counter[int]) -> str:
    """Say what is not drawn; empty where all is."""
    busy = [node for node in nodes if counts[node]]
    parts = []
    if busy:
        inside = counted(sum(counts[node] for node in busy), "task")
        parts.append(f"{counted(len(busy), 'node')} with {inside}")
    if len(nodes) > len(busy):
        parts.append(counted(len(nodes) - len(busy), "empty node"))
    return f"Not drawn: {', '.join(parts)}." if parts else ""
