"""Logs of every shape through `slotwise measure`: experiment ``measure_shapes``.

The logs of a simulated cluster are measured by the command, each shape in a process of its own
with a store of its own, and every demand is held against what was simulated. ``even`` is what the
others are compared with: the same lines with one component that writes 90 % of them (``skewed``),
of 200 topologies with 10,000 components and 100,000 tasks (``wide``), in one file (``one-file``),
in thousands (``small-files``), compressed (``gzip``, ``zstd``), and of a month, whose last day
comes when the others are in the store (``month``, ``day``). CPU seconds are those of all threads
and processes; they tell more than seconds on a busy machine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from slotwise.benchmarks.experiments.measuring.round_trip_instances import without_weights
from slotwise.benchmarks.experiments.measuring.use import use_of
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import read_instance, write_instance
from slotwise.models.values import whole
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.simulate import simulate
from slotwise.pipeline.statistics.manifest import log_files

COLUMNS = {
    "shape": "<12", "master": "<24", "lines": ">10", "files": ">6", "MB": ">6", "seconds": ">8",
    "CPU s": ">8", "µs/line": ">8", "peak MB": ">8", "worst": ">9",
}  # fmt: skip
NODES, SLOTS = 40, 200
DAYS = 30
FAULTS = 0.001
NOISE = 0.02
WITHIN = 0.02
"""Largest relative difference of a demand from the truth, unless noise explains a larger one."""
DEVIATIONS = 5
"""Of noise, that the largest of thousands of differences may be."""
SMALL_LINES = 1_500
"""In a small file: 20,000 of them are a day of the logs of a large cluster."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured shape.

    Parameters
    ----------
    shape, master
        What was measured, and where.
    lines, files, mb
        How much there was to read.
    seconds, cpu_s, peak_mb
        What the command took, all its processes together.
    worst
        Largest relative difference of a demand from the truth.
    """

    shape: str
    master: str
    lines: int
    files: int
    mb: float
    seconds: float
    cpu_s: float
    peak_mb: float
    worst: float

    def cells(self) -> list[str]:
        """Return its row in the table."""
        numbers = f"{self.mb:.0f}", f"{self.seconds:.1f}", f"{self.cpu_s:.1f}"
        per_line = f"{1e6 * self.cpu_s / self.lines:.1f}"
        ends = per_line, f"{self.peak_mb:.0f}", f"{100 * self.worst:.3f} %"
        return [self.shape, self.master, f"{self.lines}", f"{self.files}", *numbers, *ends]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--shapes", default=",".join(SHAPES), help="in a list")
    parser.add_argument("--lines", type=float, default=1.0, help="millions, of each shape")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--master", action="append", help="repeatable; default: local[2]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Print a row for each shape and master.

    Raises
    ------
    SlotwiseError
        If a demand is wrong, or two masters measure different instances.
    """
    names = options.shapes.split(",")
    for name in names:
        if name not in SHAPES:
            raise InputError(f"must be of {', '.join(SHAPES)}", field="--shapes", value=name)
    lines = whole(int(options.lines * 1e6), "--lines", least=1000)
    table = Table(COLUMNS, options.json)
    for name in names:
        with TemporaryDirectory(prefix="slotwise-shapes-") as folder:
            measured: dict[str, bytes] = {}
            for master in options.master or ["local[2]"]:
                for row, instance in SHAPES[name](Path(folder), lines, options.seed, master):
                    table.add(asdict(row), row.cells())
                    if measured.setdefault(row.shape, instance) != instance:
                        raise SlotwiseError(f"{name}: {master} measures another instance")
    table.end({}, [])


Measured = Iterator[tuple[Row, bytes]]
"""Rows, each with the measured instance."""


