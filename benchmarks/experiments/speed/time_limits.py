"""Whether solves end at their time limit: experiment ``time_limits``.

Each engine solves each shape of instance in a process of its own. The clock runs from the moment
the instance is read until the process has ended; more than the limit, `SHARE_LATE` of it and
`LATE_S` is a breach, and then the exit code is 1. Engines that do not take a shape end at once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from slotwise.benchmarks.experiments.speed.limit_instances import BEYOND, SHAPES
from slotwise.benchmarks.experiments.table import say
from slotwise.models.errors import SlotwiseError
from slotwise.processes.child import Child, take_stdout
from slotwise.processes.pipes import last_line

SHARE_LATE, LATE_S = 0.05, 1.0
"""How late an end may be: this share of the limit, and this many seconds."""
PATIENCE_S = 120.0
"""Seconds after its limit at which a process is killed."""

RUNS = (
    ("auto", 1), ("auto", 2), ("cp-sat", 1), ("milp", 1), ("configurations", 1),
    ("connected", 1), ("dual-ascent", 1), ("subset-dp", 1), ("exhaustive", 1),
)  # fmt: skip
"""Engines and their threads. Local search runs within ``auto``."""

KILLED, CRASHED = "killed", "crashed"


@dataclass(frozen=True, slots=True)
class SolveEnd:
    """How one solve ended.

    Parameters
    ----------
    shape, engine, workers, limit_s
        What was asked.
    status
        As in `Status`; ``refused``, ``killed`` or ``crashed``.
    engines
        That ran, or what is wrong.
    wall_s
        Seconds from the instance to the end of the process.
    memory_mb
        Peak of the process; ``None`` where it did not tell.
    left_behind
        Whether the search did not end in time and was abandoned.
    """

    shape: str
    engine: str
    workers: int
    limit_s: float
    status: str
    engines: str
    wall_s: float
    memory_mb: float | None
    left_behind: bool = False

    @property
    def late_s(self) -> float:
        """Seconds beyond the limit; negative where it ended before."""
        return self.wall_s - self.limit_s

    @property
    def holds(self) -> bool:
        """Whether the limit held."""
        in_time = self.late_s <= SHARE_LATE * self.limit_s + LATE_S
        return in_time and self.status not in (KILLED, CRASHED)

    def __str__(self) -> str:
        """One line for people."""
        memory = "" if self.memory_mb is None else f"{self.memory_mb:7.0f} MB"
        return (
            f"{self.shape:<17}{self.engine + (f' x{self.workers}' if self.workers > 1 else ''):<16}"
            f"{self.limit_s:5.1f} s {self.wall_s:7.2f} s {self.late_s:+7.2f} s "
            f"{'ok' if self.holds else 'LATE':<5}{memory:>11}  {self.status} {self.engines}"
            f"{' (left behind)' if self.left_behind else ''}"
        )


def ended(shape: str, engine: str, workers: int, limit_s: float) -> SolveEnd:
    """Run one solve in a process of its own and watch its clock."""
    request = {"shape": shape, "engine": engine, "workers": workers, "limit_s": limit_s}
    words = [sys.executable, "-m", "slotwise.benchmarks.experiments", "time_limits"]
    with Child([*words, "--child", json.dumps(request)]) as process:
        process.pipes.read_line()  # the instance is there
        started = time.perf_counter()
        process.wait(time.monotonic() + limit_s + PATIENCE_S)
        seconds = time.perf_counter() - started
        done = process.end()
    if done.timed_out:
        return SolveEnd(shape, engine, workers, limit_s, KILLED, "", limit_s + PATIENCE_S, None)
    answer = json.loads(done.stdout) if done.stdout else None
    if done.code or answer is None:
        text = f"exit code {done.code}: {last_line(done.stderr) or 'no message'}"
        return SolveEnd(shape, engine, workers, limit_s, CRASHED, text, seconds, None)
    return SolveEnd(shape, engine, workers, limit_s, answer["status"], answer["engines"], seconds,
                 answer["memory_mb"], answer["left_behind"])  # fmt: skip


def child(request: str) -> None:
    """Make the instance, say so, solve it, say how it went, and end as ``slotwise solve`` does."""
    from slotwise.benchmarks.grading.run import peak_memory_mb
    from slotwise.solver.core.not_taken import UntakenError
    from slotwise.solver.core.supervision import is_any_abandoned
    from slotwise.solver.solve import solve

    options = json.loads(request)
    instance = (SHAPES | BEYOND)[options["shape"]]()
    out = take_stdout()
    out.write("ready\n")
    out.flush()
    limits = {"time_limit_s": options["limit_s"], "workers": options["workers"]}
    try:
        result = solve(instance, engine=options["engine"], **limits)
        answer = {"status": str(result.status), "engines": result.engine}
    except UntakenError as error:
        answer = {"status": "refused", "engines": str(error)}
    left = is_any_abandoned()
    out.write(json.dumps({**answer, "memory_mb": peak_memory_mb(), "left_behind": left}))
    out.close()
    if left:
        os._exit(0)


def run(options: argparse.Namespace) -> None:
    """Run everything and print a line each time.

    Raises
    ------
    SlotwiseError
        After the last one, where some were late.
    """
    if options.child is not None:
        child(options.child)
        return
    late = [one for one in _all(options) if not one.holds]
    if late:
        named = ", ".join(f"{one.shape} {one.engine}" for one in late)
        raise SlotwiseError(f"{len(late)} ended late: {named}")


def _all(options: argparse.Namespace) -> Iterator[SolveEnd]:
    for shape in options.shape or SHAPES:
        for engine, workers in RUNS:
            if options.engine and engine not in options.engine:
                continue
            row = ended(shape, engine, workers, options.time_limit)
            say(str(row))
            yield row


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    shapes = sorted(SHAPES | BEYOND)
    parser.add_argument(
        "--shape", action="append", choices=shapes, help="default: all but `million`"
    )
    engines = sorted({engine for engine, _ in RUNS})
    parser.add_argument("--engine", action="append", choices=engines, help="default: all")
    parser.add_argument("--time-limit", type=float, default=4.0, metavar="S")
    parser.add_argument("--child", help=argparse.SUPPRESS)
