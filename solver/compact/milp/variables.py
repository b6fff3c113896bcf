"""Columns of the linear model: how many tasks of a group are in a worker.

Only workers have columns of their own; the count on a node is the sum over its workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.layout import Layout, make_layout
from slotwise.solver.compact.milp.builder import Expr, Model, short, total


@dataclass(frozen=True, slots=True, eq=False)
class Worker:
    """A worker that may be opened.

    Parameters
    ----------
    topology, node, label
        Whose and where; its home label, ``None`` for a fresh worker.
    name
        For use within names of columns and rows.
    open
        Whether it holds a task; ``None`` where nothing depends on it.
    counts
        Group -> count; absent where the group cannot be there.
    """

    topology: int
    node: int
    label: int | None
    name: str
    open: Expr | None
    counts: dict[int, Expr]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """All columns of a placement.

    Parameters
    ----------
    layout
        What is counted, and where it can be.
    workers
        (topology, node) -> the workers that may be opened there.
    rejected
        Topology -> boolean "left out"; empty where every topology must be placed.
    """

    layout: Layout
    workers: dict[tuple[int, int], tuple[Worker, ...]]
    rejected: dict[int, Expr]

    def all_workers(self) -> Iterable[Worker]:
        """Return every worker, by topology, then node."""
        return (worker for workers in self.workers.values() for worker in workers)

    def on_node(self, topology: int, group: int, node: int) -> Expr:
        """Return the count of a group on a node as a sum over workers."""
        return total(w.counts[group] for w in self.workers[topology, node] if group in w.counts)


def make_counts(model: Model, problem: Problem) -> Counts:
    """Add the columns; every task has one place, or its whole topology none."""
    layout = make_layout(problem)
    names = group_names(problem, layout)
    members: dict[int, list[int]] = {t: [] for t in range(len(problem.rules))}
    for g, group in enumerate(layout.groups):
        members[problem.classes[group.cls].topology].append(g)
    workers: dict[tuple[int, int], tuple[Worker, ...]] = {}
    for (t, n), labels in layout.labels.items():
        here = {g: layout.most[g, n] for g in members[t] if (g, n) in layout.most}
        counted = _open_counts(problem, layout, n)
        workers[t, n] = tuple(
            _worker(model, problem, (t, n, w, label), here, names, counted)
            for w, label in enumerate(labels)
        )
    rejected = {
        t: model.boolean(f"rejected_{short(rules.id)}")
        for t, rules in enumerate(problem.rules)
        if problem.may_reject and rules.classes
    }
    counts = Counts(layout, workers, rejected)
    _place_every_task(model, problem, counts, names)
    return counts


def group_names(problem: Problem, layout: Layout) -> list[str]:
    """Return a name per group: its component, and its first task where the component has more."""
    first: dict[int, int] = {}
    size: dict[int, int] = {}
    for one in problem.classes:
        first[one.component] = min(one.tasks[0], first.get(one.component, one.tasks[0]))
        size[one.component] = size.get(one.component, 0) + one.size
    waiting = [list(one.tasks) for one in problem.classes]
    names = []
    for group in layout.groups:
        one = problem.classes[group.cls]
        topology, component = problem.components[one.component]
        prefix = f"{short(problem.rules[topology].id)}_" if len(problem.rules) > 1 else ""
        task = waiting[group.cls].pop(0) - first[one.component]
        suffix = "" if group.size == size[one.component] else f"_{task}"
        names.append(f"{prefix}{short(component)}{suffix}")
    return names


def node_name(problem: Problem, node: int) -> str:
    """Return a node's id for use within a name."""
    return short(problem.instance.cluster.nodes[node].id)


def _open_counts(problem: Problem, layout: Layout, node: int) -> bool:
    """Return whether it matters on the node if a worker holds a task."""
    parts = problem.instance.objective.parts
    possible = sum(len(labels) for (_, n), labels in layout.labels.items() if n == node)
    return (
        "workers" in parts
        or "nodes" in parts
        or bool(problem.min_worker_cpu)
        or possible > problem.slots[node]
    )


def _worker(
    model: Model,
    problem: Problem,
    place: tuple[int, int, int, int | None],
    most: dict[int, int],
    names: list[str],
    open_counts: bool,
) -> Worker:
    """Return a worker, open exactly when it holds a task."""
    t, n, w, label = place
    name = node_name(problem, n) + (f"_w{w}" if label is None else f"_home{label}")
    counts = {g: model.whole(f"x_{names[g]}_{name}", upper) for g, upper in most.items()}
    if not open_counts:
        return Worker(t, n, label, name, None, counts)
    opened = model.boolean(f"open_{short(problem.rules[t].id)}_{name}")
    for g, count in counts.items():
        model.at_most(f"opens_{names[g]}_{name}", count, most[g] * opened)
    model.at_most(f"used_{name}", opened, total(counts.values()))
    return Worker(t, n, label, name, opened, counts)


def _place_every_task(model: Model, problem: Problem, counts: Counts, names: list[str]) -> None:
    """Sum over places of the count of a group = its size, or 0 if its topology is left out."""
    for g, group in enumerate(counts.layout.groups):
        t = problem.classes[group.cls].topology
        placed = total(counts.on_node(t, g, n) for n in range(problem.node_count))
        left_out = group.size * counts.rejected[t] if t in counts.rejected else 0
        model.equal(f"place_{names[g]}", placed + left_out, group.size)
