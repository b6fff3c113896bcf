"""The capacity of a node as one number, for methods that partition graphs.

StroMAX's *maximum processing capability*. Before a topology runs, nothing is measured: every task
costs 1, and a node takes a number of tasks (section 3.2; 10 *task slots* a node in section 5).
While it runs, a task costs what is measured, and a node takes its computation (section 3.3). An
instance gives capacities of resources instead:

- `task_slots`: the least, over the resources that tasks need and the node limits, of its capacity
  over the mean demand of a task. It is rounded down where all tasks need equally much (10 where a
  node offers 10 of what each task needs 1 of), up otherwise: rounded down, the nodes of a feasible
  instance could have less slots than there are tasks. Where every topology has one task a worker,
  also the node's slots. Soft resources count like hard ones: the article's limit is hard.
- `computation`: its ``cpu``.

A node without a limit takes all tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT


def task_slots(problem: Problem) -> list[int]:
    """Return the number of tasks that each node takes."""
    tasks = problem.task_count
    most = [tasks] * problem.node_count
    if problem.rules and all(rules.one_task_per_worker for rules in problem.rules):
        most = [min(tasks, slots) for slots in problem.slots.tolist()]
    for d in range(len(problem.dims)):
        demand: list[int] = problem.demand[:, d].tolist()
        needed = sum(need * size for need, size in zip(demand, problem.sizes, strict=True))
        if not needed:
            continue
        up = 0 if len(set(demand)) == 1 else needed - 1
        for n, capacity in enumerate(problem.capacity[:, d].tolist()):
            if capacity != NO_LIMIT:
                most[n] = min(most[n], (capacity * tasks + up) // needed)
    return most


def computation(problem: Problem) -> list[int]:
    """Return the cpu that each node offers, in integer units; no limit = what all tasks need.

    The problem must have the dimension ``cpu``.
    """
    costs = task_costs(problem)
    needed = sum(cost * size for cost, size in zip(costs, problem.sizes, strict=True))
    return [needed if c == NO_LIMIT else c for c in problem.capacity[:, problem.cpu].tolist()]


def task_costs(problem: Problem) -> list[int]:
    """Return the computation cost of a task of each class: its ``cpu``, in integer units."""
    costs: list[int] = problem.demand[:, problem.cpu].tolist()
    return costs


def needs_cpu(problem: Problem) -> str | None:
    """Return why there are no computation costs; ``None`` = there are."""
    if problem.cpu is None and problem.task_count:
        return "needs the computation cost of tasks, but no task here has cpu"
    return None


# The places of a task's neighbours, counted by class while tasks are placed one by one.

Links = tuple[tuple[tuple[int, int], ...], ...]
"""Of each class, the classes whose tasks are its neighbours, and the weight of one of them."""


def links(problem: Problem, weight: Callable[[int, int], int]) -> Links:
    """Return the neighbours of each class, which exchange tuples with it in either direction.

    Parameters
    ----------
    weight
        (neighbour's class, flow of the pair in both directions) -> weight of one such neighbour.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in problem.classes]
    for (a, b), flow in problem.pair_flows().items():
        if flow:
            neighbours[a].append((b, weight(b, flow)))
            neighbours[b].append((a, weight(a, flow)))
    return tuple(tuple(row) for row in neighbours)


class PlacedNeighbours:
    """The number of tasks of each class on each node, and their weight for another task."""

    def __init__(self, problem: Problem, linked: Links) -> None:
        self._class: list[int] = problem.task_class.tolist()
        self._links = linked
        self._counts: list[Counter[int]] = [Counter() for _ in problem.classes]

    def put(self, task: int, node: int) -> None:
        """Count `task` on `node`."""
        self._counts[self._class[task]][node] += 1

    def remove(self, task: int, node: int) -> None:
        """Stop counting `task` on `node`."""
        self._counts[self._class[task]][node] -= 1

    def gains(self, task: int) -> Counter[int]:
        """Return the total weight of the neighbours of `task` on each node that has any."""
        total: Counter[int] = Counter()
        for other, weight in self._links[self._class[task]]:
            for node, count in self._counts[other].items():
                if count:
                    total[node] += weight * count
        return total
