"""One proof alone: an engine in a child process of its own, on one core, with its peak memory.

As a module it is that child: a request (JSON) on stdin, an answer (JSON) on stdout.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_text, instance_text
from slotwise.models.values import known, plain
from slotwise.processes.child import command_of, exchange, take_stdout
from slotwise.processes.pipes import last_line

if TYPE_CHECKING:
    from slotwise.solver.core.engine import Engine

GRACE_S = 60.0
"""Seconds after its limit when a child is killed: it reads, builds its model and may stop late."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")

Document = dict[str, Any]
"""What goes to the child and back, as JSON."""

Values = list[float]
"""Of each term of the objective, in the instance's units."""


@dataclass(frozen=True, slots=True)
class MeasuredTerm:
    """Value and bound of a term in the instance's units; ``None`` = there is none."""

    term: str
    value: int | float | None
    bound: int | float | None


NO_TERM = MeasuredTerm("-", None, None)
"""Of what has no objective."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one engine on one instance.

    Parameters
    ----------
    instance, tasks, nodes
        Which instance, and its size.
    engine
        As asked; `by` says which engines and versions answered.
    status
        As in `Status`; ``refused`` where the engine does not take the instance, ``killed`` where
        it did not stop in time, ``crashed`` where its process died.
    objective
        term, value and bound of each term, judged, in the instance's units.
    gap
        Of the first term that is not proven; ``None`` where value or bound is missing.
    seconds
        Wall clock of compiling, solving and judging, without starting, importing and reading.
    cpu_s
        CPU time of the same; ``None`` where the process died.
    improvements
        When each better placement was found, seconds since the solve began, and its values.
    memory_mb
        Peak of the child process; ``None`` where it died.
    limit_s
        Its time limit.
    notes
        What lack of memory ended or left out, as in `Result`.
    error
        Why there is no answer; empty otherwise.
    """

    instance: str
    tasks: int
    nodes: int
    engine: str
    by: str
    status: str
    objective: tuple[MeasuredTerm, ...]
    gap: float | None
    seconds: float
    memory_mb: float | None
    limit_s: float
    error: str = ""
    notes: tuple[str, ...] = ()
    cpu_s: float | None = None
    improvements: tuple[tuple[float, Values], ...] = ()

    @property
    def proven(self) -> bool:
        """Whether the instance is closed."""
        return self.status in ("optimal", "infeasible")

    @property
    def first_open(self) -> MeasuredTerm | None:
        """The first term that is not proven, else the last one."""
        for term in self.objective:
            if term.value is None or term.value != term.bound:
                return term
        return self.objective[-1] if self.objective else None

    def to_document(self) -> Document:
        """Return JSON-ready data."""
        return asdict(self)


def measure(
    instance: Instance,
    engine: str,
    time_limit_s: float,
    seed: int = 0,
    *,
    workers: int = 1,
    memory_limit_mb: int | None = None,
) -> Measured:
    """Solve `instance` in a process of its own.

    Parameters
    ----------
    instance
        What to solve.
    engine
        A name of `ENGINES`, ``auto``, or one of the yardsticks in `textbook_solvers`.
    time_limit_s, seed, workers, memory_limit_mb
        For the engine, as in `solve`.

    Raises
    ------
    InputError
        When there is no such engine, or a limit or the seed is out of range.
    """
    from slotwise.solver.core.limited import checked_limits

    check_engine(engine)
    checked_limits(time_limit_s, workers, seed, memory_limit_mb)
    request: Document = {
        "instance": instance_text(instance),
        "engine": engine,
        "time_limit_s": time_limit_s,
        "seed": seed,
        "workers": workers,
        "memory_limit_mb": memory_limit_mb,
    }
    started = time.perf_counter()
    done = exchange(
        command_of(main),
        json.dumps(request).encode(),
        {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0"},
        time_limit_s + GRACE_S,
    )
    answer, status = None, "killed" if done.timed_out else "crashed"
    if done.timed_out:
        error = "still running long after its limit"
    elif done.code == 0:
        answer = json.loads(done.stdout)
    else:
        error = last_line(done.stderr) or f"exit code {done.code}"
    if answer is None:
        answer = {
            "by": "", "status": status, "objective": [], "gap": None, "error": error,
            "seconds": time.perf_counter() - started, "memory_mb": None,
        }  # fmt: skip
    answer["objective"] = tuple(MeasuredTerm(**term) for term in answer["objective"])
    answer["notes"] = tuple(answer.get("notes", ()))
    answer["improvements"] = tuple((at, values) for at, values in answer.get("improvements", ()))
    return Measured(
        instance=instance.name,
        tasks=len(instance.task_names()),
        nodes=len(instance.cluster.nodes),
        engine=engine,
        limit_s=time_limit_s,
        **answer,
    )


def check_engine(engine: str, field: str = "engine") -> None:
    """Refuse what is neither ``auto``, an engine nor a yardstick."""
    from slotwise.benchmarks.grading.names import AUTO
    from slotwise.solver.engines import ENGINES

    known(engine, (AUTO, *ENGINES, *_yardsticks()), field)


def _yardsticks() -> Mapping[str, Engine]:
    """Return the yardsticks by name; the parent does not load them before it needs them."""
    from slotwise.benchmarks.experiments.proofs.textbook_solvers import (
        PARTITION_TEXTBOOKS,
        TEXTBOOKS,
    )

    return TEXTBOOKS | PARTITION_TEXTBOOKS


def main() -> None:
    """Answer the request on stdin; what solvers print goes to stderr."""
    out = take_stdout()
    _use_one_core()
    out.write(json.dumps(_answer(json.load(sys.stdin))))
    out.close()


def _use_one_core() -> None:
    """Stay on the last core that this process may use, if the system allows it."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _answer(request: Document) -> Document:
    from slotwise.benchmarks.grading.preload import preload
    from slotwise.benchmarks.grading.rows import Kind
    from slotwise.benchmarks.grading.run import peak_memory_mb
    from slotwise.solver.core.not_taken import UntakenError

    preload(Kind.EXACT)
    instance = instance_from_text(request["instance"])
    started, cpu_before = time.perf_counter(), time.process_time()
    try:
        document = _solved(instance, request)
    except UntakenError as error:
        document = {
            "by": "",
            "status": "refused",
            "objective": [],
            "gap": None,
            "error": str(error),
        }
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu_before
    return {**document, "seconds": seconds, "cpu_s": cpu_s, "memory_mb": peak_memory_mb()}


def _solved(instance: Instance, request: Document) -> Document:
    from slotwise.solver.core.progress import Event, Progress
    from slotwise.solver.solve import solve

    improvements: list[tuple[float, Values]] = []

    def note(progress: Progress) -> None:
        if progress.event is Event.PLACEMENT and progress.values is not None:
            improvements.append((progress.seconds, [plain(value) for value in progress.values]))

    names = ("time_limit_s", "seed", "workers", "memory_limit_mb")
    engine = _yardsticks().get(request["engine"]) or request["engine"]
    options = {name: request[name] for name in names}
    result = solve(instance, engine=engine, on_progress=note, **options)
    return {
        "by": f"{result.engine} ({result.version})",
        "status": str(result.status),
        "objective": [
            {
                "term": t.term,
                "value": None if t.value is None else plain(t.value),
                "bound": None if t.bound is None else plain(t.bound),
            }
            for t in result.objective
        ],
        "gap": result.gap,
        "error": "",
        "notes": result.notes,
        "improvements": improvements,
    }
