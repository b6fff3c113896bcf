"""Seconds and memory of the statistics: experiment ``statistics_speed``.

Logs of each size are simulated, with faults. The pipeline measures them (raw files to tables to
weights, as ``slotwise measure``), a loop in pandas sums the samples up, each in a process of its
own. The sums of all samples must be those of pandas to the
last digit, on a sample those of plain Python, and from `ENOUGH` lines on within 0.1 % of what was
simulated. CPU seconds are those of all threads; they tell more than seconds on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from slotwise.benchmarks.experiments.speed import statistics_by_hand
from slotwise.benchmarks.experiments.speed.statistics_by_hand import Totals
from slotwise.benchmarks.experiments.table import say
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.simulate import simulate
from slotwise.pipeline.statistics.manifest import log_files
from slotwise.pipeline.statistics.reading import Reading
from slotwise.processes.child import command_of, exchange, take_stdout
from slotwise.processes.pipes import last_words

MILLIONS = (1.0, 3.0, 10.0, 30.0)
SAMPLE = 100_000
HEAD = f"{'lines':>10} {'MB':>6} {'by':<7} {'seconds':>8} {'CPU s':>8} {'peak MB':>8} {'worst':>8}"
WITHIN = 0.001
EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "word-count.json"
ENOUGH = 500_000
"""Lines from which on sums are held against what was simulated: fewer, and one late line tells."""
# As many lines in the files of one collector.
_LINES_PER_FILE = 500_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("instance", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument(
        "--lines", default=",".join(map("{:g}".format, MILLIONS)), help="millions, in a list"
    )
    parser.add_argument("--faults", type=float, default=0.001, help="share of faulty lines")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="lines for plain Python")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="2560m", help="heap of Spark's JVM")
    parser.add_argument("--pandas-up-to", type=float, default=10, help="millions")


def run(options: argparse.Namespace) -> None:
    """Print a row a run, and the straight line through the seconds.

    Raises
    ------
    SlotwiseError
        If a sum is wrong.
    """
    points: list[tuple[float, float, float]] = []
    say(HEAD)
    sizes = [float(one) for one in options.lines.split(",")]
    sample = options.sample / 1e6
    for millions in (sample, *sizes):
        with tempfile.TemporaryDirectory(prefix="slotwise-statistics-") as folder:
            row = _measured(options, Path(folder), millions, millions == sample)
            if millions != sample:
                points.append((row["lines"], row["seconds"], row["cpu"]))
    for name, column in (("seconds", 1), ("CPU seconds", 2)):
        if len(points) > 1:
            say(f"{name}: {_line([(one[0], one[column]) for one in points])}")


def _measured(
    options: argparse.Namespace, folder: Path, millions: float, is_sample: bool
) -> dict[str, float]:
    """Simulate logs, sum them by all means, compare the sums; return the pipeline's figures."""
    logs, tables = folder / "logs", folder / "tables"
    truth = _simulate(options, logs, int(millions * 1e6))
    components = {name: list(one["components"]) for name, one in truth["topologies"].items()}
    task = {"logs": str(logs), "tables": str(tables), "components": components}
    task |= {"master": options.master, "instance": str(options.instance)}
    lines = sum(truth["lines"].values())
    size = sum(one.size for _, one in log_files(logs)) / 1e6
    ours, figures = _child(spark_main, task, options.memory)
    worst = _worst(ours, truth)
    _row(lines, size, "spark", figures, worst)
    rivals: dict[str, Totals] = {}
    if is_sample:
        rivals["plain Python"] = statistics_by_hand.totals(*_input(task))
    if is_sample or millions <= options.pandas_up_to:
        rivals["pandas"], of_pandas = _child(pandas_main, task, options.memory)
        _row(lines, size, "pandas", of_pandas, _worst(rivals["pandas"], truth))
    for name, theirs in rivals.items():
        if theirs != ours:
            wrong = {key: (ours.get(key), theirs.get(key)) for key in {*ours, *theirs}}
            first = next(f"{k}: {a} and {b}" for k, (a, b) in sorted(wrong.items()) if a != b)
            raise SlotwiseError(f"Spark and {name} differ on {lines} lines: {first}")
    if lines >= ENOUGH and worst > WITHIN:
        raise SlotwiseError(f"a sum is {100 * worst:.3f} % from what was simulated")
    return {"lines": lines, **figures}


