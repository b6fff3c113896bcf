"""The layout of compact models: groups of interchangeable tasks on the workers of each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.structure.node_types import home_labels, most_tasks, worker_count
from slotwise.solver.structure.task_types import WorkerCounts, disaggregate

Content = Mapping[int, int]
"""Group -> number of its tasks in a worker."""


@dataclass(frozen=True, slots=True)
class Group:
    """Interchangeable tasks that share their variables.

    A whole class, or one of its tasks where distances come as a matrix: there the cost is no
    function of counts per place that stays linear.
    """

    cls: int
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Groups, and where their tasks can be.

    Parameters
    ----------
    groups
        The groups that are counted.
    most
        (group, node) -> most tasks of it there; absent where it cannot be there.
    labels
        (topology, node) -> label of each worker that may be opened there; ``None`` for a new
        worker.
    """

    groups: tuple[Group, ...]
    most: dict[tuple[int, int], int]
    labels: dict[tuple[int, int], tuple[int | None, ...]]

    def groups_of(self, classes: Iterable[int]) -> list[int]:
        """Return the groups that belong to `classes`."""
        class_set = set(classes)
        return [g for g, group in enumerate(self.groups) if group.cls in class_set]


def make_layout(problem: Problem, token: CancellationToken) -> Layout:
    """Return the groups of `problem` and the workers that an optimal placement may need."""
    groups = make_groups(problem)
    most_of_class = most_tasks(problem)
    most = {
        (g, n): min(group.size, int(most_of_class[group.cls, n]))
        for g, group in enumerate(groups)
        for n in range(problem.node_count)
        if most_of_class[group.cls, n] > 0
    }
    labels: dict[tuple[int, int], tuple[int | None, ...]] = {}
    for t in range(len(problem.rules)):
        homes = home_labels(problem, t)
        for n in range(problem.node_count):
            total = worker_count(problem, t, n, most_of_class, token)
            labels[t, n] = (*homes.get(n, ()), *([None] * total))[:total]
    return Layout(groups, most, labels)


def make_groups(problem: Problem) -> tuple[Group, ...]:
    """Return what is counted: classes, or single tasks by matrix."""
    if problem.matrix is None:
        return tuple(Group(c, one.size) for c, one in enumerate(problem.classes))
    return tuple(Group(c, 1) for c, one in enumerate(problem.classes) for _ in one.tasks)


def contents(
    problem: Problem, layout: Layout, placement: Placement
) -> dict[tuple[int, int], tuple[Content, ...]]:
    """Return what each worker of the layout holds in `placement`.

    Workers of the placement are matched to those of the layout by home label, else in turn. A
    placement with more workers on a node than the layout has is described as far as it goes.
    """
    by_place: dict[tuple[int, int], dict[int, Counter[int]]] = {}
    for (t, n, w), content in _worker_counts(problem, layout.groups, placement).items():
        by_place.setdefault((t, n), {})[w] = content
    by_layout: dict[tuple[int, int], tuple[Content, ...]] = {}
    for place, labels in layout.labels.items():
        inside = by_place.get(place, {})
        fresh = sorted(
            (content for w, content in inside.items() if w not in labels),
            key=lambda content: -sum(content.values()),
        )
        by_layout[place] = tuple(
            (fresh.pop(0) if fresh else Counter()) if label is None else inside.get(label, {})
            for label in labels
        )
    return by_layout


def _worker_counts(
    problem: Problem, groups: tuple[Group, ...], placement: Placement
) -> dict[tuple[int, int, int], Counter[int]]:
    """Return (topology, node, label) -> group -> count."""
    counts: dict[tuple[int, int, int], Counter[int]] = {}
    waiting = [list(one.tasks) for one in problem.classes]
    for g, group in enumerate(groups):
        topology = problem.classes[group.cls].topology
        for _ in range(group.size):
            task = waiting[group.cls].pop(0)
            node, label = placement.nodes[task], placement.workers[task]
            if node != UNPLACED:
                counts.setdefault((topology, node, label), Counter())[g] += 1
    return counts


def placement_of(
    problem: Problem, layout: Layout, contents_of: Mapping[tuple[int, int], Iterable[Content]]
) -> Placement:
    """Return the placement in which each worker holds these counts.

    Tasks of a class are taken in canonical order; a fresh worker gets a label that is free.
    """
    workers: list[WorkerCounts] = []
    used = {(n, w) for (_, n), labels in layout.labels.items() for w in labels if w is not None}
    for place, labels in layout.labels.items():
        for home_label, content in zip(labels, contents_of[place], strict=True):
            if not any(content.values()):
                continue
            node, label = place[1], home_label
            if label is None:
                label = next(i for i in range(len(used) + 1) if (node, i) not in used)
                used.add((node, label))
            counts = [(layout.groups[g].cls, count) for g, count in content.items()]
            workers.append((node, label, counts))
    return disaggregate(problem, (one.tasks for one in problem.classes), workers)


# Names of groups and nodes, for use within the names of columns and rows.

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
    for task_class in problem.classes:
        first[task_class.component] = min(
            task_class.tasks[0], first.get(task_class.component, task_class.tasks[0])
        )
        size[task_class.component] = size.get(task_class.component, 0) + task_class.size
    waiting = [list(task_class.tasks) for task_class in problem.classes]
    names = []
    for group in groups:
        task_class = problem.classes[group.cls]
        topology, component = problem.components[task_class.component]
        prefix = f"{short(problem.rules[topology].id)}_" if len(problem.rules) > 1 else ""
        task = waiting[group.cls].pop(0) - first[task_class.component]
        suffix = "" if group.size == size[task_class.component] else f"_{task}"
        names.append(f"{prefix}{short(component)}{suffix}")
    return names
