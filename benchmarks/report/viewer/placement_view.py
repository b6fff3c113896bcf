"""What a drawing shows of a placement: racks, nodes, workers, task counts, loads."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import NodeLoad
from slotwise.models.number_text import short_text
from slotwise.models.problem.problem import Problem

TIMES = "\N{MULTIPLICATION SIGN}"

COLOURS = 12
"""Colours in the page's style sheet; more components share them, tooltips tell them apart."""

MOST_NODES = 24
"""Nodes in use that a drawing shows."""

MOST_WITH_EMPTY = 12
"""A cluster with more nodes has its empty ones counted, not drawn."""

MOST_TASKS, MOST_WORKERS = 60, 6
"""A node with more of them shows a count per component."""

MOST_NAMED = 30
"""Components that the legend names."""


@dataclass(frozen=True, slots=True)
class DrawnComponent:
    """`count` tasks of one component; `colour` is its index among all components with tasks."""

    name: str
    colour: int
    count: int


@dataclass(frozen=True, slots=True)
class DrawnWorker:
    """A worker and the tasks in it."""

    name: str
    components: tuple[DrawnComponent, ...]


@dataclass(frozen=True, slots=True)
class LoadBar:
    """Load against capacity (``None`` = no limit) of one resource, in the user's units."""

    name: str
    load: float
    capacity: float | None

    @property
    def label(self) -> str:
        """Load and capacity, short."""
        return f"{short_text(self.load)} / {short_text(self.capacity, missing='∞')}"

    @property
    def title(self) -> str:
        """Load and capacity in words."""
        if self.capacity is None:
            return f"{self.name}: {short_text(self.load)}, no limit"
        text = f"{self.name}: {short_text(self.load)} of {short_text(self.capacity)}"
        over = self.load - self.capacity
        return f"{text}, overloaded by {short_text(over)}" if over > 0 else text


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node, what runs there, and its loads."""

    name: str
    workers: tuple[DrawnWorker, ...]
    bars: tuple[LoadBar, ...]

    @property
    def tasks(self) -> int:
        """Number of tasks on it."""
        return sum(component.count for w in self.workers for component in w.components)

    @property
    def crowded(self) -> bool:
        """Whether there is too much on it to draw each task."""
        return self.tasks > MOST_TASKS or len(self.workers) > MOST_WORKERS

    @property
    def summary(self) -> str:
        """The node in words."""
        loads = "; ".join(bar.title for bar in self.bars)
        return f"node {self.name}: {self.tasks} tasks in {len(self.workers)} workers; {loads}"


@dataclass(frozen=True, slots=True)
class DrawnRack:
    """A rack, the nodes of it that are shown, and a note on those that are not."""

    name: str
    nodes: tuple[NodeView, ...]
    note: str


def racks_of(problem: Problem, placement: Placement) -> tuple[DrawnRack, ...]:
    """Return what to draw of `placement`; of a large cluster the nodes with most tasks."""
    workers = _workers(problem, placement)
    nodes = [
        NodeView(row["node"], tuple(workers.get(n, ())), _bars(row))
        for n, row in enumerate(judge(problem, placement).node_loads())
    ]
    used = sorted((n for n in range(len(nodes)) if nodes[n].tasks), key=lambda n: -nodes[n].tasks)
    shown = set(used[:MOST_NODES])
    if len(nodes) <= MOST_WITH_EMPTY:
        shown = set(range(len(nodes)))
    racks = []
    for r, name in enumerate(problem.racks):
        inside = [n for n in range(len(nodes)) if problem.node_rack[n] == r]
        racks.append(
            DrawnRack(
                name,
                tuple(nodes[n] for n in inside if n in shown),
                _note([nodes[n] for n in inside if n not in shown], len(inside)),
            )
        )
    return _without_empty(racks)


def _without_empty(racks: list[DrawnRack]) -> tuple[DrawnRack, ...]:
    """Fold racks with nothing to draw into one line."""
    empty = [rack for rack in racks if not rack.nodes]
    if len(empty) < 2:
        return tuple(racks)
    folded = DrawnRack(f"s: {len(empty)} more", (), "not drawn")
    return (*(rack for rack in racks if rack.nodes), folded)


def _note(hidden: list[NodeView], size: int) -> str:
    busy = [node for node in hidden if node.tasks]
    parts = [f"{size} nodes"] if hidden else []
    if len(hidden) > len(busy):
        parts.append(f"{len(hidden) - len(busy)} empty")
    if busy:
        parts.append(f"{len(busy)} not shown with {sum(n.tasks for n in busy)} tasks")
    return ", ".join(parts)


def component_names(problem: Problem) -> tuple[tuple[str, int], ...]:
    """Return name and colour of each component that has tasks."""
    several = len(problem.rules) > 1
    used = sorted({one.component for one in problem.classes})
    names = []
    for colour, index in enumerate(used):
        topology, component = problem.components[index]
        prefix = f"{problem.rules[topology].id}/" if several else ""
        names.append((prefix + component, colour))
    return tuple(names)


def legend_names(problem: Problem) -> tuple[tuple[str, int], ...]:
    """Return what the legend shows: name with number of tasks, and colour."""
    used = sorted({one.component for one in problem.classes})
    sizes: Counter[int] = Counter()
    for one in problem.classes:
        sizes[one.component] += one.size
    names = component_names(problem)
    shown = [
        (f"{name} {TIMES}{sizes[index]}", colour)
        for (name, colour), index in zip(names, used, strict=True)
    ]
    return tuple(shown[:MOST_NAMED])


def _workers(problem: Problem, placement: Placement) -> dict[int, list[DrawnWorker]]:
    used = sorted({one.component for one in problem.classes})
    colour = {index: i for i, index in enumerate(used)}
    names = dict(zip(used, component_names(problem), strict=True))
    found: dict[tuple[int, int, int], Counter[int]] = defaultdict(Counter)
    of_task = problem.task_class.tolist()
    for task, (node, label) in enumerate(zip(placement.nodes, placement.workers, strict=True)):
        if node >= 0:
            one = problem.classes[of_task[task]]
            found[node, label, one.topology][one.component] += 1
    workers: dict[int, list[DrawnWorker]] = defaultdict(list)
    for (node, label, topology), counts in sorted(found.items()):
        components = tuple(
            DrawnComponent(names[index][0], colour[index], count)
            for index, count in sorted(counts.items())
        )
        workers[node].append(
            DrawnWorker(f"worker {label} of {problem.rules[topology].id}", components)
        )
    return workers


def _bars(row: NodeLoad) -> tuple[LoadBar, ...]:
    return tuple(LoadBar(name, load, row["capacity"][name]) for name, load in row["load"].items())
