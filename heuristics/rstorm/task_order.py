"""R-Storm, Algorithms 2 and 3: the orders of a topology's components and tasks.

Components (Algorithm 2): neighbours are those at the other end of a stream in either direction,
first those a component sends to, then those it receives from, each in the order of the streams
(`research_graph` has the research code's order). A cycle ends at what has been visited. A component
without tasks is passed through like any other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import chain

from slotwise.heuristics.one_by_one import one_of_each_in_turn
from slotwise.heuristics.rstorm.research_graph import research_graph
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.problem import Problem


def bfs_topology_traversal(topology: Topology) -> list[str]:
    """Return every component once, breadth first from the spouts.

    - Several spouts: one traversal after another, each from the first spout that no earlier one
      reached (the paper passes one ``root`` and says "starting from the spouts").
    - Components that no spout reaches, ackers among them, follow by further traversals in the
      order of the topology, so that every task is scheduled.
    """
    neighbours = _neighbours(topology)
    components = topology.placed_components
    roots = sorted(components, key=lambda component: component.kind != "spout")
    visited: dict[str, None] = {}
    for root in roots:
        if root.id not in visited:
            _traverse(root.id, neighbours, visited)
    return list(visited)


def from_first_spout(topology: Topology) -> list[str]:
    """Return the components that one traversal reaches, from one spout: the research code's way.

    Which spout, and the order of neighbours, are those of its hash maps (`research_graph`). Empty
    = there is no spout.
    """
    graph = research_graph(topology)
    visited: dict[str, None] = {}
    if graph.first_spout is not None:
        _traverse(graph.first_spout, graph.neighbours, visited)
    return list(visited)


def _traverse(root: str, neighbours: Mapping[str, list[str]], visited: dict[str, None]) -> None:
    queue = deque([root])
    visited[root] = None
    while queue:
        component = queue.popleft()
        for neighbour in neighbours[component]:
            if neighbour not in visited:
                queue.append(neighbour)
                visited[neighbour] = None


def _neighbours(topology: Topology) -> dict[str, list[str]]:
    receivers: dict[str, list[str]] = {c.id: [] for c in topology.placed_components}
    senders: dict[str, list[str]] = {c.id: [] for c in topology.placed_components}
    for stream in topology.streams:
        receivers[stream.source].append(stream.target)
        senders[stream.target].append(stream.source)
    return {component: receivers[component] + senders[component] for component in receivers}


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
