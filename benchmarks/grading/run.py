"""One run, inside the child process: load, place, judge; the outcome columns of its row.

Its seconds are those of the call alone: `solve`, or the method with a compiled problem. Imports,
reading, compiling and judging are not among them.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from contextlib import suppress

from slotwise.benchmarks.grading.environment import cpu_model
from slotwise.benchmarks.grading.memory_share import limit_in_words, memory_limit_of
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.preload import preload, warm
from slotwise.benchmarks.grading.rows import (
    EXACT_KINDS,
    MOST_VIOLATIONS,
    Kind,
    RunOutcome,
    RunStatus,
    Subject,
    placement_text,
    read_placement_text,
    term_of,
)
from slotwise.benchmarks.grading.sam_run import allocated
from slotwise.heuristics.method import Method, MethodError
from slotwise.models.cancellation import CancellationToken, WorkClock
from slotwise.models.errors import SlotwiseError, UnfinishedError
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance_file import instance_from_text
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem


class Loader:
    """Makes what runs share: instances and methods.

    It keeps the last instance, compiled, for runs of one instance follow each other, and all
    methods. Nothing of either can be changed.
    """

    def __init__(self) -> None:
        self._last: tuple[str, Problem] | None = None
        self._methods: dict[tuple[str, float], Method] = {}

    def __call__(self, run: PlannedRun) -> Problem:
        """Return the compiled instance of `run`.

        Raises
        ------
        SlotwiseError
            When the family makes another instance here than where the grading was planned.
        """
        if self._last is None or self._last[0] != run.case.hash:
            self._last = run.case.hash, compile_problem(_load(run))
        return self._last[1]

    def method(self, run: PlannedRun) -> Method:
        """Return the method of `run`; looked up once, for that reads what is installed."""
        from slotwise.heuristics.registry import find_method

        key = run.method, run.time_limit_s
        if key not in self._methods:
            self._methods[key] = find_method(run.method, time_limit_s=run.time_limit_s)
        return self._methods[key]


def _load(run: PlannedRun) -> Instance:
    case = run.case
    if case.family is None or case.index is None:
        return instance_from_text(case.text)
    from slotwise.models.families.registry import FAMILIES

    instance = FAMILIES[case.family].make(case.index, run.case_seed)
    actual_hash = instance_hash(instance)
    if actual_hash != case.hash:
        raise SlotwiseError(
            f"{case.family} gives {actual_hash} here, but {case.hash} was planned: "
            "the machines have different versions of slotwise"
        )
    return instance


def outcome(run: PlannedRun, load: Loader) -> RunOutcome:
    """Return the outcome columns of `run`; errors made on purpose are an outcome too."""
    preload(Kind(run.kind))
    clock = _Clock()
    try:
        result = _run_of_kind(run, load, clock)
    except MethodError as error:
        result = {"status": _failure(error), "error": str(error)}
    except UnfinishedError as error:
        status = RunStatus.OUT_OF_MEMORY if error.out_of_memory else RunStatus.TIMEOUT
        result = {"status": status, "error": str(error)}
    except SlotwiseError as error:
        result = {"status": RunStatus.ERROR, "error": f"{type(error).__name__}: {error}"}
    except MemoryError as error:
        result = {"status": RunStatus.OUT_OF_MEMORY, "error": f"MemoryError: {error}"}
    if result["status"] == RunStatus.OUT_OF_MEMORY:
        limit = limit_in_words(memory_limit_of(run))
        result = {**result, "error": f"{result['error']}; {limit}"}
    return {**clock.read(), **result, "status": str(result["status"]), "cpu_model": cpu_model()}


def _run_of_kind(run: PlannedRun, load: Loader, clock: _Clock) -> RunOutcome:
    if run.case.subject == Subject.ALLOCATION:
        return allocated(run, clock)
    problem = load(run)
    if run.kind in EXACT_KINDS:
        return _exact(run, problem, clock)
    return _method(run, problem, load.method(run), clock)


def _failure(error: MethodError) -> RunStatus:
    if isinstance(error.__cause__, MemoryError):
        return RunStatus.OUT_OF_MEMORY
    return RunStatus.TIMEOUT if error.timed_out else RunStatus.CRASHED


def _exact(run: PlannedRun, problem: Problem, clock: _Clock) -> RunOutcome:
    from slotwise.benchmarks.grading.exact_run import solved

    hint = None if run.hint is None else read_placement_text(run.hint)
    result, placement = solved(run, problem, hint, memory_limit_of(run), clock)
    if placement is None:
        return {**result, "placement": None}
    return {**result, "placement": placement_text(placement), **_worth(run, problem, placement)}


def _method(run: PlannedRun, problem: Problem, method: Method, clock: _Clock) -> RunOutcome:
    from slotwise.heuristics.run import run_method, unsupported

    reason = unsupported(problem, method)
    if reason is not None:
        return {"status": RunStatus.DOES_NOT_APPLY, "reason": reason}
    warm(run.method)
    with clock:
        answer = run_method(problem, method, run.seed, _token(run))
    if isinstance(answer, Refusal):
        return {"status": RunStatus.REFUSED, "reason": answer.reason}
    verdict = judge(problem, answer)
    return {
        **(_worth(run, problem, answer) if verdict.valid else {}),
        "status": RunStatus.VALID if verdict.valid else RunStatus.INVALID,
        "terms": [term_of(t.term, t.value, None) for t in verdict.objective],
        "violation_count": len(verdict.violations),
        "violations": [str(v) for v in verdict.violations[:MOST_VIOLATIONS]],
        "placement": placement_text(answer),
    }


def _worth(run: PlannedRun, problem: Problem, placement: Placement) -> RunOutcome:
    if run.assumptions is None:
        return {}
    from slotwise.benchmarks.grading.worth import worth

    return worth(problem, placement, run.assumptions)


def _token(run: PlannedRun) -> CancellationToken | None:
    """Return a token whose clock stands still where seconds must not decide; else ``None``.

    Then limits of states alone bind the methods that have limits of both kinds, Storm's.
    """
    return None if run.work is None else CancellationToken(clock=WorkClock(math.inf))


class _Clock:
    """Wall clock, CPU and peak memory of this process and of the commands it ran.

    As a context manager it measures the block; without one, everything since it was made.
    """

    def __init__(self) -> None:
        self._measured: RunOutcome | None = None
        self._start()

    def _start(self) -> None:
        _reset_peak_memory()
        self._cpu = _cpu_seconds()
        self._wall = time.perf_counter()

    def __enter__(self) -> None:
        self._start()

    def __exit__(self, *_: object) -> None:
        self._measured = self.read()

    def read(self) -> RunOutcome:
        """Return what the block took, or all until now."""
        return self._measured or {
            "wall_s": time.perf_counter() - self._wall,
            "cpu_s": _cpu_seconds() - self._cpu,
            "peak_memory_mb": peak_memory_mb(),
        }


def _cpu_seconds() -> float:
    own, others = (resource.getrusage(who) for who in _WHO)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


_WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_STATUS = "/proc/self/status"
_RESET = "/proc/self/clear_refs"
_PEAK = b"VmHWM:"


def _reset_peak_memory() -> None:
    """Let the peak count from here (Linux); elsewhere it counts from the process's start."""
    # Some containers forbid it, too: then the peak is the whole process's.
    with suppress(OSError), open(_RESET, "wb", buffering=0) as file:
        file.write(b"5")


def peak_memory_mb() -> float:
    """Return the larger peak of this process and of any command it ran."""
    unit = 1 if sys.platform == "darwin" else 1024
    own, others = (resource.getrusage(who).ru_maxrss * unit / 2**20 for who in _WHO)
    with suppress(FileNotFoundError), open(_STATUS, "rb", buffering=0) as file:
        _, label, rest = file.read(1 << 16).partition(_PEAK)
        own = int(rest.split(None, 1)[0]) / 1024 if label else own
    return max(own, others)
