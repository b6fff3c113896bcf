"""Names of groups and nodes, for use within the names of columns and rows."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.layout import Group

LONGEST_ID = 24


def short(name: str) -> str:
    """Return an id, shortened for use within a name."""
    return name[:LONGEST_ID]


def node_name(problem: Problem, node: int) -> str:
    """Return a node's id for use within a name."""
    return short(problem.instance.cluster.nodes[node].id)


def group_names(problem: Problem, groups: Sequence[Group]) -> list[str]:
    """Return a name per group: its component, and its first task where the component has more."""
    first: dict[int, int] = {}
    size: dict[int, int] = {}
    for one in problem.classes:
        first[one.component] = min(one.tasks[0], first.get(one.component, one.tasks[0]))
        size[one.component] = size.get(one.component, 0) + one.size
    waiting = [list(one.tasks) for one in problem.classes]
    names = []
    for group in groups:
        one = problem.classes[group.cls]
        topology, component = problem.components[one.component]
        prefix = f"{short(problem.rules[topology].id)}_" if len(problem.rules) > 1 else ""
        task = waiting[group.cls].pop(0) - first[one.component]
        suffix = "" if group.size == size[one.component] else f"_{task}"
        names.append(f"{prefix}{short(component)}{suffix}")
    return names
