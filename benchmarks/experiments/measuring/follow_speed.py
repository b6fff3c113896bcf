"""Lines a second, and memory, of `slotwise follow`: experiment ``follow_speed``.

The logs of a simulated cluster are in a topic of Apache Kafka, in the order of time, before the
stream begins; it reads them to their end, batch by batch, and must have measured the instance of
the batch job. Memory is the peak in each fifth of the run: flat, whatever was read before. With
``--rate`` the lines are sent while it runs, and the lag is how many are due and not yet in its
tables: at a rate that it sustains, it does not grow.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from slotwise.benchmarks.experiments.measuring.broker import broker, connector, records_of
from slotwise.benchmarks.experiments.measuring.killed_setting import TOPIC
from slotwise.benchmarks.experiments.measuring.round_trip_instances import without_weights
from slotwise.benchmarks.experiments.measuring.shapes import (
    cluster_of,
    placed_in_turn,
    settings_of,
)
from slotwise.benchmarks.experiments.measuring.use import use_of
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance_file import read_instance, write_instance
from slotwise.models.values import whole
from slotwise.pipeline.simulated_logs.simulate import simulate
from slotwise.pipeline.statistics.manifest import log_files
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.run import read_tables
from slotwise.pipeline.statistics.weights.logs import Settings, reading_of

PARTS = 5
LINES_PER_FILE = 500_000
ROUNDS = 1000
"""A share of each file is sent in each of them: the lines are then about in the order of time."""
COLUMNS = {
    "by": "<8", "lines": ">10", "seconds": ">8", "lines/s": ">8", "CPU s": ">8", "µs/line": ">8",
    "peak MB by fifths of the run": "<32", "lag by fifths": "<0",
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
    lags
        Most lines that were due and not yet in the tables in each fifth; none without a rate.
    """

    by: str
    lines: int
    seconds: float
    cpu_s: float
    peaks_mb: tuple[float, ...]
    lags: tuple[float, ...] = ()

    def cells(self) -> list[str]:
        """Return its row in the table."""
        rate, per_line = self.lines / self.seconds, 1e6 * self.cpu_s / self.lines
        numbers = [f"{self.seconds:.1f}", f"{rate:.0f}", f"{self.cpu_s:.1f}", f"{per_line:.1f}"]
        fifths = (" ".join(f"{one:.0f}" for one in each) for each in (self.peaks_mb, self.lags))
        return [self.by, f"{self.lines}", *numbers, *fifths]


class Lag:
    """How far a stream is behind the lines that are sent to it at a rate, look by look."""

    def __init__(self, checkpoint: Path, reading: Reading, lines: int, rate: float) -> None:
        self._checkpoint = checkpoint
        self._reading = reading
        self._lines = lines
        self._rate = rate
        self._began = perf_counter()
        self.seen: list[float] = []

    def is_over(self) -> bool:
        """Note the lag; return whether there is advice on a batch with the last line."""
        due = min(self._lines, self._rate * (perf_counter() - self._began))
        tables = read_tables(self._checkpoint / "tables", self._reading)
        stored = sum(one.lines for one in tables.manifest.files.values())
        self.seen.append(max(0.0, due - stored))
        if stored < self._lines:
            return False
        advice = self._checkpoint / "advice.jsonl"
        last = advice.read_text("utf-8").splitlines()[-1:] if advice.is_file() else []
        return any(json.loads(line)["batch"] == tables.last_batch for line in last)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--lines", type=float, default=3.0, help="millions")
    parser.add_argument(
        "--rate", type=float, help="lines a second that are sent while it runs; default: before"
    )
    parser.add_argument("--trigger", default="5s", help="with --rate: between two batches")
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

        def send() -> None:
            files = [Path(path) for path, _ in log_files(logs)]
            kafka.send(TOPIC, records_of(files, ROUNDS), options.rate)

        def measured(command: str, source: str, *more: str, lag: Lag | None = None) -> bytes:
            out = folder / f"{command}.json"
            words = [command, source, "--instance", str(given), "--out", str(out), "--quiet"]
            words += ["--master", options.master, *more]
            line = [sys.executable, "-m", "slotwise", *words]
            used = use_of(line) if lag is None else use_of(line, lag.is_over)
            lags = () if lag is None else _peaks(lag.seen)
            row = Row(command, written, used.seconds, used.cpu_s, _peaks(used.memory_mb), lags)
            table.add(asdict(row), row.cells())
            return out.read_bytes()

        jars = [word for jar in connector() for word in ("--jars", str(jar))]
        source = f"kafka://{kafka.address}/{TOPIC}"
        stream = ["--checkpoint", str(folder / "checkpoint"), "--time-limit", "1", *jars]
        if options.rate is None:
            send()
            followed = measured("follow", source, *stream, "--once")
        else:
            kafka.send(TOPIC, [])  # the topic must be there before the stream
            reading = reading_of([read_instance(given)], Settings())
            lag = Lag(folder / "checkpoint", reading, written, options.rate)
            with ThreadPoolExecutor(1) as pool:
                sending = pool.submit(send)
                stream += ["--trigger", options.trigger]
                followed = measured("follow", source, *stream, lag=lag)
                sending.result()
        shutil.rmtree(folder / "checkpoint")
        if followed != measured("measure", str(logs)):
            raise SlotwiseError("the stream and the batch job measure different instances")
    table.end({}, [])


def _peaks(looks: Sequence[float]) -> tuple[float, ...]:
    ends = [len(looks) * part // PARTS for part in range(PARTS + 1)]
    return tuple(max(looks[a:b]) for a, b in itertools.pairwise(ends) if a < b)
