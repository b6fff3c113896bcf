"""R-Storm, Algorithm 3: the order in which a topology's tasks are scheduled."""

from __future__ import annotations

from collections import deque

from slotwise.heuristics.traversal import bfs_topology_traversal
from slotwise.models.problem import Problem


def task_selection(problem: Problem, topology: int) -> list[int]:
    """Return the tasks of `topology`: one of each visited component in turn, until all are in.

    ``getTask`` takes the task with the lowest index.
    """
    components = bfs_topology_traversal(problem.instance.topologies[topology])
    tasks: dict[str, list[int]] = {component: [] for component in components}
    for c in problem.rules[topology].classes:
        one = problem.classes[c]
        tasks[problem.components[one.component][1]].extend(one.tasks)
    waiting = [deque(sorted(tasks[component])) for component in components]
    ordering: list[int] = []
    while any(waiting):
        ordering.extend(queue.popleft() for queue in waiting if queue)
    return ordering
