"""How many tuples flow along each stream of a topology in a second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx

from slotwise.models.errors import InputError
from slotwise.models.instance.topology import Stream, Topology

MOST_TUPLES = 1e12
"""Tuples per second of a stream: more are a mistake, and sums would leave 64 bits."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A stream between components that both have tasks.

    Parameters
    ----------
    source, target, grouping
        As in the topology.
    stream
        Storm's name of the stream: a component emits once for all flows of one name.
    rate
        Tuples per second that the tasks of `source` emit together.
    bytes
        Size of a tuple.
    """

    source: str
    target: str
    grouping: str
    stream: str
    rate: float
    bytes: float


def flows(topology: Topology, rate: float, tuple_bytes: float) -> tuple[Flow, ...]:
    """Return the flows of a topology, in the order of its streams.

    A stream without a rate carries as many tuples as its component takes in; that is `rate` for
    components without input, and for streams within a cycle, of which the intake is not a function.
    """
    tasks = {one.id: one.parallelism for one in topology.placed_components}
    streams = [one for one in topology.streams if tasks[one.source] and tasks[one.target]]
    rates = _rates(streams, tasks, rate)
    for stream, rate in zip(streams, rates, strict=True):
        if rate > MOST_TUPLES:
            rule = "carries more than 10^12 tuples per second; state rates, or lower `rate`"
            raise InputError(rule, field="rate", value=f"{stream.source} -> {stream.target}")
    return tuple(
        Flow(one.source, one.target, one.grouping, label, rate, _size(one, tuple_bytes))
        for one, rate, label in zip(streams, rates, _labels(streams, rates), strict=True)
    )


def intake(flows: Iterable[Flow], tasks: dict[str, int], component: str) -> float:
    """Return the tuples per second that the tasks of a component take in together."""
    incoming = (one for one in flows if one.target == component)
    return sum(one.rate * (tasks[component] if one.grouping == "all" else 1) for one in incoming)


def _size(stream: Stream, tuple_bytes: float) -> float:
    return tuple_bytes if stream.tuple_bytes is None else float(stream.tuple_bytes)


def _rates(streams: list[Stream], tasks: dict[str, int], rate: float) -> list[float]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(tasks)
    graph.add_edges_from((one.source, one.target) for one in streams)
    parts = nx.condensation(graph)
    part_of: dict[str, int] = parts.graph["mapping"]
    known: dict[int, float] = {
        index: float(one.rate) for index, one in enumerate(streams) if one.rate is not None
    }
    for part in nx.topological_sort(parts):
        for index, one in enumerate(streams):
            if part_of[one.source] == part == part_of[one.target]:
                known.setdefault(index, rate)
        for index, one in enumerate(streams):
            if part_of[one.source] == part and index not in known:
                taken = [i for i, other in enumerate(streams) if other.target == one.source]
                copies = {
                    i: tasks[one.source] if streams[i].grouping == "all" else 1 for i in taken
                }
                known[index] = sum(known[i] * copies[i] for i in taken) if taken else rate
    return [known[index] for index in range(len(streams))]


def _labels(streams: list[Stream], rates: list[float]) -> list[str]:
    """Name the streams: one name for equal rates, no name twice between the same components."""
    groups: dict[str, list[tuple[float, set[str]]]] = {}
    labels = []
    for stream, rate in zip(streams, rates, strict=True):
        group = groups.setdefault(stream.source, [])
        fitting = (
            i for i, (its, to) in enumerate(group) if its == rate and stream.target not in to
        )
        index = next(fitting, len(group))
        if index == len(group):
            group.append((rate, set()))
        group[index][1].add(stream.target)
        labels.append("default" if index == 0 else f"stream{index + 1}")
    return labels
