"""How well ``storm-like`` fits its clusters: experiment ``storm_like_fit``.

For each statistic the quantiles in the clusters and in the draw, and the two-sample distance
(Kolmogorov-Smirnov: the largest difference of the two distribution functions) beside the distance
that 1 in 20 pairs of samples of the same distribution exceeds. ``all`` are topologies of any size;
``large`` those of 50 to 5,000 tasks on a cluster that holds them: the family itself.
"""

from __future__ import annotations

import argparse
import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from slotwise.benchmarks.experiments.table import Table
from slotwise.models.families.storm_like_family import STORM_LIKE, draw_topology, rng_of
from slotwise.models.families.storm_like_statistics import (
    COMPONENT_STATISTICS,
    TOPOLOGY_STATISTICS,
    component_statistics,
    interpolated,
    kind_of,
    tables,
    topology_statistics,
)
from slotwise.models.instance.topology import Topology
from slotwise.models.values import whole

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the quantiles that are printed."""

COLUMNS = {
    "of": "<6", "statistic": "<18", "clusters: least, 25, 50, 75 %, most": ">40",
    "drawn": ">40", "distance": ">9", "5 %": ">6",
}  # fmt: skip

_FIVE_PERCENT = math.sqrt(-math.log(0.05 / 2) / 2)


@dataclass(frozen=True, slots=True)
class Fit:
    """One statistic in the clusters and in the draw.

    Parameters
    ----------
    of
        ``all`` or ``large``.
    statistic
        A name of `TOPOLOGY_STATISTICS` or `COMPONENT_STATISTICS`.
    clusters, drawn
        Quantiles at `SHARES`.
    distance
        Kolmogorov-Smirnov, 0 to 1. Where the clusters are known by quantiles only (components),
        these stand for them.
    five_percent
        What the distance of two samples of one distribution exceeds in 1 of 20 cases, about;
        ``None`` for components, which are not independent samples.
    """

    of: str
    statistic: str
    clusters: tuple[float, ...]
    drawn: tuple[float, ...]
    distance: float
    five_percent: float | None


def distance(sample: Sequence[float], reference: Sequence[float]) -> float:
    """Return the largest difference of the distribution functions of two samples."""
    first, second = sorted(sample), sorted(reference)
    return max(
        abs(bisect_right(first, at) / len(first) - bisect_right(second, at) / len(second))
        for at in {*first, *second}
    )


def fits(
    source: str, cluster_values: Mapping[str, tuple[float, ...]], topologies: Iterable[Topology]
) -> list[Fit]:
    """Return the fit of each statistic that both have."""
    drawn: dict[str, list[float]] = defaultdict(list)
    for topology in topologies:
        for name, value in topology_statistics(topology).items():
            drawn[name].append(value)
        for name, values in component_statistics(topology).items():
            drawn[name] += values
    return [
        _fit(source, name, cluster_values[name], tuple(sorted(drawn[name])))
        for name in (*TOPOLOGY_STATISTICS, *COMPONENT_STATISTICS)
        if name in cluster_values and drawn[name]
    ]


def _fit(
    source: str, name: str, cluster_values: tuple[float, ...], drawn: tuple[float, ...]
) -> Fit:
    limit = None
    if name in TOPOLOGY_STATISTICS:
        limit = _FIVE_PERCENT * math.sqrt(1 / len(cluster_values) + 1 / len(drawn))
    return Fit(
        source,
        name,
        _quantiles(cluster_values),
        _quantiles(drawn),
        distance(cluster_values, drawn),
        limit,
    )


def _quantiles(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(interpolated(values, at) for at in SHARES)


def run(options: argparse.Namespace) -> None:
    """Draw, measure and print."""
    whole(options.count, "--count", least=1)
    count, seed = options.count, options.seed
    every = [draw_topology(rng_of(index, seed, held_out=False)) for index in range(count)]
    large = [made.topologies[0] for made in STORM_LIKE.generate(count, seed)]
    table = Table(COLUMNS, options.json)
    results = [*fits("all", tables().all, every), *fits("large", tables().large, large)]
    for result in results:
        table.add(asdict(result), _cells(result))
    beyond = [f"{f.of} {f.statistic}" for f in results if f.distance > (f.five_percent or 1)]
    kinds = {"all": Counter(map(kind_of, every)), "large": Counter(map(kind_of, large))}
    summary = {"topologies": count, "kinds": kinds, "beyond_five_percent": beyond}
    lines = [
        f"{of}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(several.items()))
        for of, several in kinds.items()
    ]
    table.end(summary, [*lines, f"Beyond 5 %: {', '.join(beyond) or 'none'}."])


def _cells(fit: Fit) -> tuple[str, ...]:
    limit = "-" if fit.five_percent is None else f"{fit.five_percent:.2f}"
    quantiles = ("  ".join(f"{at:.4g}" for at in side) for side in (fit.clusters, fit.drawn))
    return (fit.of, fit.statistic, *quantiles, f"{fit.distance:.2f}", limit)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--count", type=int, default=300, help="topologies drawn of each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
