"""Running an engine within the memory of its solve: lack of it ends the engine, nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.memory import COMPILER_BYTES, Memory, MemoryLimitError, RunToken
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status

T = TypeVar("T")


def run_engine(
    engine: Engine, problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter
) -> Outcome:
    """Run an engine; where memory runs short it ends as if its time were over, and that is noted.

    What it told `reporter` by then stands, whatever it returns. The first placement (`BASELINE`) is
    made whatever the limit is: without it there is no answer at all.

    Raises
    ------
    MemoryLimitError
        When there is no memory for what it would build first.
    NotTakenError
        When it does not take the problem.
    """
    if engine.name == BASELINE.name:
        return engine.run(problem, limits, hint, reporter)
    memory = reporter.token.memory
    if engine.compiles and memory is not None and "numba" not in sys.modules:
        memory.check_room(COMPILER_BYTES, "the compiler of its loops", engine.name)
    found, is_short = in_memory(
        engine.name,
        reporter.token,
        lambda token: engine.run(problem, limits, hint, reporter.heeding(token)),
    )
    if found is None:
        return Outcome(Status.UNKNOWN, None, None, (None,) * len(problem.terms), "")
    return replace(found, interrupted=False) if is_short else found


def in_memory(name: str, token: RunToken, work: Callable[[RunToken], T]) -> tuple[T | None, bool]:
    """Call `work`, a search of the engine `name`, with a child of `token`.

    That is cancelled where memory runs short, too.

    Returns
    -------
    tuple[T | None, bool]
        What it returned, ``None`` where an exception ended it; and whether it was lack of memory
        that told it to stop. Searches take that for Ctrl-C: what they say of it does not count.

    Raises
    ------
    MemoryLimitError
        When the limit is passed before it begins, or by what it would build.
    """
    memory, own = token.memory, token.child(engine=name)
    if memory is None:
        return work(own), False
    if memory.left_bytes <= 0:
        memory.free()
    if memory.left_bytes <= 0:
        memory.note(name, f"not started: {_passed(memory)}")
        raise MemoryLimitError(_passed(memory))
    found: T | None = None
    reason = ""
    with memory.running(own):
        try:
            found = work(own)
        except MemoryError as error:
            reason = f"ended because it ran out of memory{_reason(error)}"
        except CancelledError:
            if token.is_cancelled or not own.is_cancelled:
                raise
    if not reason and own.is_cancelled and not token.is_cancelled:
        reason = f"told to stop: {_passed(memory)}"
    if reason:
        memory.note(name, reason)
        memory.free()
    return found, bool(reason)


def _passed(memory: Memory) -> str:
    return f"the process passed its memory limit of {memory.limit_mb:,} MB"


def _reason(error: MemoryError) -> str:
    return f" ({str(error).splitlines()[0]})" if str(error) else ""
