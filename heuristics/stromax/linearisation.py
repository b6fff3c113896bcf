"""The stream of tasks: topological linearisation (section 3.2; Algorithm 1, lines 1 to 14).

How the gaps are read:

- *The first element is a random spout task*: drawn among the tasks of spouts without incoming
  streams; where no spout is without, among all tasks without.
- *Any order* of the others: the set S of line 2 is a queue (first in, first out) that begins with
  the other tasks without incoming streams in the order of the instance; a component enters it,
  task by task, once the last task before it has been taken.
- *Error: the graph is not DAG* (line 13): `Cycle`. Streams from a component to itself never count
  in slotwise, so they are not a cycle.
- *Condensed* (ours, not the article's): the components of a cycle are one vertex of the graph
  that is sorted; they enter the queue together, in the order of the instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import networkx as nx
from numpy.random import Generator

from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Cycle:
    """Components of one topology that lie on a cycle."""

    topology: str
    components: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why the topology is not placed."""
        return f"the graph is not a DAG: {', '.join(self.components)} are on a cycle"


def linearise(
    problem: Problem, topologies: Iterable[int], rng: Generator, *, condense: bool = False
) -> list[int] | Cycle:
    """Return the tasks of `topologies`, each after all whose tuples it consumes.

    Parameters
    ----------
    rng
        Draws the first task.
    condense
        Whether cycles are condensed; else they are refused.
    """
    graph = _component_graph(problem, topologies)
    parts = [sorted(part) for part in nx.strongly_connected_components(graph)]
    for part in parts:
        if len(part) > 1 and not condense:
            topology, _ = problem.components[part[0]]
            ids = tuple(problem.components[c][1] for c in part)
            return Cycle(problem.instance.topologies[topology].id, ids)
    return _queue_order(problem, graph, sorted(parts), rng)


def _component_graph(problem: Problem, topologies: Iterable[int]) -> nx.DiGraph[int]:
    number = {key: c for c, key in enumerate(problem.components)}
    graph: nx.DiGraph[int] = nx.DiGraph()
    for t in topologies:
        topology = problem.instance.topologies[t]
        graph.add_nodes_from(number[t, one.id] for one in topology.placed_components)
        graph.add_edges_from(
            (number[t, s.source], number[t, s.target])
            for s in topology.streams
            if s.source != s.target
        )
    return graph


def _queue_order(
    problem: Problem, graph: nx.DiGraph[int], parts: Sequence[list[int]], rng: Generator
) -> list[int]:
    """Return the order of a queue; `parts` are sets of components that enter it together."""
    tasks = _tasks_of_components(problem)
    part_of = {c: p for p, part in enumerate(parts) for c in part}
    after: list[dict[int, None]] = [{} for _ in parts]
    for source, target in graph.edges:
        if part_of[source] != part_of[target]:
            after[part_of[source]][part_of[target]] = None
    waits = [0] * len(parts)
    for targets in after:
        for p in targets:
            waits[p] += 1
    members = [[task for c in part for task in tasks[c]] for part in parts]
    left = [len(own) for own in members]
    sources = [p for p, count in enumerate(waits) if not count]
    queue = [task for p in sources for task in members[p]]
    _draw_first(problem, [c for p in sources for c in parts[p]], tasks, queue, rng)
    owner = {task: p for p, own in enumerate(members) for task in own}

    def release(p: int) -> None:
        for target in after[p]:
            waits[target] -= 1
            if not waits[target]:
                queue.extend(members[target])
                if not members[target]:
                    release(target)

    for p in sources:
        if not members[p]:
            release(p)
    for task in queue:  # grows while it is read
        left[owner[task]] -= 1
        if not left[owner[task]]:
            release(owner[task])
    return queue


def _draw_first(
    problem: Problem, sources: list[int], tasks: list[list[int]], queue: list[int], rng: Generator
) -> None:
    """Move a random spout task to the front of `queue`, or any task where there is none."""
    kinds = {
        (t, one.id): one.kind
        for t, topology in enumerate(problem.instance.topologies)
        for one in topology.placed_components
    }
    spouts = [c for c in sources if kinds[problem.components[c]] == "spout"]
    choice = [task for c in spouts for task in tasks[c]] or list(queue)
    if choice:
        first = choice[int(rng.integers(len(choice)))]
        queue.remove(first)
        queue.insert(0, first)


def _tasks_of_components(problem: Problem) -> list[list[int]]:
    tasks: list[list[int]] = [[] for _ in problem.components]
    for one in problem.classes:
        tasks[one.component].extend(one.tasks)
    return [sorted(own) for own in tasks]
