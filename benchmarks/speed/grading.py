"""What the harness of a grading costs: ``python -m slotwise.benchmarks grading_speed``.

Tiny instances with six heuristics, through the harness and in one Python process that makes the
same calls; exact solves of tiny instances; the same runs by one and by two processes at a time, as
Spark's Python workers do them. Every figure is taken from wall clock and from CPU time: on a busy
machine only the latter says much. Exit code 1: a CPU figure is worse than asked.

Spark itself is not in it: about 0.1 s a task, and a task has many runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable
from typing import IO, Any

from slotwise.benchmarks.child_process import command_of
from slotwise.benchmarks.speed import grading_task
from slotwise.benchmarks.table import Table
from slotwise.models.errors import SlotwiseError

Document = dict[str, Any]

LEAST_SHARE = 0.60
"""Runs per second and core, compared with a bare process."""
MOST_OVERHEAD_S = 0.15
"""Of one exact solve."""
LEAST_SPEED_UP = 1.8
"""Two processes compared with one."""

COLUMNS = {"what": "<52", "wall": ">10", "cpu": ">10", "asked": ">8"}


def measure(tasks: int, request: Document) -> list[Document]:
    """Return what so many processes at a time measured, each with its part of the runs."""
    running = [_started({**request, "part": part, "parts": tasks}) for part in range(tasks)]
    for process in running:
        _answer(process)  # it is ready
    for process in running:
        _tell(process, {})
    found = [_answer(process) for process in running]
    for process in running:
        process.communicate()
    return found


def _started(request: Document) -> subprocess.Popen[str]:
    command = command_of(grading_task.main)
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    _tell(process, request)
    return process


def _tell(process: subprocess.Popen[str], document: Document) -> None:
    stdin = _open(process.stdin)
    stdin.write(json.dumps(document) + "\n")
    stdin.flush()


def _answer(process: subprocess.Popen[str]) -> Document:
    line = _open(process.stdout).readline()
    if not line:
        raise SlotwiseError(f"a process that measures ended with code {process.wait()}")
    answer: Document = json.loads(line)
    return answer


def _open(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def rate(found: list[Document], clock: str) -> float:
    """Return runs per second by wall clock, or per second of CPU time."""
    seconds = [one[clock] for one in found]
    return sum(one["runs"] for one in found) / (max if clock == "wall_s" else sum)(seconds)


def beside_bare(options: argparse.Namespace) -> list[Document]:
    """Measure the runs of heuristics through the harness, and by themselves."""
    request = {"exact": False, "count": options.instances, "family": options.family}
    bare = measure(1, {**request, "bare": True})
    harness = measure(1, {**request, "bare": False})
    rows = [
        _row(f"runs/s: {name}", lambda clock, found=found: rate(found, clock))
        for name, found in (("bare process", bare), ("harness", harness))
    ]
    share = _row("harness / bare", lambda clock: rate(harness, clock) / rate(bare, clock))
    return [*rows, share | {"asked": LEAST_SHARE, "holds": share["cpu"] >= LEAST_SHARE}]


def of_exact_solves(options: argparse.Namespace) -> list[Document]:
    """Measure what a solve takes beside the call of the engine."""
    request = {"exact": True, "bare": False, "count": options.solves, "family": options.family}
    (found,) = measure(1, request)
    row = _row(
        "s overhead of an exact solve",
        lambda clock: (found[clock] - found[f"inside_{clock}"]) / found["runs"],
    )
    return [row | {"asked": MOST_OVERHEAD_S, "holds": row["cpu"] <= MOST_OVERHEAD_S}]


def of_two_cores(options: argparse.Namespace) -> list[Document]:
    """Measure one and two processes with the same runs.

    By CPU time: how much of it two at a time take for the same work, as if each had a core.
    """
    count = max(2, options.instances // 5)
    request = {"exact": False, "bare": False, "count": count, "family": options.family}
    one, two = measure(1, request), measure(2, request)
    speed_up = {
        "what": "2 cores / 1 core",
        "wall": rate(two, "wall_s") / rate(one, "wall_s"),
        "cpu": 2 * rate(two, "cpu_s") / rate(one, "cpu_s"),
    }
    return [speed_up | {"asked": LEAST_SPEED_UP, "holds": speed_up["cpu"] >= LEAST_SPEED_UP}]


def _row(what: str, figure: Callable[[str], float]) -> Document:
    return {"what": what, "wall": figure("wall_s"), "cpu": figure("cpu_s")}


PARTS = {"heuristics": beside_bare, "exact": of_exact_solves, "cores": of_two_cores}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--instances", type=int, default=10_000, help="of the heuristics' runs")
    parser.add_argument("--solves", type=int, default=100, help="exact solves")
    parser.add_argument("--family", default="random", help="of all instances")
    parser.add_argument("--part", choices=PARTS, help="measure only this")
    parser.add_argument("--report-only", action="store_true", help="exit code 0 whatever it shows")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Print the table.

    Raises
    ------
    SlotwiseError
        When a figure is worse than asked.
    """
    table = Table(COLUMNS, options.json)
    rows: list[Document] = []
    for name, part in PARTS.items():
        if options.part in (None, name):
            for row in part(options):
                asked = format(row["asked"], ".2f") if "asked" in row else ""
                table.add(row, (row["what"], f"{row['wall']:.3f}", f"{row['cpu']:.3f}", asked))
                rows.append(row)
    failed = [row["what"] for row in rows if not row.get("holds", True)]
    table.end({"failed": failed}, ())
    if failed and not options.report_only:
        raise SlotwiseError(f"worse than asked: {', '.join(failed)}")
