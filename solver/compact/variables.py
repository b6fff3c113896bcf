"""Variables of the compact model: how many tasks of a group are in a worker.

Only workers have variables of their own; the count on a node is the sum over its workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.layout import (
    Content,
    Group,
    Layout,
    contents,
    group_names,
    make_layout,
    node_name,
    placement_of,
    short,
)

# The interface of a solver's model for the compact formulation: variables, sums, linear rows.


class Linear(Protocol):
    """A variable, a linear expression with whole coefficients, or a whole number."""

    def __rmul__(self, factor: int, /) -> Self:
        """Return `factor` times this."""
        ...


E = TypeVar("E", bound=Linear)
"""A back end's own linear expressions; its variables are such, too."""


class ModelBuilder(Protocol[E]):
    """A model under construction; every variable is at least 0 and bounded.

    Names are for model files: a back end that writes none may drop them.
    """

    @property
    def token(self) -> CancellationToken:
        """What stops the building; new variables and rows check it."""
        ...

    @property
    def opens_first(self) -> bool:
        """Whether each worker has a boolean "open", stated before its counts.

        Else only a worker has one where a rule or a term asks for it, after its counts: the order
        of variables guides a search.
        """
        ...

    def whole(self, name: str, upper: int) -> E:
        """Add a whole number from 0 to `upper`."""
        ...

    def boolean(self, name: str) -> E:
        """Add a choice, 0 or 1."""
        ...

    def number(self, name: str, upper: int) -> E:
        """Add a number from 0 to `upper` that may be whole: the model is exact either way."""
        ...

    def measure(self, name: str, upper: int) -> E:
        """Add a number from 0 to `upper`, whole in all that counts, beside which rows have sums.

        A back end that computes in floating point has a column from 0 to 1 for it.
        """
        ...

    def total(self, parts: Iterable[E | int]) -> E:
        """Return the sum of expressions and whole numbers."""
        ...

    def most(self, expression: E) -> int:
        """Return the largest value of an expression that the bounds of its variables allow."""
        ...

    def at_most(self, name: str, left: E | int, right: E | int) -> None:
        """State left <= right."""
        ...

    def at_least(self, name: str, left: E | int, right: E | int) -> None:
        """State left >= right."""
        ...

    def equal(self, name: str, left: E | int, right: E | int) -> None:
        """State left = right."""
        ...

    def implies(self, name: str, first: E, second: E) -> None:
        """State of two booleans: if the first, then the second."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Worker(Generic[E]):
    """A worker that may be opened.

    Parameters
    ----------
    topology, node
        Its topology and its node.
    label
        Its label if tasks run in it now; ``None`` for a new worker.
    name
        For use within names of variables and rows.
    open
        Whether it holds a task; ``None`` where nothing depends on it.
    counts
        Group -> count; absent where the group cannot be there.
    """

    topology: int
    node: int
    label: int | None
    name: str
    open: E | None
    counts: dict[int, E]

    @property
    def opened(self) -> E:
        """Whether it holds a task, for a rule or a term that depends on it."""
        if self.open is None:
            raise InternalError(f"the model does not say whether worker {self.name} is open")
        return self.open


@dataclass(frozen=True, slots=True, eq=False)
class Counts(Generic[E]):
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
    workers: dict[tuple[int, int], tuple[Worker[E], ...]]
    rejected: dict[int, E]

    @property
    def groups(self) -> tuple[Group, ...]:
        """What is counted."""
        return self.layout.groups

    @property
    def most(self) -> dict[tuple[int, int], int]:
        """(group, node) -> most tasks of it there; absent where it cannot be there."""
        return self.layout.most

    def all_workers(self) -> Iterable[Worker[E]]:
        """Return every worker, by topology, then node."""
        return (worker for workers in self.workers.values() for worker in workers)

    def on_node(self, model: ModelBuilder[E], topology: int, group: int, node: int) -> E:
        """Return the count of a group on a node as a sum over workers."""
        workers = self.workers[topology, node]
        return model.total(w.counts[group] for w in workers if group in w.counts)

    def groups_of(self, classes: Iterable[int]) -> list[int]:
        """Return the groups that belong to `classes`."""
        return self.layout.groups_of(classes)


def make_counts(model: ModelBuilder[E], problem: Problem) -> Counts[E]:
    """Create the variables; every task has one place, or its whole topology none."""
    layout = make_layout(problem, model.token)
    names = group_names(problem, layout.groups)
    members: dict[int, list[int]] = {t: [] for t in range(len(problem.rules))}
    for g, group in enumerate(layout.groups):
        members[problem.classes[group.cls].topology].append(g)
    workers: dict[tuple[int, int], tuple[Worker[E], ...]] = {}
    for (t, n), labels in layout.labels.items():
        most = {g: layout.most[g, n] for g in members[t] if (g, n) in layout.most}
        needs_open = not model.opens_first and _open_counts(problem, layout, n)
        workers[t, n] = tuple(
            _worker(model, problem, (t, n, w, label), most, names, needs_open)
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
    model: ModelBuilder[E],
    problem: Problem,
    place: tuple[int, int, int, int | None],
    most: dict[int, int],
    names: list[str],
    needs_open: bool,
) -> Worker[E]:
    """Return a worker, open exactly when it holds a task.

    `needs_open`: a rule or term depends on whether it is open.
    """
    t, n, w, label = place
    name = node_name(problem, n) + (f"_w{w}" if label is None else f"_home{label}")
    open_name = f"open_{short(problem.rules[t].id)}_{name}"
    opened = model.boolean(open_name) if model.opens_first else None
    counts = {g: model.whole(f"x_{names[g]}_{name}", upper) for g, upper in most.items()}
    if needs_open:
        opened = model.boolean(open_name)
    if opened is not None:
        for g, count in counts.items():
            model.at_most(f"opens_{names[g]}_{name}", count, most[g] * opened)
        model.at_least(f"used_{name}", model.total(counts.values()), opened)
    return Worker(t, n, label, name, opened, counts)


def _place_every_task(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], names: list[str]
) -> None:
    """Sum over places of the count of a group = its size, or 0 if its topology is left out."""
    for g, group in enumerate(counts.groups):
        t = problem.classes[group.cls].topology
        placed = [counts.on_node(model, t, g, n) for n in range(problem.node_count)]
        if t in counts.rejected:
            placed.append(group.size * counts.rejected[t])
        model.equal(f"place_{names[g]}", model.total(placed), group.size)


def described(
    problem: Problem, counts: Counts[E], placement: Placement
) -> Iterator[tuple[Worker[E], Content]]:
    """Yield each worker with what it holds in `placement`."""
    for place, place_contents in contents(problem, counts.layout, placement).items():
        yield from zip(counts.workers[place], place_contents, strict=True)


def read_placement(problem: Problem, counts: Counts[E], value: Callable[[E], int]) -> Placement:
    """Return the placement that the values of the counts describe."""
    place_contents = {
        place: [{g: value(x) for g, x in worker.counts.items()} for worker in workers]
        for place, workers in counts.workers.items()
    }
    return placement_of(problem, counts.layout, place_contents)
