"""What the compact models count: groups of interchangeable tasks, on the workers of each node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, IntArray, Problem
from slotwise.solver.compact.star_cover import both_ways, stars_of
from slotwise.solver.core.engine import NotTakenError
from slotwise.solver.core.memory import check_room
from slotwise.solver.structure.worker_layout import home_labels, most_tasks, worker_count

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
        What is counted.
    most
        (group, node) -> most tasks of it there; absent where it cannot be there.
    labels
        (topology, node) -> home label of each worker that may be opened there; ``None`` for a
        fresh worker.
    """

    groups: tuple[Group, ...]
    most: dict[tuple[int, int], int]
    labels: dict[tuple[int, int], tuple[int | None, ...]]

    def groups_of(self, classes: Iterable[int]) -> list[int]:
        """Return the groups that belong to `classes`."""
        wanted = set(classes)
        return [g for g, group in enumerate(self.groups) if group.cls in wanted]


def make_layout(problem: Problem) -> Layout:
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
            total = worker_count(problem, t, n, most_of_class)
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
    for (t, n, w), content in _held(problem, layout.groups, placement).items():
        by_place.setdefault((t, n), {})[w] = content
    found: dict[tuple[int, int], tuple[Content, ...]] = {}
    for place, labels in layout.labels.items():
        inside = by_place.get(place, {})
        fresh = sorted(
            (content for w, content in inside.items() if w not in labels),
            key=lambda content: -sum(content.values()),
        )
        found[place] = tuple(
            (fresh.pop(0) if fresh else Counter()) if label is None else inside.get(label, {})
            for label in labels
        )
    return found


def _held(
    problem: Problem, groups: tuple[Group, ...], placement: Placement
) -> dict[tuple[int, int, int], Counter[int]]:
    """Return (topology, node, label) -> group -> count."""
    held: dict[tuple[int, int, int], Counter[int]] = {}
    waiting = [list(one.tasks) for one in problem.classes]
    for g, group in enumerate(groups):
        topology = problem.classes[group.cls].topology
        for _ in range(group.size):
            task = waiting[group.cls].pop(0)
            node, label = placement.nodes[task], placement.workers[task]
            if node != UNPLACED:
                held.setdefault((topology, node, label), Counter())[g] += 1
    return held


def placement_of(
    problem: Problem, layout: Layout, held: Mapping[tuple[int, int], Iterable[Content]]
) -> Placement:
    """Return the placement in which each worker holds these counts.

    Tasks of a class are taken in canonical order; a fresh worker gets a label that is free.
    """
    nodes = [UNPLACED] * problem.task_count
    workers = [UNPLACED] * problem.task_count
    waiting = [list(one.tasks) for one in problem.classes]
    used = {(n, w) for (_, n), labels in layout.labels.items() for w in labels if w is not None}
    for place, labels in layout.labels.items():
        for known, content in zip(labels, held[place], strict=True):
            taken = {g: count for g, count in content.items() if count}
            if not taken:
                continue
            node, label = place[1], known
            if label is None:
                label = next(i for i in range(len(used) + 1) if (node, i) not in used)
                used.add((node, label))
            for g, count in taken.items():
                tasks = waiting[layout.groups[g].cls]
                for task in tasks[:count]:
                    nodes[task], workers[task] = node, label
                del tasks[:count]
    return Placement(tuple(nodes), tuple(workers))


MOST_COUNTS = 20_000
"""Beyond this many counts of a class in a worker, building and presolving takes minutes."""

MOST_COLUMNS = 300_000
"""Of a linear model."""

BYTES_A_COUNT, BYTES_A_STEP, BYTES_A_TERM = 6_000, 4_000, 120
"""Of CP-SAT's model, and of what its search makes of it in one thread; measured."""

