"""Who is placed how: a layout per topology, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.whole_cluster.layout import Layout
from slotwise.solver.whole_cluster.room import Room
from slotwise.solver.whole_cluster.topologies import TopologyPart


class Plan:
    """Layouts that fit side by side, and the room that they leave."""

    def __init__(self, problem: Problem, parts: Sequence[TopologyPart]) -> None:
        self._problem = problem
        self._parts = parts
        self.layouts: list[Layout | None] = [None] * len(parts)
        self.room = Room(problem)

    def copy(self) -> Plan:
        """Return a plan with the same layouts."""
        other = Plan(self._problem, self._parts)
        for i, layout in enumerate(self.layouts):
            if layout is not None:
                other.put(i, layout)
        return other

    def put(self, part: int, layout: Layout) -> None:
        """Place a topology that is left out."""
        self.layouts[part] = layout
        self.room.put(layout)

    def take_out(self, part: int) -> Layout | None:
        """Leave a topology out; return how it was placed."""
        layout = self.layouts[part]
        if layout is not None:
            self.room.remove(layout)
            self.layouts[part] = None
        return layout

    @property
    def left_out(self) -> list[int]:
        """The topologies that are not placed."""
        return [i for i, layout in enumerate(self.layouts) if layout is None]

    @property
    def value(self) -> tuple[int, ...]:
        """What the topologies left out weigh, then the cost of the others in each term.

        A topology that may not be left out weighs 1.
        """
        weights = [self._parts[i].weight for i in self.left_out]
        costs = [layout.cost for layout in self.layouts if layout is not None]
        sums = tuple(map(sum, zip(*costs, strict=True))) if costs else ()
        return (sum(1 if weight is None else weight for weight in weights), *sums)

    def placement(self) -> Placement:
        """Return the placement of the whole problem; workers get new labels on each node."""
        nodes = [UNPLACED] * self._problem.task_count
        labels = [UNPLACED] * self._problem.task_count
        used = [0] * self._problem.node_count
        for part, layout in zip(self._parts, self.layouts, strict=True):
            if layout is None:
                continue
            renamed: dict[tuple[int, int], int] = {}
            own = layout.placement
            for task, node, label in zip(part.part.tasks, own.nodes, own.workers, strict=True):
                if (node, label) not in renamed:
                    renamed[node, label] = used[node]
                    used[node] += 1
                nodes[task], labels[task] = node, renamed[node, label]
        return Placement(tuple(nodes), tuple(labels))


def own_placement(part: TopologyPart, placement: Placement) -> Placement | None:
    """Return a topology's part of a placement; ``None`` where it is not placed whole."""
    nodes = tuple(placement.nodes[task] for task in part.part.tasks)
    workers = tuple(placement.workers[task] for task in part.part.tasks)
    return None if UNPLACED in nodes else Placement(nodes, workers)
