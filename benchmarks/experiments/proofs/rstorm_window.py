"""Why R-Storm gains: bandwidth alone, delays alone, or both: experiment ``rstorm_window``.

The throughput of R-Storm's placement over that of round robin, on each topology of the article's
authors. Four models: open, limited by the busiest network interface; closed by windows with the
calibrated bytes; the same without delays; and with delays, but no time for transmission.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from slotwise.benchmarks.experiments.table import Table
from slotwise.benchmarks.reproduction.placements import Tried, placed
from slotwise.benchmarks.reproduction.r_storm import (
    METHODS,
    TOPOLOGIES,
    Setting,
    calibrated,
    instance,
    without_windows,
)
from slotwise.models.instance.cluster import LevelTimes
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.prediction.prediction import predict
from slotwise.models.values import whole

NOTHING = Decimal(0)
WIDE_MBIT_S = Decimal(10**6)
"""Of an uplink that limits nothing."""


def _bandwidth(closed: Instance, placement: Placement) -> float:
    """Return the highest multiple of the rates that network interfaces alone allow."""
    instance = without_windows(closed)
    topologies = tuple(
        replace(
            topology, components=tuple(replace(c, service_ms=NOTHING) for c in topology.components)
        )
        for topology in instance.topologies
    )
    wide = dict.fromkeys(instance.cluster.uplink_mbit_s, WIDE_MBIT_S)
    cluster = replace(instance.cluster, uplink_mbit_s=wide)
    prediction = predict(replace(instance, cluster=cluster, topologies=topologies), placement)
    assert prediction.sustainable is not None
    return float(prediction.sustainable.multiple)


def _closed(closed: Instance, placement: Placement) -> float:
    return sum(Tried(closed).predicted(placement).rates.values())


def _no_delays(closed: Instance, placement: Placement) -> float:
    none = LevelTimes(NOTHING, NOTHING, NOTHING, NOTHING)
    return _closed(replace(closed, cluster=replace(closed.cluster, delay_ms=none)), placement)


def _no_transmission(closed: Instance, placement: Placement) -> float:
    topologies = tuple(
        replace(topology, streams=tuple(replace(s, tuple_bytes=NOTHING) for s in topology.streams))
        for topology in closed.topologies
    )
    return _closed(replace(closed, topologies=topologies), placement)


MODELS: Mapping[str, Callable[[Instance, Placement], float]] = {
    "bandwidth alone": _bandwidth,
    "window": _closed,
    "without delays": _no_delays,
    "without transmission": _no_transmission,
}
"""What limits the throughput -> its measure, larger is better."""


def ratios(
    topology: str, window: int | None = None, tuple_bytes: Decimal | None = None
) -> Mapping[str, float]:
    """Return R-Storm's throughput over that of round robin, by each model; see `instance`."""
    closed = instance(Setting((topology,)), tuple_bytes, window)
    base, ours = (placed(closed, method) for method in METHODS)
    return {name: model(closed, ours) / model(closed, base) for name, model in MODELS.items()}


def run(options: argparse.Namespace) -> None:
    """Print a row for each topology, with the bytes that Linear's figure gives for the window."""
    window = whole(options.window, "--window", least=1)
    tuple_bytes = calibrated(window)
    table = Table({"topology": "<12", **dict.fromkeys(MODELS, ">21")}, options.json)
    for topology in TOPOLOGIES:
        row = ratios(topology, window, Decimal(tuple_bytes))
        table.add({"topology": topology, **row}, _cells(topology, row))
    table.end({"tuple_bytes": tuple_bytes}, (f"bytes of a tuple, calibrated: {tuple_bytes}",))


def _cells(topology: str, row: Mapping[str, float]) -> Iterator[str]:
    yield topology
    yield from (f"{ratio:.2f}" for ratio in row.values())


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--window", type=int, default=1, help="tuples of a spout task in flight")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