BYTES_A_COLUMN, BYTES_A_SUMMAND = 5_000, 120
"""Of PuLP's model with its rows, and HiGHS's copy; measured."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """How large a compact model is.

    Parameters
    ----------
    counts
        Of a class (by matrix: a task) in a worker.
    steps
        Values of the centers of stars in all places; by matrix: pairs of places of two tasks.
    shares
        Leaves beside each of these values, added up.
    terms
        Counts that these leaves are sums of, added up.
    """

    counts: int
    steps: int
    shares: int
    terms: int

    def __add__(self, other: ModelSize) -> ModelSize:
        """Return the size of both together."""
        return ModelSize(
            self.counts + other.counts,
            self.steps + other.steps,
            self.shares + other.shares,
            self.terms + other.terms,
        )


def count_size(problem: Problem) -> ModelSize:
    """Return the size of the counts alone."""
    most = most_tasks(problem)
    single = problem.matrix is not None
    counts = sum(
        worker_count(problem, t, n, most)
        * sum(problem.classes[c].size if single else 1 for c in rules.classes)
        for t, rules in enumerate(problem.rules)
        for n in range(problem.node_count)
    )
    return ModelSize(counts, 0, 0, 0)


def network_size(problem: Problem) -> ModelSize:
    """Return the size of the products of counts, where the network costs something; no less."""
    if "network" not in problem.instance.objective.parts:
        return ModelSize(0, 0, 0, 0)
    if problem.matrix is not None:
        pairs = sum(problem.sizes[a] * problem.sizes[b] for a, b in both_ways(problem))
        places = pairs * problem.node_count**2
        return ModelSize(0, places, 0, 2 * places)
    most = most_tasks(problem)
    total = ModelSize(0, 0, 0, 0)
    for t, stars in stars_of(problem).items():
        workers = np.array(
            [worker_count(problem, t, n, most) for n in range(problem.node_count)], dtype=np.int64
        )
        for center, leaves in stars.items():
            steps, terms = _star_size(problem, most[center], workers, problem.sizes[center])
            total += ModelSize(0, steps, steps * len(leaves), terms * len(leaves))
    return total


def _star_size(problem: Problem, most: IntArray, workers: IntArray, size: int) -> tuple[int, int]:
    """Return the values of a center in all places, and summed over them the workers there."""
    worker, node, rack, cluster = (int(problem.distance[i]) for i in (WORKER, NODE, RACK, CLUSTER))
    split = bool((workers > 1).any())
    steps = terms = 0
    if split and node != worker:
        steps, terms = int(most @ workers), int(most @ workers)
    if rack != (node if split else worker):
        steps, terms = steps + int(most.sum()), terms + int(most @ workers)
    if len(problem.racks) > 1 and cluster != rack:
        for r in range(len(problem.racks)):
            inside = problem.node_rack == r
            top = min(int(most[inside].sum()), size)
            steps, terms = steps + top, terms + top * int(workers[inside].sum())
    return steps, terms


def check_model_size(problem: Problem, *, network: bool = True) -> None:
    """Refuse a problem whose compact model would be too large to build or to hold.

    Parameters
    ----------
    problem
        What is modelled.
    network
        Whether the model has products of counts.

    Raises
    ------
    NotTakenError
        Naming the size: more than `MOST_COUNTS` counts, or more memory than is left.
    """
    size = count_size(problem)
    if size.counts > MOST_COUNTS:
        raise NotTakenError(
            f"the compact model would have {size.counts:,} counts of tasks in workers"
        )
    if network:
        size += network_size(problem)
    check_room(
        size.counts * BYTES_A_COUNT + size.steps * BYTES_A_STEP + size.terms * BYTES_A_TERM,
        f"a model of {size.counts:,} counts and {size.steps:,} values in products",
    )


def check_linear_size(problem: Problem) -> None:
    """Refuse a problem whose linear model would be too large to hold.

    Raises
    ------
    NotTakenError
        Naming the size where it takes more memory than is left.
    """
    size = count_size(problem) + network_size(problem)
    columns = min(size.counts + size.steps + size.shares, MOST_COLUMNS)
    check_room(
        columns * BYTES_A_COLUMN + size.terms * BYTES_A_SUMMAND,
        f"a linear model of up to {columns:,} columns",
    )
