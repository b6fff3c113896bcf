"""The statistics of decoded clusters: experiment ``storm_like_tables FILE ...``.

Prints what ``models/families/data/storm_like.json`` holds. Topologies that are the same but for
their demands (a cluster often runs a topology three times) are counted once, the first of them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slotwise.benchmarks.experiments.table import say
from slotwise.models.errors import InputError, in_file
from slotwise.models.families.storm_like_statistics import (
    COMPONENT_STATISTICS,
    component_statistics,
    interpolated,
    joined,
    kind_of,
    topology_statistics,
    with_tasks,
)
from slotwise.models.formats.text import read_data
from slotwise.models.importers.storm_cluster import is_storm_cluster
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.topology import Topology
from slotwise.models.instance_file import instance_from_data

LARGE = 50
"""Least tasks of the topologies under ``large``."""

QUANTILES = 41
"""Number of quantiles, ends included, that stand for what is measured of components."""


def distinct(topologies: Iterable[Topology]) -> list[Topology]:
    """Return the topologies with tasks, one of each parallelism and structure."""
    first: dict[object, Topology] = {}
    for topology in topologies:
        degrees = dict(joined(topology).degree)
        shape = sorted((part.parallelism, degrees[part.id]) for part in with_tasks(topology))
        if shape:
            first.setdefault(tuple(shape), topology)
    return list(first.values())


def values(topologies: Sequence[Topology]) -> dict[str, list[float]]:
    """Return each statistic's sorted values, or quantiles over the components."""
    by_statistic: dict[str, list[float]] = defaultdict(list)
    for topology in topologies:
        for name, value in topology_statistics(topology).items():
            by_statistic[name].append(value)
        for name, numbers in component_statistics(topology).items():
            by_statistic[name] += numbers
    return {
        name: _quantiles(numbers) if name in COMPONENT_STATISTICS else sorted(numbers)
        for name, numbers in by_statistic.items()
        if numbers
    }


def _quantiles(values: Sequence[float]) -> list[float]:
    ordered = tuple(sorted(values))
    if len(ordered) <= QUANTILES:
        return list(ordered)
    return [interpolated(ordered, index / (QUANTILES - 1)) for index in range(QUANTILES)]


def kinds(topologies: Sequence[Topology]) -> dict[str, Any]:
    """Return the statistics of each kind of topologies."""
    groups: dict[str, list[Topology]] = defaultdict(list)
    for topology in topologies:
        groups[kind_of(topology)].append(topology)
    return {
        name: {
            "topologies": len(group),
            "one_component_per_worker": sum(t.one_component_per_worker for t in group) / len(group),
            "values": values(group),
        }
        for name, group in sorted(groups.items())
    }


def cluster_tables(clusters: Sequence[Cluster]) -> dict[str, Any]:
    """Return the kinds of racks, and the least and most racks and nodes in a rack."""
    racks: Counter[tuple[int, int, tuple[int, ...]]] = Counter()
    sizes: list[int] = []
    for cluster in clusters:
        for rack in cluster.racks:
            nodes = [node for node in cluster.nodes if node.rack == rack]
            sizes.append(len(nodes))
            cpus = tuple(sorted({int(node.resources["cpu"] or 0) for node in nodes}))
            racks[nodes[0].slots or 0, int(nodes[0].resources["memory_mb"] or 0), cpus] += 1
    counts = [len(cluster.racks) for cluster in clusters]
    return {
        "racks": [min(counts), max(counts)],
        "nodes_per_rack": [min(sizes), max(sizes)],
        "nodes": [
            {"racks": count, "slots": slots, "memory_mb": memory, "cpu": list(cpu)}
            for (slots, memory, cpu), count in sorted(racks.items())
        ],
    }


def read(path: Path) -> tuple[Cluster, tuple[Topology, ...]]:
    """Return the nodes and topologies of a decoded cluster.

    Raises
    ------
    InputError
        Where the file is none.
    """
    data, file = read_data(path)
    with in_file(file):
        if not isinstance(data, dict) or not is_storm_cluster(data):
            raise InputError("must be a decoded Storm cluster", has_value=False)
        instance = instance_from_data(data)
    return instance.cluster, instance.topologies


def data_of(files: Sequence[Path]) -> Mapping[str, Any]:
    """Return what the family's data file holds, numbers to four decimals."""
    contents = [read(path) for path in files]
    topologies = distinct(one for _, several in contents for one in several)
    large = [one for one in topologies if topology_statistics(one)["tasks"] >= LARGE]
    data: Mapping[str, Any] = _rounded(
        {
            "source": f"{len(topologies)} distinct topologies of {len(files)} decoded Storm "
            "clusters; made by `python -m slotwise.benchmarks.experiments storm_like_tables`",
            "cluster": cluster_tables([cluster for cluster, _ in contents]),
            "all": values(topologies),
            "large": values(large),
            "kinds": kinds(topologies),
        }
    )
    return data


def _rounded(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _rounded(one) for name, one in data.items()}
    if isinstance(data, list):
        return [_rounded(one) for one in data]
    if isinstance(data, float):
        return int(data) if data.is_integer() else round(data, 4)
    return data


def _text(data: Mapping[str, Any]) -> str:
    """Return JSON with one statistic a line."""
    lines = json.dumps(data, indent=1).splitlines()
    texts, inside = [], False
    for line in lines:
        texts.append(f" {line.strip()}" if inside else f"\n{line}")
        inside = line.rstrip().endswith("[") or (inside and not line.strip().startswith("]"))
    return "".join(texts).lstrip("\n")


def run(options: argparse.Namespace) -> None:
    """Measure the files and print the data."""
    say(_text(data_of(options.clusters)))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("clusters", type=Path, nargs="+", metavar="CLUSTER.json")
