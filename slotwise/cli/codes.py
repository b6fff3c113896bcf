"""The exit codes of answers that do not know about exit codes."""

from __future__ import annotations

from slotwise.api.allocating import Allocated
from slotwise.api.scheduling import Scheduled
from slotwise.cli.exits import Exit
from slotwise.solver.allocation.answer import Outcome

_CODES = {
    Outcome.OPTIMAL: Exit.DONE,
    Outcome.FEASIBLE: Exit.DONE,
    Outcome.UNKNOWN: Exit.NO_ANSWER,
}


def scheduled_code(scheduled: Scheduled) -> Exit:
    """Return the exit code of a round: failed where a topology is refused or a rule broken."""
    if scheduled.exact is not None and scheduled.exact.interrupted:
        return Exit.INTERRUPTED
    return Exit.FAILED if scheduled.done.refused or not scheduled.valid else Exit.DONE


def allocated_code(allocated: Allocated) -> Exit:
    """Return the exit code of answers: that of the worst one."""
    codes = {_CODES.get(answer.outcome, Exit.FAILED) for answer in allocated.answers}
    return next(code for code in (Exit.FAILED, Exit.NO_ANSWER, Exit.DONE) if code in codes)
