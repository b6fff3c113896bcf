"""Where the neighbours of a task are, counted by class while tasks are placed one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from slotwise.models.problem.problem import Problem

Links = tuple[tuple[tuple[int, int], ...], ...]
"""Of each class, the classes whose tasks are its neighbours, and the weight of one of them."""


def links(problem: Problem, weight: Callable[[int, int], int]) -> Links:
    """Return who exchanges tuples with whom, in either direction.

    Parameters
    ----------
    weight
        (neighbour's class, flow of the pair in both directions) -> what one such neighbour counts.
    """
    found: list[list[tuple[int, int]]] = [[] for _ in problem.classes]
    for (a, b), flow in problem.pair_flows().items():
        if flow:
            found[a].append((b, weight(b, flow)))
            found[b].append((a, weight(a, flow)))
    return tuple(tuple(row) for row in found)


class PlacedNeighbours:
    """How many tasks of each class are on each node, and what they weigh for another task."""

    def __init__(self, problem: Problem, linked: Links) -> None:
        self._class: list[int] = problem.task_class.tolist()
        self._links = linked
        self._counts: list[Counter[int]] = [Counter() for _ in problem.classes]

    def put(self, task: int, node: int) -> None:
        """Count `task` on `node`."""
        self._counts[self._class[task]][node] += 1

    def remove(self, task: int, node: int) -> None:
        """Count `task` on `node` no longer."""
        self._counts[self._class[task]][node] -= 1

    def gains(self, task: int) -> Counter[int]:
        """Return the total weight of the neighbours of `task` on each node that has any."""
        total: Counter[int] = Counter()
        for other, weight in self._links[self._class[task]]:
            for node, count in self._counts[other].items():
                if count:
                    total[node] += weight * count
        return total
