"""R-Storm, Algorithm 3: the order in which a topology's tasks are scheduled."""

from __future__ import annotations

from itertools import chain

from slotwise.heuristics.one_by_one import one_of_each_in_turn
from slotwise.heuristics.rstorm.traversal import bfs_topology_traversal, from_first_spout
from slotwise.models.problem.problem import Problem


def task_selection(problem: Problem, topology: int) -> list[int]:
    """Return the tasks of `topology`: one of each visited component in turn, until all are in."""
    waiting = _tasks(
        problem, topology, bfs_topology_traversal(problem.instance.topologies[topology])
    )
    return one_of_each_in_turn(waiting.values())


def research_task_selection(problem: Problem, topology: int) -> list[int]:
    """Return the tasks in the order of the research code; empty = there is no spout.

    One of each component in turn of those that the first spout leads to. What is left over, ackers
    and parts of their own, follows component by component in the topology's order (that code has
    the order of a hash set).
    """
    one = problem.instance.topologies[topology]
    reached = from_first_spout(one)
    if not reached:
        return []
    others = [c.id for c in one.placed_components if c.id not in reached]
    left_over = _tasks(problem, topology, others).values()
    return [
        *one_of_each_in_turn(_tasks(problem, topology, reached).values()),
        *chain.from_iterable(left_over),
    ]


def _tasks(problem: Problem, topology: int, components: list[str]) -> dict[str, list[int]]:
    """Return the tasks of each of `components`, lowest index first: so ``getTask`` takes them."""
    tasks: dict[str, list[int]] = {component: [] for component in components}
    for c in problem.rules[topology].classes:
        one = problem.classes[c]
        component = problem.components[one.component][1]
        if component in tasks:
            tasks[component].extend(one.tasks)
    return {component: sorted(found) for component, found in tasks.items()}
