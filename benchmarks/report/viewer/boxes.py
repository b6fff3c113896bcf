"""What a pane draws: racks, nodes in them, workers in these, groups of tasks, bars of loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.benchmarks.report.viewer.components import Component, Tasks, ranges
from slotwise.benchmarks.report.viewer.side import Side
from slotwise.models.display import counted
from slotwise.models.instance.placement import UNPLACED
from slotwise.models.judge.verdict import NodeLoad
from slotwise.models.problem.problem import Problem
from slotwise.models.values import short_text

MOST_TASKS, MOST_WORKERS = 60, 6
"""A node with more of them shows one group for each component, workers only counted."""

MOST_GROUPS = 8
"""Components of a crowded node that are named."""

MOST_CHIPS = 12
"""A group of more tasks is counted."""


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks of one component in one place.

    Parameters
    ----------
    component
        Whose tasks they are.
    chips
        Index of each task and whether it moved; empty where they are only counted.
    count, indices, moved
        How many, which as text, and how many of them moved.
    """

    component: Component
    chips: tuple[tuple[int, bool], ...]
    count: int
    indices: str
    moved: int


@dataclass(frozen=True, slots=True)
class WorkerBox:
    """A worker; without a name it is the only one of the node, or all of them together."""

    name: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A load as text and as shares of a bar in percent; the bar ends at the larger of both.

    `within` is the load up to the capacity, `over` what is above it; ``None`` = no limit, no bar.
    """

    name: str
    text: str
    within: int | None
    over: int


@dataclass(frozen=True, slots=True)
class NodeBox:
    """A node; `stands_for` is another node's name that it is equal to and compared with, if any."""

    name: str
    stands_for: str
    note: str
    workers: tuple[WorkerBox, ...]
    left_out: str
    bars: tuple[Bar, ...]


def node_box(problem: Problem, side: Side, tasks: Tasks, node: int) -> NodeBox:
    """Return what to draw of a node."""
    places = sorted(place for place in side.tasks if place[0] == node)
    total = sum(len(side.tasks[place]) for place in places)
    row, role, left_out = side.loads[node], side.role(node), ""
    if total > MOST_TASKS or len(places) > MOST_WORKERS:
        tasks_here = _groups(side, tasks, sorted(t for place in places for t in side.tasks[place]))
        workers = [WorkerBox("", tasks_here[:MOST_GROUPS])]
        hidden = tasks_here[MOST_GROUPS:]
        if hidden:
            inside = counted(sum(group.count for group in hidden), "task")
            left_out = f"and {counted(len(hidden), 'more component')} with {inside}"
    else:
        has_several = len(places) > 1
        workers = [
            WorkerBox(f"worker {place[1]}" if has_several else "", groups)
            for place in places
            for groups in _workers(problem, side, tasks, place)
        ]
    only = f"worker {places[0][1]}" if len(places) == 1 else counted(len(places), "worker")
    return NodeBox(
        name=row["node"],
        stands_for="" if role == node or not total else side.loads[role]["node"],
        note=f"{counted(total, 'task')}, {only}" if total else "empty",
        workers=tuple(workers),
        left_out=left_out,
        bars=tuple(_bars(row)),
    )


def unplaced(side: Side, tasks: Tasks) -> tuple[Group, ...]:
    """Return the tasks without a place."""
    return _groups(side, tasks, side.tasks.get((UNPLACED, UNPLACED), []))


def _workers(
    problem: Problem, side: Side, tasks: Tasks, place: tuple[int, int]
) -> list[tuple[Group, ...]]:
    """Return what is in a worker, apart for each topology where, against the rules, it has two."""
    by_topology: dict[int, list[int]] = {}
    for task in side.tasks[place]:
        topology = problem.classes[int(problem.task_class[task])].topology
        by_topology.setdefault(topology, []).append(task)
    return [_groups(side, tasks, found) for found in by_topology.values()]


def _groups(side: Side, tasks: Tasks, chosen: Sequence[int]) -> tuple[Group, ...]:
    by_component: dict[int, list[int]] = {}
    for task in chosen:
        by_component.setdefault(tasks.component[task], []).append(task)
    return tuple(
        _group(side, tasks, tasks.components[number], members)
        for number, members in sorted(by_component.items())
    )


def _group(side: Side, tasks: Tasks, component: Component, members: list[int]) -> Group:
    few = len(members) <= MOST_CHIPS
    return Group(
        component=component,
        chips=tuple((tasks.index[t], t in side.moved) for t in members) if few else (),
        count=len(members),
        indices=ranges([tasks.index[task] for task in members]),
        moved=sum(task in side.moved for task in members),
    )


def _bars(row: NodeLoad) -> list[Bar]:
    bars = []
    for name, load in row["load"].items():
        capacity = row["capacity"][name]
        if capacity is None:
            bars.append(Bar(name, f"{_number(load)}, no limit", None, 0))
            continue
        full = max(load, capacity) or 1
        over = max(load - capacity, 0)
        text = f"{_number(load)} / {_number(capacity)}"
        if over:
            text += f", {_number(over)} over"
        within = round(100 * min(load, capacity) / full)
        bars.append(Bar(name, text, within, 100 - within if over else 0))
    return bars


def _number(value: float) -> str:
    return short_text(value, grouped=True)