def cluster_of(topologies: int, components: int, parallelism: Sequence[int]) -> Instance:
    """Return topologies that are a chain of components each, on a cluster with room for all."""
    names = [f"c{at:02}" for at in range(components)]
    parts = tuple(
        Component(
            name,
            "bolt" if at else "spout",
            parallelism[at],
            {"cpu": Decimal(20 + at % 10), "onheap_mb": Decimal(128)},
        )
        for at, name in enumerate(names)
    )
    streams = tuple(Stream(a, b) for a, b in itertools.pairwise(names))
    room = {"cpu": Decimal(10**6), "memory_mb": Decimal(10**8)}
    nodes = tuple(Node(f"n{at:02}", "r1", slots=SLOTS, resources=room) for at in range(NODES))
    copies = tuple(Topology(f"t{number:03}", parts, streams) for number in range(topologies))
    return Instance("shapes", Cluster(nodes), copies)


def placed_in_turn(instance: Instance) -> Placement:
    """Return the tasks on the nodes in turn, each topology into a worker of each node."""
    sizes = [sum(c.parallelism for c in one.components) for one in instance.topologies]
    workers = tuple(number for number, size in enumerate(sizes) for _ in range(size))
    return Placement(tuple(task % NODES for task in range(len(workers))), workers)


def settings_of(
    instance: Instance, lines: int, seed: int, folder: Path, files: int = 1
) -> LogSettings:
    """Return the settings of logs of as many lines, in one whole minute at least."""
    settings = LogSettings(lines=1, seed=seed, rate=100.0, noise=NOISE, files=files)
    truth = simulate(instance, placed_in_turn(instance), settings, folder / "minute")
    shutil.rmtree(folder / "minute")
    return replace(settings, lines=max(lines, sum(truth["lines"].values())), faults=FAULTS)


def _whole(
    name: str,
    folder: Path,
    instance: Instance,
    lines: int,
    seed: int,
    master: str,
    repack: Callable[[Path], None] = lambda _: None,
) -> tuple[Row, bytes]:
    """Simulate logs unless an earlier master has, and measure them all."""
    logs = folder / "logs"
    if not logs.is_dir():
        settings = settings_of(instance, lines, seed, folder)
        truth = simulate(instance, placed_in_turn(instance), settings, logs)
        (folder / "truth.json").write_text(json.dumps(truth))
        repack(logs)
    shutil.rmtree(folder / "store", ignore_errors=True)
    return _measure(name, folder, instance, master, _lines_written(folder))


def _measure(
    name: str, folder: Path, instance: Instance, master: str, lines: int
) -> tuple[Row, bytes]:
    """Measure what is in the folder of logs; `lines`: those that the store does not have yet."""
    given, out = folder / "given.json", folder / "measured.json"
    write_instance(given, without_weights(instance))
    words = ["measure", str(folder / "logs"), "--instance", str(given), "--out", str(out)]
    words += ["--store", str(folder / "store"), "--master", master, "--quiet"]
    used = use_of([sys.executable, "-m", "slotwise", *words])
    truth = json.loads((folder / "truth.json").read_text())
    files = [*log_files(folder / "logs")]
    row = Row(
        shape=name,
        master=master,
        lines=lines,
        files=len(files),
        mb=sum(one.size for _, one in files) / 1e6,
        seconds=used.seconds,
        cpu_s=used.cpu_s,
        peak_mb=used.peak_mb,
        worst=_worst(read_instance(out), truth),
    )
    return row, out.read_bytes()


def _worst(measured: Instance, truth: Mapping[str, Any]) -> float:
    """Return the largest relative difference of a demand from what was simulated.

    Raises
    ------
    SlotwiseError
        If it is more than `WITHIN` and what noise explains, or a component has no measured demand.
    """
    for topology in measured.topologies:
        for c in topology.components:
            if "cpu" not in c.resources:
                raise SlotwiseError(f"the cpu of {topology.id}/{c.id} was not measured")
    errors = [
        (abs(float(c.resources["cpu"]) / true - 1), f"{topology.id}/{c.id}")
        for topology in measured.topologies
        for c in topology.components
        for true in [truth["topologies"][topology.id]["components"][c.id]["cpu_points"]]
    ]
    worst, name = max(errors)
    if worst > max(WITHIN, DEVIATIONS * NOISE / math.sqrt(truth["buckets"])):
        raise SlotwiseError(f"the cpu of {name} is {100 * worst:.1f} % from what was simulated")
    return float(worst)


