"""The parent of the processes that run solvers and methods: whatever happens there becomes a row.

Runs of our own heuristics follow each other in one process, which is kept from one call to the
next: they share nothing but their instance, which cannot be changed. Exact engines, commands and
methods of other packages get a process of their own for each run, forked from one that has
imported everything (`processes.fork_server`).
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from slotwise.benchmarks.grading.children import child
from slotwise.benchmarks.grading.children.run_process import RunProcess
from slotwise.benchmarks.grading.memory_share import memory_limit_of
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.rows import EXACT_KINDS, Kind, RunOutcome, RunStatus, Subject
from slotwise.heuristics.method_names import SEPARATOR, is_storm
from slotwise.heuristics.ours import HEURISTICS
from slotwise.processes.forked import Server, ServerError

GRACE_S = 15.0
"""A run is killed this long after its limit: compiling, judging and late stopping need time."""

BATCH = 50
"""Most runs that a process is asked for at a time."""

MOST_RUNS = 5_000
"""A process is replaced once this many runs have shared it."""

MOST_GROWTH_MB = 256.0
"""A process that has grown by more since its first run is replaced."""

EXACT_SHARE = 1.25
"""An engine keeps to its limit by itself, and keeps what it has found; above this it is ended."""


def answers(runs: Sequence[PlannedRun], grace_s: float = GRACE_S) -> Iterator[RunOutcome]:
    """Run `runs` in child processes and give the outcome columns of each, in order."""
    children = _taken()
    try:
        at = 0
        while at < len(runs):
            batch = _together(runs, at)
            for answer in children.answers(batch, grace_s):
                at += 1
                yield answer
    except BaseException:
        children.close()
        raise
    _KEPT.append(children)


def shares_process(run: PlannedRun) -> bool:
    """Return whether `run` may follow others in a process: it is our own code, with no solver."""
    if run.kind != Kind.HEURISTIC:
        return False
    ours = run.method.partition(SEPARATOR)[0] in HEURISTICS
    return ours or is_storm(run.method) or run.case.subject == Subject.ALLOCATION


def _together(runs: Sequence[PlannedRun], at: int) -> Sequence[PlannedRun]:
    """Return the runs from `at` on that go to one process."""
    first, end = runs[at], at + 1
    if shares_process(first):
        most = min(len(runs), at + BATCH)
        while end < most and shares_process(runs[end]) and _setting(runs[end]) == _setting(first):
            end += 1
    return runs[at:end]


_Setting = tuple[str | None, int]


def _setting(run: PlannedRun) -> _Setting:
    """Return what runs in one process have in common: folder, memory limit."""
    return run.folder, memory_limit_of(run)


class _Children:
    """A server, and the process of those runs that may follow each other."""

    def __init__(self) -> None:
        self.origin = _origin()
        self._server: Server | None = None
        self._shared: RunProcess | None = None
        self._setting: _Setting | None = None
        self._done = 0
        self._first_mb: float | None = None
        self._is_old = False

    def answers(self, runs: Sequence[PlannedRun], grace_s: float) -> Iterator[RunOutcome]:
        """Give at least one answer: those of a process, then that of its end if it ended early."""
        started = time.monotonic()
        alone = not shares_process(runs[0])
        try:
            process = self._forked(runs[0]) if alone else self._shared_for(runs[0])
            process.ask_for(runs)
            for run in runs:
                answer = process.answer(run.time_limit_s + grace_s)
                if answer is None:
                    if not alone:
                        self._shared = None
                    yield process.last_words(time.monotonic() - started)
                    return
                if alone:
                    process.end()
                else:
                    self._age(answer)
                yield answer
                started = time.monotonic()
        except ServerError as error:
            self.close()
            text = f"the process that starts runs has ended: {error}"
            yield {
                "status": str(RunStatus.CRASHED),
                "error": text,
                "wall_s": time.monotonic() - started,
            }

    def _shared_for(self, run: PlannedRun) -> RunProcess:
        self._leave_dead_server()
        if self._shared is not None and (
            self._is_old or self._setting != _setting(run) or self._shared.has_ended()
        ):
            self._shared.end()
            self._shared = None
        if self._shared is None:
            self._shared = self._forked(run)
            self._setting, self._is_old = _setting(run), False
            self._done, self._first_mb = 0, None
        return self._shared

    def _leave_dead_server(self) -> None:
        """Leave a server that ended while nothing was asked of it: no run is to blame."""
        if self._server is not None and not self._server.is_running:
            self.close()

    def _forked(self, run: PlannedRun) -> RunProcess:
        self._leave_dead_server()
        if self._server is None:
            self._server = Server(child.main, self.origin[0])
        limit_mb = memory_limit_of(run)
        allowed = limit_mb * (EXACT_SHARE if run.kind in EXACT_KINDS else 1.0)
        return RunProcess(self._server, Kind(run.kind), run.folder, limit_mb, allowed)

    def _age(self, answer: RunOutcome) -> None:
        """Count a run of the shared process."""
        self._done += 1
        peak = answer.get("peak_memory_mb") or 0.0
        self._first_mb = peak if self._first_mb is None else self._first_mb
        self._is_old = self._done >= MOST_RUNS or peak > self._first_mb + MOST_GROWTH_MB

    def close(self) -> None:
        """End all processes."""
        if self._shared is not None:
            self._shared.close()
            self._shared = None
        if self._server is not None:
            self._server.close()
            self._server = None


_Origin = tuple[dict[str, str], tuple[str, ...]]


def _origin() -> _Origin:
    """Return what a server takes from this process when it starts: environment, import path."""
    return run_environment(os.environ), tuple(sys.path)


def run_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of runs: the user's, with few changes.

    Strings hash the same way every time; commands in Python find what lies beside them.
    """
    variables = {key: value for key, value in inherited.items() if key != "PYTHONSAFEPATH"}
    return {**variables, "PYTHONHASHSEED": "0"}


_KEPT: list[_Children] = []
"""Those of earlier calls: a Python worker of Spark does one task after another."""


def _taken() -> _Children:
    """Return kept children that fit this process as it is now, else new ones."""
    while _KEPT:
        children = _KEPT.pop()
        if children.origin == _origin():
            return children
        children.close()
    return _Children()


def _close_kept() -> None:
    while _KEPT:
        _KEPT.pop().close()


atexit.register(_close_kept)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_KEPT.clear)  # they are the other's
