"""Variables of the compact model: how many tasks of a group are in a place.

Only workers have variables of their own; the count on a node is the sum over its workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ortools.sat.python import cp_model

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.layout import Group, Layout, contents, make_layout

Count = cp_model.LinearExpr | int


@dataclass(frozen=True, slots=True, eq=False)
class Worker:
    """A worker that may be opened.

    Parameters
    ----------
    topology, node
        Whose and where.
    label
        Its home label; ``None`` for a fresh worker.
    open
        Whether it holds a task.
    counts
        Group -> count; absent where the group cannot be there.
    """

    topology: int
    node: int
    label: int | None
    open: cp_model.IntVar
    counts: dict[int, cp_model.IntVar]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """All variables of a placement.

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
    rejected: dict[int, cp_model.IntVar]

    @property
    def groups(self) -> tuple[Group, ...]:
        """What is counted."""
        return self.layout.groups

    @property
    def most(self) -> dict[tuple[int, int], int]:
        """(group, node) -> most tasks of it there; absent where it cannot be there."""
        return self.layout.most

    def all_workers(self) -> Iterable[Worker]:
        """Return every worker, by topology, then node."""
        return (worker for workers in self.workers.values() for worker in workers)

    def on_node(self, topology: int, group: int, node: int) -> Count:
        """Return the count of a group on a node as a sum over workers."""
        return sum(w.counts[group] for w in self.workers[topology, node] if group in w.counts)

    def groups_of(self, classes: Iterable[int]) -> list[int]:
        """Return the groups that belong to `classes`."""
        return self.layout.groups_of(classes)


def make_counts(model: cp_model.CpModel, problem: Problem) -> Counts:
    """Create the variables; every task has one place, or its whole topology none."""
    layout = make_layout(problem)
    members: dict[int, list[int]] = {t: [] for t in range(len(problem.rules))}
    for g, group in enumerate(layout.groups):
        members[problem.classes[group.cls].topology].append(g)
    workers = {}
    for (t, n), labels in layout.labels.items():
        here = {g: layout.most[g, n] for g in members[t] if (g, n) in layout.most}
        workers[t, n] = tuple(
            _worker(model, t, n, w, label, here) for w, label in enumerate(labels)
        )
    counts = Counts(layout, workers, _rejected(model, problem))
    _place_every_task(model, problem, counts)
    return counts


def _worker(
    model: cp_model.CpModel, topology: int, node: int, number: int, label: int | None,
    most: dict[int, int],
) -> Worker:  # fmt: skip
    """Return a worker, open exactly when it holds a task."""
    name = f"t{topology}_n{node}_w{number}"
    opened = model.new_bool_var(f"open_{name}")
    counts = {g: model.new_int_var(0, upper, f"x_g{g}_{name}") for g, upper in most.items()}
    for g, count in counts.items():
        model.add(count <= most[g] * opened)
    model.add(sum(counts.values()) >= opened)
    return Worker(topology, node, label, opened, counts)


def _rejected(model: cp_model.CpModel, problem: Problem) -> dict[int, cp_model.IntVar]:
    if not problem.may_reject:
        return {}
    return {
        t: model.new_bool_var(f"rejected_t{t}")
        for t, rules in enumerate(problem.rules)
        if rules.classes
    }


def _place_every_task(model: cp_model.CpModel, problem: Problem, counts: Counts) -> None:
    """Sum over places of the count of a group = its size, or 0 if its topology is left out."""
    for g, group in enumerate(counts.groups):
        t = problem.classes[group.cls].topology
        placed = sum(counts.on_node(t, g, n) for n in range(problem.node_count))
        left_out = counts.rejected.get(t, 0)
        model.add(placed + group.size * left_out == group.size)


def add_hint(
    model: cp_model.CpModel, problem: Problem, counts: Counts, placement: Placement
) -> None:
    """Hint every count and open worker so that they describe `placement`."""
    for place, held in contents(problem, counts.layout, placement).items():
        for worker, content in zip(counts.workers[place], held, strict=True):
            model.add_hint(worker.open, bool(content))
            for g, count in worker.counts.items():
                model.add_hint(count, content.get(g, 0))
