"""R-Storm, Algorithms 2 and 3: the orders of a topology's components and tasks.

Components (Algorithm 2): neighbours are those at the other end of a stream in either direction,
first those a component sends to, then those it receives from, each in the order of the streams
(`research_graph` has the research code's order). A cycle ends at what has been visited. A component
without tasks is passed through like any other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from slotwise.heuristics.one_by_one import one_of_each_in_turn
from slotwise.heuristics.ras.java.hash_map import java_7_order
from slotwise.heuristics.ras.java.iteration_order import string_hash
from slotwise.heuristics.ras.model import is_system
from slotwise.models.instance.topology import ACKER, Topology
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

    Which spout, and the order of neighbours, are those of its hash maps. Empty
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
    chosen = problem.instance.topologies[topology]
    reached = from_first_spout(chosen)
    if not reached:
        return []
    others = [c.id for c in chosen.placed_components if c.id not in reached]
    left_over = _tasks(problem, topology, others).values()
    return [
        *one_of_each_in_turn(_tasks(problem, topology, reached).values()),
        *chain.from_iterable(left_over),
    ]


def _tasks(problem: Problem, topology: int, components: list[str]) -> dict[str, list[int]]:
    """Return the tasks of each of `components`, lowest index first: so ``getTask`` takes them."""
    tasks: dict[str, list[int]] = {component: [] for component in components}
    for c in problem.rules[topology].classes:
        task_class = problem.classes[c]
        component = problem.components[task_class.component][1]
        if component in tasks:
            tasks[component].extend(task_class.tasks)
    return {component: sorted(found) for component, found in tasks.items()}


# The graph of components as R-Storm's research code has it, in the order of its hash maps.
#
# That code asks Nimbus for the topology and reads the maps that Thrift makes of the answer
# (``GetTopologyInfo``, and Storm 0.9.2 as in github.com/jerrypeng/storm-resource-aware). A
# component's children come in the order of the map of bolts, its parents in that of the map of
# its inputs, and the first spout is that of the map of both. The maps are Java 7's: so stand the
# supervisors in the authors' logs, and so follow the tasks there from each other, host by host
# (``tests/heuristics/rstorm/test_logs.py``). By the order of Java 8 or of the file neither does.
#
# Several topologies have one graph there, by mistake; here each has its own (`research_code`).
#
# Keys of one bucket follow from the order in which they were put in: that of the file, and then
# of each map on the way from the topology's builder to the scheduler.

T = TypeVar("T")

SYSTEM = "__system"
"""The bolt that Nimbus adds to every topology, with no tasks; it adds `ACKER` to every one, too."""


@dataclass(frozen=True, slots=True)
class ResearchGraph:
    """The user's components.

    Parameters
    ----------
    first_spout
        Where that code starts; ``None`` = there is no spout.
    neighbours
        Of each component: its children, then its parents.
    """

    first_spout: str | None
    neighbours: dict[str, list[str]]


def research_graph(topology: Topology) -> ResearchGraph:
    """Return the graph of `topology`; components of the system are not part of it."""
    users = [one for one in topology.components if not is_system(one)]
    spouts = _sent_from_nimbus(
        _stored([one.id for one in users if one.kind == "spout"], string_hash), string_hash
    )
    system = [one.id for one in topology.components if is_system(one)]
    stored = _stored([one.id for one in users if one.kind == "bolt"], string_hash)
    every_bolt = dict.fromkeys([*stored, ACKER, *system, SYSTEM])
    bolts = [name for name in _sent_from_nimbus(every_bolt, string_hash) if name in set(stored)]
    children: dict[str, list[str]] = {name: [] for name in (*spouts, *bolts)}
    parents: dict[str, list[str]] = {name: [] for name in children}
    components: dict[str, None] = {}
    for name in children:
        parents[name] = [source for source in _inputs(topology, name) if source in children]
        components.update(dict.fromkeys([name, *parents[name]]))
        for source in parents[name]:
            children[source].append(name)
    every = java_7_order(components, string_hash)
    return ResearchGraph(
        first_spout=next((name for name in every if name in set(spouts)), None),
        neighbours={name: children[name] + parents[name] for name in every},
    )


def _inputs(topology: Topology, component: str) -> list[str]:
    """Return who sends to `component`, in the order of its map of inputs."""
    sources = dict.fromkeys(one.source for one in topology.streams if one.target == component)
    return _sent_from_nimbus(_stored(sources, input_hash), input_hash)


def input_hash(source: str) -> int:
    """Return ``GlobalStreamId.hashCode`` of the default stream of `source`, not cut to 32 bits.

    Thrift's, by commons-lang's ``HashCodeBuilder``, which counts ``true`` as 0.
    """
    value = 17
    for part in (0, string_hash(source), 0, string_hash("default")):
        value = 37 * value + part
    return value


def _stored(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return `keys` as Nimbus reads them from its disk.

    Put into a map by the topology's builder and copied, sent, copied by Nimbus, written and read.
    """
    built = java_7_order(java_7_order(keys, hash_of), hash_of)
    copied = java_7_order(_thrift(built, hash_of), hash_of)
    return _thrift(copied, hash_of)


def _sent_from_nimbus(stored: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return the keys of the map that the scheduler has: copied by Nimbus, sent."""
    return _thrift(java_7_order(stored, hash_of), hash_of)


def _thrift(keys: list[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return `keys` of the map that Thrift reads them into, made for twice as many."""
    return java_7_order(keys, hash_of, 2 * len(keys))
