"""Faults of every kind in one batch: methods that break down, an executor and a driver killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import DEEP
from grading_processes import (
    PLACE,
    READ,
    executors,
    java_below,
    stable,
    start,
    tiny,
    wait_for_rows,
)
from live_processes import end_in_time

from slotwise.benchmarks.grade import grade
from slotwise.benchmarks.grading.grade_summary import GradeSummary
from slotwise.benchmarks.grading.row_file import read_rows
from slotwise.benchmarks.grading.rows import KEY, key_of
from slotwise.benchmarks.grading.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OURS = ("round-robin", "r-storm")

BREAK_DOWN = """
import signal, subprocess, time
fault, number = sys.argv[1], int(sys.argv[2])
struck = int(data["name"].rpartition("-")[2]) % 5 == number
if not struck:
    nodes = all_nodes
elif fault == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
elif fault == "kill":
    parent = subprocess.check_output(["ps", "-o", "ppid=", "-p", str(os.getppid())])
    os.kill(int(parent), signal.SIGKILL)
    time.sleep(99)
elif fault == "hang":
    time.sleep(99)
elif fault == "bomb":
    bytearray(1 << 31)
"""

FAULTY = READ + BREAK_DOWN + PLACE
"""A command that breaks down as its first argument says on every fifth instance, from that of the
second; ``lie``: all tasks on one node, too many. The other instances it places well."""

ENDS = {
    "crash": "crashed",
    "kill": "crashed",
    "hang": "timeout",
    "bomb": "memory",
    "lie": "broken rule",
}
"""How runs of each fault end."""

LIMIT_MB = 600

INSTANCES = 25 if DEEP else 5


def faulty(folder: Path) -> dict[str, str]:
    """Return fault -> method."""
    script = folder / "faulty.py"
    script.write_text(FAULTY, encoding="utf-8")
    return {
        fault: f"cmd:{sys.executable} {script} {fault} {number}"
        for number, fault in enumerate(ENDS)
    }


def make_instances(folder: Path, count: int) -> Path:
    """Write instances of which no two are alike; no node holds all tasks of one."""
    folder.mkdir()
    for index in range(count):
        document = {**tiny(0), "name": f"tiny-{index}"}
        for component in document["topologies"][0]["components"]:
            component["resources"] = {"cpu": 5 + index, "onheap_mb": 400}
        (folder / f"{index}.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def kill_driver(process_id: int) -> None:
    """End the driver, Python and Java, as a machine does that loses power; wait for its executors.

    They go by themselves when they notice.
    """
    java = java_below(process_id)
    backends = set(executors(process_id))
    for one in (process_id, *(java - backends)):
        os.kill(one, signal.SIGKILL)
    assert end_in_time(*backends, seconds=60), "executors outlive their driver"


@pytest.mark.in_turn
@pytest.mark.slow
@pytest.mark.spark
def test_killed_executor_and_driver_lose_and_double_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    sources = make_instances(tmp_path / "in", INSTANCES)
    faults = faulty(tmp_path)
    methods = (*OURS, *faults.values())

    def run(out: Path) -> GradeSummary:
        return grade(
            str(sources), methods=methods, time_limit_s=5, memory_limit_mb=LIMIT_MB, out=out
        )

    killed = tmp_path / "killed"
    killed.mkdir()
    process = start(
        sources, killed, "local-cluster[2,1,1024]", *methods, limit=5, memory_mb=LIMIT_MB
    )
    wait_for_rows(killed, process)
    os.kill(next(executors(process.pid)), signal.SIGKILL)
    there = len(list((killed / "rows").glob("*.parquet")))
    wait_for_rows(killed, process, there + 2)
    kill_driver(process.pid)
    process.communicate(timeout=60)
    resumed, whole = run(killed), run(tmp_path / "whole")
    planned = INSTANCES * (1 + len(methods))
    assert (whole.planned, whole.skipped) == (planned, 0)
    assert 0 < resumed.skipped < resumed.planned == planned
    rows = Store(tmp_path / "whole").rows()
    assert stable(Store(killed).rows()) == stable(rows)
    for number, (fault, method) in enumerate(faults.items()):
        ends = {row["instance"]: row["status"] for row in rows if row["method"] == method}
        struck = {f"tiny-{index}" for index in range(number, INSTANCES, len(faults))}
        for instance, end in ends.items():
            assert end == (ENDS[fault] if instance in struck else "valid"), (fault, instance)
        assert len(ends) == INSTANCES
    assert set(written(killed).values()) == {1}


def written(folder: Path) -> Counter[tuple[object, ...]]:
    """Return how many rows each run has in the files of a folder."""
    files = (folder / "rows").glob("*.parquet")
    return Counter(key_of(row) for one in files for row in read_rows(one, KEY))


def wait_for_moment(draw: random.Random, out: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait for a random moment: while it starts or plans, or when some more rows have come."""
    files = draw.choice((0, 1, 2, 4))
    if files:
        wait_for_rows(out, process, len(list((out / "rows").glob("*.parquet"))) + files)
    time.sleep(draw.uniform(0, 0.3 if files else 8))


@pytest.mark.in_turn
@pytest.mark.spark
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.deep)])
def test_a_grading_killed_again_and_again_has_each_row_once(
    kills: int, spark: SparkSession, tmp_path: Path
) -> None:
    draw, count = random.Random(24), 10 * kills
    sources, out = make_instances(tmp_path / "in", count), tmp_path / "out"
    out.mkdir()
    for number in range(kills):
        process = start(sources, out, "local[2]", *OURS, limit=20)
        wait_for_moment(draw, out, process)
        assert process.poll() is None, "it was done before it could be killed"
        if number % 2:
            kill_driver(process.pid)
        else:
            process.kill()  # Java ends by itself, while the next grading starts.
        process.communicate(timeout=60)
        assert set(written(out).values()) <= {1}
    there = written(out).total()
    done = grade(str(sources), methods=OURS, time_limit_s=20, out=out)
    assert (done.planned, done.skipped) == (count * (1 + len(OURS)), there)
    rows = written(out)
    assert len(rows) == rows.total() == done.planned
