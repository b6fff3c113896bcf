"""The statistics of a topology that the random topologies follow."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import median
from typing import Any

import networkx as nx
from numpy.random import Generator

from slotwise.models.instance.topology import Component, Topology

KINDS = ("row", "pairs", "star", "web", "coordinated")
"""Shapes of topologies; see `kind_of`."""

SMALL = 10
"""A connected topology that is not a row is a star below this number of components, else a web."""

COORDINATED_COMPONENTS = 7
"""A topology of at least this many components, half of them single tasks, is coordinated."""

TOPOLOGY_STATISTICS = {
    "tasks": "tasks",
    "components": "components with tasks",
    "parts": "disconnected parts",
    "extra_edges": "joined pairs of components beyond a forest, per component",
    "hub": "neighbours of the best connected component, as a share of the others",
    "hubs": "components with at least 3 neighbours and half as many as the best connected one",
    "leaves": "share of components with at most one neighbour",
    "singles": "share of components of one task",
    "level": "median tasks of the components with several",
    "repeats": "share of joined pairs of such components with equally many tasks",
    "cpu_level": "median cpu of a task, points",
    "cpu_kinds": "different cpu demands per component",
    "memory_level": "median memory of a task, MB",
    "memory_kinds": "different memory demands per component",
    "types": "different (tasks, cpu, memory) per component",
    "idle": "share of components that need neither cpu nor memory",
    "offheap": "share of components with off-heap memory",
    "correlation": "rank correlation of cpu and memory over the components",
    "heap": "heap of a worker over the largest on-heap memory of a task",
}
"""Statistics of a topology with their definitions; undefined ones are left out."""

COMPONENT_STATISTICS = {
    "parallelism": "tasks of a component",
    "degree": "neighbours of a component",
    "cpu": "cpu of a task, points",
    "memory": "memory of a task, MB",
    "parallelism_ratio": "log2 of tasks over the level, components of several tasks",
    "cpu_ratio": "log2 of cpu over the level",
    "memory_ratio": "log2 of memory over the level",
    "offheap_mb": "off-heap memory of a task, MB, where there is any",
}
"""Statistics of a component with their definitions."""


def with_tasks(topology: Topology) -> list[Component]:
    """Return the components that have tasks."""
    return [one for one in topology.components if one.parallelism]


def joined(topology: Topology) -> nx.Graph[str]:
    """Return the components with tasks, joined where streams run in either direction."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(one.id for one in with_tasks(topology))
    graph.add_edges_from(
        (one.source, one.target)
        for one in topology.streams
        if one.source in graph and one.target in graph and one.source != one.target
    )
    return graph


def kind_of(topology: Topology) -> str:
    """Return which of `KINDS` a topology with tasks is.

    ``coordinated``: many components, half of them single tasks. ``row``: one component after the
    other. ``pairs``: rows without a connection. ``star`` and ``web``: all others, small and large.
    """
    components, graph = with_tasks(topology), joined(topology)
    singles = sum(one.parallelism == 1 for one in components)
    if len(components) >= COORDINATED_COMPONENTS and 2 * singles >= len(components):
        return "coordinated"
    if max((degree for _, degree in graph.degree), default=0) <= 2 and nx.is_forest(graph):
        return "row" if nx.is_connected(graph) else "pairs"
    return "star" if len(components) < SMALL else "web"


def topology_statistics(topology: Topology) -> dict[str, float]:
    """Return `TOPOLOGY_STATISTICS` of a topology with tasks, as far as it has them."""
    components = with_tasks(topology)
    several = [one.parallelism for one in components if one.parallelism > 1]
    heap = topology.worker_max_heap_mb
    largest = max(onheap(one) for one in components)
    statistics: dict[str, float | None] = {
        "tasks": sum(one.parallelism for one in components),
        "singles": 1 - len(several) / len(components),
        "level": median(several) if several else None,
        "heap": float(heap) / largest if heap is not None and largest else None,
        **_of_graph(topology),
        **_of_demands(components),
    }
    return {
        name: float(statistics[name] or 0)
        for name in TOPOLOGY_STATISTICS
        if statistics[name] is not None
    }


def component_statistics(topology: Topology) -> dict[str, list[float]]:
    """Return `COMPONENT_STATISTICS` of the components with tasks, a list each."""
    components = with_tasks(topology)
    parallelism = [float(one.parallelism) for one in components]
    cpus, memories = [cpu(one) for one in components], [memory(one) for one in components]
    return {
        "parallelism": parallelism,
        "degree": [float(degree) for _, degree in joined(topology).degree],
        "cpu": cpus,
        "memory": memories,
        "parallelism_ratio": ratios([one for one in parallelism if one > 1]),
        "cpu_ratio": ratios([one for one in cpus if one]),
        "memory_ratio": ratios([one for one in memories if one]),
        "offheap_mb": [offheap(one) for one in components if offheap(one)],
    }


def ratios(values: Sequence[float]) -> list[float]:
    """Return log2 of each positive value over their median."""
    return [math.log2(one / median(values)) for one in values]


def cpu(component: Component) -> float:
    """Return the cpu of a task, points."""
    return float(component.resources.get("cpu", 0))


def onheap(component: Component) -> float:
    """Return the on-heap memory of a task, MB."""
    return float(component.resources.get("onheap_mb", 0))


def offheap(component: Component) -> float:
    """Return the off-heap memory of a task, MB."""
    return float(component.resources.get("offheap_mb", 0))


