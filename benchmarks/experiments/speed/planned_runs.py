"""How soon a grading starts that has nearly all its rows, and what memory the driver takes.

The rows that are there are made up: those of `METHODS` and of the exact engine on many instances,
but for the methods on the first few, which then run for real.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import TYPE_CHECKING

from slotwise.benchmarks.experiments.table import say
from slotwise.benchmarks.grading.batch import cases as of_cases
from slotwise.benchmarks.grading.batch.folder import address_of, append
from slotwise.benchmarks.grading.batch.local_frame import fields_of
from slotwise.benchmarks.grading.batch.runs import planned, settings_frame
from slotwise.benchmarks.grading.environment import families_version
from slotwise.benchmarks.grading.plan import RunLimits, make_settings
from slotwise.benchmarks.grading.rows import COLUMNS, SCHEMA, Subject
from slotwise.benchmarks.grading.sources import CaseRange, Sources
from slotwise.benchmarks.grading.store import INSTANCES, ROWS
from slotwise.pipeline.spark.session import session
from slotwise.processes.child import command_of
from slotwise.processes.reaper import children

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FAMILY = "stick-breaking"
METHODS = ("round-robin", "r-storm", "r-storm-1.0", "r-storm-pseudocode", "ras-paper")
LIMIT_S = 20.0
POLL_S = 0.2


def add_options(parser: argparse.ArgumentParser) -> None:
    """Say how many runs there are."""
    parser.add_argument("--runs", type=int, default=1_000_000, help="runs that are planned")
    parser.add_argument("--todo", type=int, default=1_000, help="of them, without a row")
    parser.add_argument("--files", type=int, default=400, help="files that hold the rows")
    parser.add_argument("--master", default="local[*]", help="Spark's master")


def run(options: argparse.Namespace) -> None:
    """Make the rows up, start the grading, and print how it went."""
    count = -(-options.runs // (len(METHODS) + 1))
    fresh = -(-options.todo // len(METHODS))
    with tempfile.TemporaryDirectory(prefix="slotwise-planned-") as folder:
        with session(options.master, nullcontext()) as spark:
            _make_up(spark, address_of(folder), count, fresh, options.files)
        request = json.dumps([folder, count, options.master])
        started = time.monotonic()
        with Popen([*command_of(start), request], stdout=DEVNULL) as process:
            seen = _watch(process, Path(folder) / ROWS, started)
        took = time.monotonic() - started
    if process.returncode:
        sys.exit(process.returncode)
    say(f"planned {count * (len(METHODS) + 1)} runs, run {fresh * len(METHODS)}")
    say(f"first rows after {seen.first_s:.1f} s, all after {took:.1f} s, Spark's start included")
    say(f"CPU time of the driver until the first rows: {seen.cpu_s:.1f} s")
    say(f"peak memory of the driver, Python and Java together: {seen.peak_mb:.0f} MB")


def start() -> None:
    """Grade what ``sys.argv`` asks for: what the experiment measures."""
    from slotwise.benchmarks.grade import grade

    folder, count, master = json.loads(sys.argv[-1])
    grade(FAMILY, methods=METHODS, time_limit_s=LIMIT_S, master=master, out=folder, count=count)


def _make_up(spark: SparkSession, address: str, count: int, fresh: int, files: int) -> None:
    """Fill the folder: the first `fresh` instances are real, of the others only the numbers."""
    requested = of_cases.addresses(spark, Sources((CaseRange(FAMILY, count),)))
    real = requested.where(requested.case_index < fresh).select(*of_cases.ADDRESS)
    append(real.repartition(8).transform(of_cases.describe(spark, 0)), address, INSTANCES)
    append(
        _invented(requested.where(requested.case_index >= fresh)).coalesce(8), address, INSTANCES
    )
    limits = RunLimits(LIMIT_S, 1, 0, None)
    settings = make_settings([Subject.PLACEMENT], METHODS, "auto", limits)
    instances = spark.read.parquet(f"{address}/{INSTANCES}")
    plan = planned(instances, settings_frame(spark, settings))
    stale = plan.where((plan.case_index >= fresh) | (plan.kind == "exact"))
    append(_rows(stale).repartition(files), address, ROWS)


def _invented(addresses: DataFrame) -> DataFrame:
    from pyspark.sql import functions as fn

    name = fn.concat_ws("-", fn.lit("made-up"), "case_index")
    values = {
        "case_seed": fn.lit(0).cast("long"),
        "made_by": fn.lit(families_version()),
        "instance_hash": fn.concat(fn.lit("sha256:"), fn.sha2(name, 256)),
        "instance": name,
        "subject": fn.lit(str(Subject.PLACEMENT)),
        **{size: fn.lit(9) for size in ("tasks", "nodes", "topologies")},
        "tightness": fn.lit(0.5),
        "text": fn.lit(""),
    }
    return addresses.withColumns(values).drop("position")


def _rows(plan: DataFrame) -> DataFrame:
    from pyspark.sql import functions as fn

    types = {field.name: field.dataType for field in fields_of(SCHEMA)}
    made_up = {"status": fn.lit("valid"), "placement": fn.repeat(fn.lit("1,2,3,"), 20)}
    return plan.select(
        *(
            made_up.get(name, fn.col(name) if name in plan.columns else fn.lit(None))
            .cast(types[name])
            .alias(name)
            for name in COLUMNS
        )
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """When the first rows came, seconds; CPU seconds until then; the driver's peak in MB."""

    first_s: float
    cpu_s: float
    peak_mb: float


def _watch(process: Popen[bytes], rows: Path, started: float) -> Seen:
    """Return what the driver, Python and Java, was seen to need until it ended."""
    files = _files(rows)
    first_s, cpu_s, peaks = 0.0, 0.0, dict[int, float]()
    while process.poll() is None:
        driver = (process.pid, *_java_children(process.pid))
        if not first_s:
            cpu_s = sum(map(_cpu_s, driver))
            if _files(rows) > files:
                first_s = time.monotonic() - started
        for pid in driver:
            peaks[pid] = max(peaks.get(pid, 0.0), _peak_mb(pid))
        time.sleep(POLL_S)
    return Seen(first_s, cpu_s, sum(peaks.values()))


def _files(rows: Path) -> int:
    return len(list(rows.glob("*.parquet")))


def _cpu_s(pid: int) -> float:
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _java_children(pid: int) -> Iterator[int]:
    """Yield the Java processes below `pid`; the workers, which they start, are not the driver."""
    for child in children(pid):
        if _text(Path(f"/proc/{child}/comm")).strip() == "java":
            yield child
        else:
            yield from _java_children(child)


def _peak_mb(pid: int) -> float:
    for line in _text(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""  # It has ended meanwhile.
