"""Lines a second, and memory, of `slotwise follow`: experiment ``follow_speed``.

The logs of a simulated cluster are in a topic of Apache Kafka before the stream begins; it reads
them to their end, batch by batch, and must have measured the instance of the batch job. Memory is
the peak in each fifth of the run: flat, whatever was read before.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from slotwise.benchmarks.experiments.measuring.broker import broker, connector
from slotwise.benchmarks.experiments.measuring.killed_setting import TOPIC
from slotwise.benchmarks.experiments.measuring.round_trip_instances import without_weights
from slotwise.benchmarks.experiments.measuring.shapes import (
    cluster_of,
    placed_in_turn,
    settings_of,
)
from slotwise.benchmarks.experiments.measuring.use import Use, use_of
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance_file import write_instance
from slotwise.models.values import whole
from slotwise.pipeline.simulated_logs.simulate import simulate
from slotwise.pipeline.statistics.manifest import log_files

PARTS = 5
LINES_PER_FILE = 500_000
COLUMNS = {
    "by": "<8", "lines": ">10", "seconds": ">8", "lines/s": ">8", "CPU s": ">8", "µs/line": ">8",
    "peak MB by fifths of the run": "<0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One run.

    Parameters
    ----------
    by
        ``follow``, or ``measure`` for the batch job.
    lines
        How many it read.
    seconds, cpu_s
        What it took, Spark's start included.
    peaks_mb
        Most memory of all its processes in each fifth of the run.
    """

    by: str
    lines: int
    seconds: float
    cpu_s: float
    peaks_mb: tuple[float, ...]

    def cells(self) -> list[str]:
        """Return its row in the table."""
        rate, per_line = self.lines / self.seconds, 1e6 * self.cpu_s / self.lines
        numbers = [f"{self.seconds:.1f}", f"{rate:.0f}", f"{self.cpu_s:.1f}", f"{per_line:.1f}"]
        return [self.by, f"{self.lines}", *numbers, " ".join(f"{mb:.0f}" for mb in self.peaks_mb)]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--lines", type=float, default=3.0, help="millions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Print a row for the stream and one for the batch job.

    Raises
    ------
    SlotwiseError
        If they measure different instances, or Kafka has not been fetched (``make kafka``).
    """
    lines = whole(int(options.lines * 1e6), "--lines", least=1000)
    table = Table(COLUMNS, options.json)
    with TemporaryDirectory(prefix="slotwise-follow-speed-") as name, broker(Path(name)) as kafka:
        folder = Path(name)
        instance, logs, given = cluster_of(1, 10, [10] * 10), folder / "logs", folder / "given.json"
        settings = settings_of(
            instance, lines, options.seed, folder, max(1, lines // LINES_PER_FILE)
        )
        truth = simulate(instance, placed_in_turn(instance), settings, logs)
        written = sum(truth["lines"].values())
        write_instance(given, without_weights(instance))
        for path, _ in log_files(logs):
            kafka.send(TOPIC, [(Path(path).as_uri(), Path(path))])

        def measured(command: str, source: str, *more: str) -> bytes:
            out = folder / f"{command}.json"
            words = [command, source, "--instance", str(given), "--out", str(out), "--quiet"]
            words += ["--master", options.master, *more]
            used = use_of([sys.executable, "-m", "slotwise", *words])
            row = Row(command, written, used.seconds, used.cpu_s, _peaks(used))
            table.add(asdict(row), row.cells())
            return out.read_bytes()

        jars = [word for jar in connector() for word in ("--jars", str(jar))]
        source = f"kafka://{kafka.address}/{TOPIC}"
        stream = ["--once", "--checkpoint", str(folder / "checkpoint"), "--time-limit", "1", *jars]
        followed = measured("follow", source, *stream)
        shutil.rmtree(folder / "checkpoint")
        if followed != measured("measure", str(logs)):
            raise SlotwiseError("the stream and the batch job measure different instances")
    table.end({}, [])


def _peaks(used: Use) -> tuple[float, ...]:
    looks = used.memory_mb
    ends = [len(looks) * part // PARTS for part in range(PARTS + 1)]
    return tuple(max(looks[a:b]) for a, b in itertools.pairwise(ends) if a < b)