def memory(component: Component) -> float:
    """Return the memory of a task, on-heap and off-heap, MB."""
    return onheap(component) + offheap(component)


def _of_graph(topology: Topology) -> dict[str, float | None]:
    graph = joined(topology)
    tasks = {one.id: one.parallelism for one in topology.components}
    degrees = [degree for _, degree in graph.degree]
    parts = nx.number_connected_components(graph)
    count, best = len(degrees), max(degrees)
    alike = [tasks[a] == tasks[b] for a, b in graph.edges if min(tasks[a], tasks[b]) > 1]
    return {
        "components": count,
        "parts": parts,
        "extra_edges": (graph.number_of_edges() - (count - parts)) / count,
        "hub": best / (count - 1) if count > 1 else None,
        "hubs": sum(2 * degree >= max(best, 6) for degree in degrees),
        "leaves": sum(degree <= 1 for degree in degrees) / count,
        "repeats": sum(alike) / len(alike) if alike else None,
    }


def _of_demands(components: Sequence[Component]) -> dict[str, float | None]:
    busy = [one for one in components if cpu(one) or memory(one)]
    cpus, memories = [cpu(one) for one in busy], [memory(one) for one in busy]
    return {
        "cpu_level": median(one for one in cpus if one) if any(cpus) else None,
        "cpu_kinds": len(set(cpus)) / len(components),
        "memory_level": median(one for one in memories if one) if any(memories) else None,
        "memory_kinds": len(set(memories)) / len(components),
        "types": len({(one.parallelism, cpu(one), memory(one)) for one in components})
        / len(components),
        "idle": 1 - len(busy) / len(components),
        "offheap": sum(offheap(one) > 0 for one in components) / len(components),
        "correlation": _rank_correlation(cpus, memories),
    }


def _rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return Spearman's coefficient, ties at their mean rank; ``None`` = a side is constant."""
    if min(len(set(one)), len(set(other))) < 2:
        return None
    first, second = _centred_ranks(one), _centred_ranks(other)
    product = sum(a * b for a, b in zip(first, second, strict=True))
    return product / math.sqrt(sum(a * a for a in first) * sum(b * b for b in second))


def _centred_ranks(values: Sequence[float]) -> list[float]:
    """Return how many values are below each less how many are above it."""
    counts = Counter(values)
    return [
        float(sum(n * ((other < one) - (other > one)) for other, n in counts.items()))
        for one in values
    ]


# What was measured of the decoded clusters, as packaged data, and draws from it.


@dataclass(frozen=True, slots=True)
class Kind:
    """A shape of topologies.

    Parameters
    ----------
    topologies
        How many distinct ones there are in the data: the weight of this kind.
    one_component_per_worker
        Share of them with this rule.
    values
        Statistic -> its values over these topologies, or quantiles over their components, sorted.
    """

    topologies: int
    one_component_per_worker: float
    values: dict[str, tuple[float, ...]]

    def draw(self, statistic: str, rng: Generator) -> float:
        """Return a value of the same distribution, interpolated between the measured ones."""
        return interpolated(self.values[statistic], float(rng.random()))

    def draw_size(self, statistic: str, rng: Generator) -> float:
        """Return such a value of a positive statistic, interpolated by its logarithm."""
        logs = tuple(math.log(one) for one in self.values[statistic])
        return math.exp(interpolated(logs, float(rng.random())))


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes of a rack: `racks` of them in the data, one cpu capacity after the other."""

    racks: int
    slots: int
    memory_mb: int
    cpu: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """The measured statistics of the two clusters.

    Parameters
    ----------
    kinds
        By name, one for each of `statistics.KINDS` that the data has.
    all, large
        Statistic -> sorted values over all distinct topologies and over those of 50 tasks or more
        (quantiles for what is measured of components); the fit is measured against these.
    nodes
        Kinds of racks.
    nodes_per_rack, racks
        Least and most.
    """

    kinds: dict[str, Kind]
    all: dict[str, tuple[float, ...]]
    large: dict[str, tuple[float, ...]]
    nodes: tuple[NodeKind, ...]
    nodes_per_rack: tuple[int, int]
    racks: tuple[int, int]


@cache
def tables() -> Tables:
    """Return the packaged statistics."""
    data = json.loads((files("slotwise.models.families") / "data" / "storm_like.json").read_text())
    cluster = data["cluster"]
    return Tables(
        kinds={
            name: Kind(one["topologies"], one["one_component_per_worker"], _sorted(one["values"]))
            for name, one in data["kinds"].items()
        },
        all=_sorted(data["all"]),
        large=_sorted(data["large"]),
        nodes=tuple(
            NodeKind(one["racks"], one["slots"], one["memory_mb"], tuple(one["cpu"]))
            for one in cluster["nodes"]
        ),
        nodes_per_rack=(cluster["nodes_per_rack"][0], cluster["nodes_per_rack"][1]),
        racks=(cluster["racks"][0], cluster["racks"][1]),
    )


def interpolated(values: tuple[float, ...], share: float) -> float:
    """Return the quantile of sorted values at `share` of 1, linear between neighbours."""
    place = share * (len(values) - 1)
    low = min(int(place), max(len(values) - 2, 0))
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def _sorted(data: Any) -> dict[str, tuple[float, ...]]:
    return {name: tuple(sorted(map(float, values))) for name, values in data.items()}