def _even(folder: Path, lines: int, seed: int, master: str) -> Measured:
    yield _whole("even", folder, cluster_of(1, 10, [10] * 10), lines, seed, master)


def _skewed(folder: Path, lines: int, seed: int, master: str) -> Measured:
    yield _whole("skewed", folder, cluster_of(1, 10, [90, *[1] * 8, 2]), lines, seed, master)


def _wide(folder: Path, lines: int, seed: int, master: str) -> Measured:
    yield _whole("wide", folder, cluster_of(200, 50, [10] * 50), lines, seed, master)


def _repacked(name: str, repack: Callable[[Path], None]) -> Callable[..., Measured]:
    """Return a shape: the even lines in other files."""

    def shape(folder: Path, lines: int, seed: int, master: str) -> Measured:
        instance = cluster_of(1, 10, [10] * 10)
        yield _whole(name, folder, instance, lines, seed, master, repack)

    return shape


def _small(logs: Path) -> None:
    for path, _ in [*log_files(logs)]:
        with Path(path).open("rb") as whole_file:
            for number in itertools.count():
                part = b"".join(itertools.islice(whole_file, SMALL_LINES))
                if not part:
                    break
                Path(path).with_name(f"{number}-{Path(path).name}").write_bytes(part)
        Path(path).unlink()


def _compressed(codec: str, ending: str) -> Callable[[Path], None]:
    def repack(logs: Path) -> None:
        for path, _ in [*log_files(logs)]:
            packed = f"{path}{ending}"
            with Path(path).open("rb") as plain, pa.output_stream(packed, codec) as out:
                shutil.copyfileobj(plain, out, 1 << 20)
            Path(path).unlink()

    return repack


def _month(folder: Path, lines: int, seed: int, master: str) -> Measured:
    """Yield a row of `DAYS` days, and one of the day after them, which comes alone."""
    instance = cluster_of(1, 10, [10] * 10)
    logs, newest = folder / "logs", folder / "newest"
    if not logs.is_dir():
        _write_days(instance, lines // DAYS, seed, folder)
    shutil.rmtree(folder / "store", ignore_errors=True)
    of_a_day = _lines_written(folder)
    yield _measure("month", folder, instance, master, DAYS * of_a_day)
    newest.rename(logs / "newest")
    yield _measure("day", folder, instance, master, of_a_day)
    (logs / "newest").rename(newest)


def _write_days(instance: Instance, lines: int, seed: int, folder: Path) -> None:
    """Simulate `DAYS` days, and one more in a folder of its own, `lines` in each."""
    least = settings_of(instance, 1, seed, folder)
    buckets = max(1, lines // least.lines)
    seconds = 86_400 // buckets
    for day in range(DAYS + 1):
        settings = replace(
            least,
            lines=buckets * least.lines,
            seed=seed + day,
            start=least.start + 86_400 * day,
            bucket_seconds=seconds,
            late_by=3 * seconds,
        )
        where = folder / "logs" / f"day-{day:02}" if day < DAYS else folder / "newest"
        truth = simulate(instance, placed_in_turn(instance), settings, where)
    (folder / "truth.json").write_text(json.dumps(truth))


def _lines_written(folder: Path) -> int:
    return sum(json.loads((folder / "truth.json").read_text())["lines"].values())


SHAPES: Mapping[str, Callable[[Path, int, int, str], Measured]] = {
    "even": _even,
    "skewed": _skewed,
    "wide": _wide,
    "one-file": _repacked("one-file", lambda _: None),
    "small-files": _repacked("small-files", _small),
    "gzip": _repacked("gzip", _compressed("gzip", ".gz")),
    "zstd": _repacked("zstd", _compressed("zstd", ".zst")),
    "month": _month,
}