def _simulate(options: argparse.Namespace, logs: Path, lines: int) -> dict[str, Any]:
    instance = read_instance(options.instance)
    placed = run_method(compile_problem(instance), find_method("r-storm"), 0)
    if not isinstance(placed, Placement):
        raise SlotwiseError(f"{options.instance}: r-storm places nothing: {placed.reason}")
    files = max(2, lines // _LINES_PER_FILE)
    settings = LogSettings(lines=lines, faults=options.faults, skew=40, files=files)
    return simulate(instance, placed, settings, logs)


def _row(lines: int, size: float, name: str, figures: Mapping[str, float], worst: float) -> None:
    cells = f"{figures['seconds']:8.1f} {figures['cpu']:8.1f} {figures['peak_mb']:8.0f}"
    say(f"{lines:>10} {size:6.0f} {name:<7} {cells} {100 * worst:7.4f}%")


def _child(main: Any, task: Mapping[str, Any], memory: str) -> tuple[Totals, dict[str, float]]:
    """Run `main` in a process of its own; return its sums, and what it used."""
    submit = f"--driver-memory {memory} pyspark-shell"
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": submit, "SPARK_SUBMIT_OPTS": ""}
    began = perf_counter()
    done = exchange(command_of(main), json.dumps(task).encode(), environment)
    if done.code:
        ended = f"{main.__name__} ended with exit code {done.code}"
        raise SlotwiseError(f"{ended}{last_words(done.stderr)}")
    sums = json.loads(done.stdout)
    totals = {(a, b, c): (number, value) for a, b, c, number, value in sums}
    figures = {"seconds": perf_counter() - began, "cpu": done.cpu_s}
    return totals, {**figures, "peak_mb": done.peak_memory_mb}


def _input(task: Mapping[str, Any]) -> tuple[list[Path], Reading]:
    files = [Path(path) for path, _ in log_files(Path(task["logs"]))]
    return files, _reading(task)


def _reading(task: Mapping[str, Any]) -> Reading:
    return Reading(components={one: tuple(names) for one, names in task["components"].items()})


def spark_main() -> None:
    """Sum the logs by the pipeline; the task is on stdin, the answer on stdout."""
    from pyspark import SparkContext
    from pyspark.sql import functions as fn

    from slotwise.pipeline.spark.masters import THROUGHPUT, Cluster
    from slotwise.pipeline.spark.session import spark_session
    from slotwise.pipeline.statistics.run import update
    from slotwise.pipeline.statistics.weights.logs import Settings, measure_logs, reading_of

    answers, task = take_stdout(), json.load(sys.stdin)
    spark = spark_session(Cluster(task["master"], conf=THROUGHPUT))
    logs, folder = Path(task["logs"]), Path(task["tables"])
    instance, settings = read_instance(Path(task["instance"])), Settings()
    measure_logs(spark, logs, instance, settings, folder)
    tables = update(spark, logs, folder, reading_of([instance], settings))  # nothing is new
    keys = ("source", "component", "metric")
    value = fn.col("value").cast("decimal(38,0)")  # sums of nanoseconds exceed 64 bits
    sums = tables.samples(spark).groupBy(*keys).agg(fn.count("*"), fn.sum(value))
    rows = [[*row[:4], int(row[4])] for row in sums.collect()]
    spark.stop()
    # Waited for, the JVM counts into what this process used.
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    json.dump(rows, answers)
    answers.close()


def pandas_main() -> None:
    """Sum the logs by pandas."""
    from slotwise.benchmarks.experiments.speed import statistics_in_pandas

    answers, task = take_stdout(), json.load(sys.stdin)
    totals = statistics_in_pandas.totals(*_input(task))
    json.dump([[*key, *value] for key, value in totals.items()], answers)
    answers.close()


def _worst(totals: Totals, truth: Mapping[str, Any]) -> float:
    """Return the largest relative difference of a sum from the simulated one.

    Storm's counts of executed tuples are samples of every twentieth tuple and are compared, too.
    """
    errors = [0.0]
    for topology in truth["topologies"].values():
        for name, one in topology["components"].items():
            expected = {("json", name, "tuples"): one["totals"]["tuples"]}
            expected["json", name, "cpu_ns"] = one["totals"]["cpu_ms"] * 1e6
            if ("storm", name, "execute_count") in totals:
                expected["storm", name, "execute_count"] = one["totals"]["tuples"]
            errors += [
                abs(totals.get(key, (0, 0))[1] - value) / value
                for key, value in expected.items()
                if value
            ]
    return max(errors)


def _line(points: Sequence[tuple[float, float]]) -> str:
    """Return the straight line through points, and how far the farthest is from it."""
    x, y = np.array([one[0] / 1e6 for one in points]), np.array([one[1] for one in points])
    slope, start = np.polyfit(x, y, 1)
    far = np.max(np.abs(start + slope * x - y) / y)
    return f"{start:.1f} + {slope:.2f} per million lines; at most {100 * far:.0f} % from that"
