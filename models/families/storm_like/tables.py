"""What was measured of the decoded clusters, as packaged data, and draws from it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from numpy.random import Generator


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
    """All that is known of the two clusters.

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
