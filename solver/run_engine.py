"""Running one engine within the memory of its solve: lack of it ends the engine, nothing else."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.engine import Engine
from slotwise.solver.memory import Memory, MemoryLimitError, this_memory
from slotwise.solver.result import Limits, Outcome, Status
from slotwise.solver.stopping import Stop, heeding, is_stop_requested, this_stop
from slotwise.solver.watch import Watch


def run_engine(
    engine: Engine, problem: Problem, limits: Limits, hint: Placement | None, watch: Watch
) -> Outcome:
    """Run an engine; where memory runs short it ends as if its time were over, and that is noted.

    What it told `watch` by then stands, whatever it returns. The first placement (`BASELINE`) is
    made whatever the limit is: without it there is no answer at all.

    Raises
    ------
    MemoryLimitError
        When there is no memory for what it would build first.
    NotTakenError
        When it does not take the problem.
    """
    memory = this_memory()
    if memory is None or engine is BASELINE:
        return engine.run(problem, limits, hint, watch)
    if memory.left_bytes <= 0:
        memory.free()
    if memory.left_bytes <= 0:
        memory.note(engine.name, f"not begun, for {_passed(memory)}")
        raise MemoryLimitError(_passed(memory))
    stop = Stop(this_stop())
    found: Outcome | None = None
    said = ""
    with memory.running(engine.name, stop):
        try:
            with heeding(stop):
                found = engine.run(problem, limits, hint, watch)
        except MemoryError as error:
            said = f"ended, for the system gave it no more memory ({_reason(error)})"
        except KeyboardInterrupt:
            if is_stop_requested() or not stop.requested:
                raise
    is_done = found is not None and found.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if not said and not is_done and stop.requested and not is_stop_requested():
        said = f"ended, for {_passed(memory)}"
    if not said:
        assert found is not None, "nothing but itself ended it"
        return found
    memory.note(engine.name, said)
    memory.free()
    if found is None:
        return Outcome(Status.UNKNOWN, None, None, (None,) * len(problem.terms), "")
    return replace(found, interrupted=False)


def _passed(memory: Memory) -> str:
    return f"the process passed its memory limit of {memory.limit_mb:,} MB"


def _reason(error: MemoryError) -> str:
    return str(error).splitlines()[0] if str(error) else "MemoryError"
