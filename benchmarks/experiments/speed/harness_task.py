"""A process that does runs for `harness`: by a grading, through its harness, or by plain calls."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from slotwise.benchmarks.grading.batch.start import Batch, run_batch
from slotwise.benchmarks.grading.children.supervisor import answers
from slotwise.benchmarks.grading.oracle.stages import grading_stages
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan, make_settings
from slotwise.benchmarks.grading.preload import preload, warm
from slotwise.benchmarks.grading.progress.watching import watching
from slotwise.benchmarks.grading.rows import RIGHTLY_REFUSED, Kind, Subject
from slotwise.benchmarks.grading.sources import CaseRange, Sources, read_cases
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.pipeline.spark.session import session
from slotwise.processes.child import take_stdout

Graded = Callable[[int], dict[str, float]]
"""Grade a number of instances, in a folder of their own; say how many runs that were."""


@contextmanager
def by_grading(
    master: str, family: str, methods: Sequence[str], limits: RunLimits
) -> Iterator[Graded]:
    """Start Spark, which is stopped in the end; exact runs are left out."""
    settings = make_settings([Subject.PLACEMENT], methods, "auto", limits)
    heuristics = [setting for setting in settings if setting.kind != Kind.EXACT]
    of_methods, *_ = grading_stages(0, 0)
    with (
        tempfile.TemporaryDirectory(prefix="slotwise-graded-") as folder,
        session(master, nullcontext()) as spark,
    ):

        def graded(count: int) -> dict[str, float]:
            batch = Batch(
                address=str(Path(tempfile.mkdtemp(dir=folder))),
                sources=Sources((CaseRange(family, count),)),
                settings=heuristics,
                seed=0,
                retry_failed=False,
                stages=(of_methods,),
            )
            with watching({}, None, False) as watcher:
                done = run_batch(spark, batch, RIGHTLY_REFUSED, watcher)
            assert done.skipped == 0
            return {"runs": done.planned}

        yield graded


METHODS = ("round-robin", "r-storm", "r-storm-pseudocode", "ras-default", "hash", "ldg")

LIMITS = RunLimits(60.0, 1, 0, None)


def main() -> None:
    """Say that all is ready, wait for a line, do the runs, say what they took."""
    out = take_stdout()
    request = json.loads(sys.stdin.readline())
    with prepared(request) as work:
        _say(out, {})
        sys.stdin.readline()
        wall, cpu = time.perf_counter(), _cpu_seconds()
        result = work()
        times = {"wall_s": time.perf_counter() - wall, "cpu_s": _cpu_seconds() - cpu}
        _say(out, {**result, **times})


@contextmanager
def prepared(request: dict[str, Any]) -> Iterator[Callable[[], dict[str, float]]]:
    """Give what does the runs and says how many; it has done some, so that all is imported."""
    if "master" in request:
        with by_grading(request["master"], request["family"], METHODS, LIMITS) as graded:
            graded(2)
            yield lambda: graded(request["count"])
        return
    runs = planned(request)
    do = bare if request["bare"] else through_harness
    do(runs[: len(METHODS)])
    yield lambda: {"runs": len(runs), **do(runs)}


def _say(out: Any, document: dict[str, Any]) -> None:
    out.write(json.dumps(document) + "\n")
    out.flush()


def planned(request: dict[str, Any]) -> tuple[PlannedRun, ...]:
    """Return the runs of this process, as a task of Spark has them."""
    cases = read_cases([request["family"]], 0, request["count"])[
        request["part"] :: request["parts"]
    ]
    small = [replace(case, text="") for case in cases]
    plan = make_plan(small, METHODS, "auto", LIMITS)
    return tuple(run for run in plan if (run.kind == Kind.EXACT) == request["exact"])


def through_harness(runs: Sequence[PlannedRun]) -> dict[str, float]:
    """Do `runs` as a grading does; return the seconds of the calls themselves."""
    rows = list(answers(runs))
    assert len(rows) == len(runs)
    assert not [row["error"] for row in rows if row.get("error")]
    return {
        "inside_wall_s": sum(row["wall_s"] or 0.0 for row in rows),
        "inside_cpu_s": sum(row["cpu_s"] or 0.0 for row in rows),
    }


def bare(runs: Sequence[PlannedRun]) -> dict[str, float]:
    """Make each instance, compile it, and place and judge by each method."""
    preload(Kind.HEURISTIC)
    last = None
    for run in runs:
        if run.case.index != last:
            last = run.case.index
            assert run.case.family is not None
            assert last is not None
            problem = compile_problem(FAMILIES[run.case.family].make(last, run.case_seed))
        warm(run.method)
        answer = run_method(problem, HEURISTICS[run.method], run.seed)
        if isinstance(answer, Placement):
            judge(problem, answer)
    return {}


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of all that it has started, the ended included."""
    own = psutil.Process()
    return sum(sum(one.cpu_times()[:4]) for one in (own, *own.children(recursive=True)))
