"""What the harness of a grading costs: experiment ``grading_speed``.

Tiny instances with six heuristics, through the harness and in one Python process that makes the
same calls; exact solves of tiny instances; the same runs by one and by two processes at a time, as
Spark's Python workers do them. Every figure is taken from wall clock and from CPU time: on a busy
machine only the latter says much. Exit code 1: a CPU figure is worse than asked.

``--part grading`` has Spark in it, too: the same runs by a grading on one and on two cores, from
the plan to the rows in their folder. Spark's start, some seconds, is not counted; Java's work is.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from slotwise.benchmarks.experiments.speed import harness_task
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import SlotwiseError
from slotwise.processes.child import Child, command_of
from slotwise.processes.pipes import last_words

Document = dict[str, Any]

LEAST_SHARE = 0.60
"""Runs per second and core, compared with a bare process."""
MOST_OVERHEAD_S = 0.15
"""Of one exact solve."""
LEAST_SPEED_UP = 1.8
"""Two processes compared with one."""

COLUMNS = {"what": "<30", "wall": ">10", "cpu": ">10", "asked": ">8"}


def measure(tasks: int, request: Document) -> list[Document]:
    """Return what that number of processes at a time measured, each with its part of the runs."""
    with ExitStack() as stack:
        running = [stack.enter_context(Child(command_of(harness_task.main))) for _ in range(tasks)]
        for part, process in enumerate(running):
            _send(process, {**request, "part": part, "parts": tasks})
        for process in running:
            _answer(process)  # it is ready
        for process in running:
            _send(process, {})
        return [_answer(process) for process in running]


def _send(process: Child, document: Document) -> None:
    process.pipes.send(json.dumps(document).encode() + b"\n")


def _answer(process: Child) -> Document:
    line = process.pipes.read_line()
    if line is None:
        process.wait()
        ended = f"a process that measures ended with code {process.end().code}"
        raise SlotwiseError(f"{ended}{last_words(bytes(process.pipes.stderr))}")
    answer: Document = json.loads(line)
    return answer


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table.

    Parameters
    ----------
    what
        Its name, with the unit.
    wall, cpu
        From wall clock, and from CPU time.
    least, most
        What is asked of `cpu`; ``None`` = nothing.
    """

    what: str
    wall: float
    cpu: float
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether it is as asked."""
        enough = self.least is None or self.cpu >= self.least
        return enough and (self.most is None or self.cpu <= self.most)

    @property
    def asked(self) -> str:
        """What is asked, as text; empty where nothing is."""
        least = "" if self.least is None else f">= {self.least:.2f}"
        return least if self.most is None else f"<= {self.most:.2f}"


def wall_rate(documents: Sequence[Document]) -> float:
    """Return runs per second; processes that ran at a time took as long as the last of them."""
    longest: float = max(one["wall_s"] for one in documents)
    return _runs(documents) / longest


def cpu_rate(documents: Sequence[Document]) -> float:
    """Return runs per second of CPU time."""
    return _runs(documents) / math.fsum(one["cpu_s"] for one in documents)


def _runs(documents: Sequence[Document]) -> int:
    return sum(int(one["runs"]) for one in documents)


def beside_bare(options: argparse.Namespace) -> tuple[Figure, ...]:
    """Measure the runs of heuristics through the harness, and by themselves."""
    request = {"exact": False, "count": options.instances, "family": options.family}
    bare = measure(1, {**request, "bare": True})
    harness = measure(1, {**request, "bare": False})
    return (
        Figure("runs/s of a bare process", wall_rate(bare), cpu_rate(bare)),
        Figure("runs/s of the harness", wall_rate(harness), cpu_rate(harness)),
        Figure(
            "harness / bare process",
            wall_rate(harness) / wall_rate(bare),
            cpu_rate(harness) / cpu_rate(bare),
            least=LEAST_SHARE,
        ),
    )


def of_exact_solves(options: argparse.Namespace) -> tuple[Figure, ...]:
    """Measure what a solve takes beside the call of the engine."""
    request = {"exact": True, "bare": False, "count": options.solves, "family": options.family}
    (document,) = measure(1, request)
    wall, cpu = (
        (document[clock] - document[f"inside_{clock}"]) / document["runs"]
        for clock in ("wall_s", "cpu_s")
    )
    return (Figure("seconds beside an exact solve", wall, cpu, most=MOST_OVERHEAD_S),)


def of_two_cores(options: argparse.Namespace) -> tuple[Figure, ...]:
    """Measure one and two processes with the same runs.

    By CPU time: how much of it two at a time take for the same work, as if each had a core.
    """
    count = max(2, options.instances // 5)
    request = {"exact": False, "bare": False, "count": count, "family": options.family}
    first, second = measure(1, request), measure(2, request)
    wall, cpu = wall_rate(second) / wall_rate(first), 2 * cpu_rate(second) / cpu_rate(first)
    return (Figure("2 cores / 1 core", wall, cpu, least=LEAST_SPEED_UP),)


def of_grading(options: argparse.Namespace) -> tuple[Figure, ...]:
    """Measure the runs of heuristics by a grading on Spark, beside those of a bare process."""
    request = {"exact": False, "count": options.instances, "family": options.family}
    bare = measure(1, {**request, "bare": True})
    first, second = (measure(1, {**request, "master": f"local[{cores}]"}) for cores in (1, 2))
    return (
        Figure("runs/s of a grading, 1 core", wall_rate(first), cpu_rate(first)),
        Figure("runs/s of a grading, 2 cores", wall_rate(second), cpu_rate(second)),
        Figure(
            "grading / bare process",
            wall_rate(first) / wall_rate(bare),
            cpu_rate(first) / cpu_rate(bare),
            least=LEAST_SHARE,
        ),
        Figure(
            "grading, 2 cores / 1 core",
            wall_rate(second) / wall_rate(first),
            2 * cpu_rate(second) / cpu_rate(first),
            least=LEAST_SPEED_UP,
        ),
    )


PARTS = {
    "heuristics": beside_bare,
    "exact": of_exact_solves,
    "cores": of_two_cores,
    "grading": of_grading,
}


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
    failed: list[str] = []
    for name, part in PARTS.items():
        for ratio in part(options) if options.part in (None, name) else ():
            document = {**asdict(ratio), "holds": ratio.holds}
            table.add(document, (ratio.what, f"{ratio.wall:.3f}", f"{ratio.cpu:.3f}", ratio.asked))
            failed += [] if ratio.holds else [ratio.what]
    table.end({"failed": failed}, ())
    if failed and not options.report_only:
        raise SlotwiseError(f"worse than asked: {', '.join(failed)}")
