"""The exit codes of answers that do not know about exit codes."""

from __future__ import annotations

from slotwise.api.allocating import Allocated
from slotwise.api.explanations.answers import (
    Explained,
    ExplainedComparison,
    ExplainedInstance,
    ExplainedMethod,
)
from slotwise.api.running.rebalanced import Rebalanced
from slotwise.api.running.sparing import Spare
from slotwise.api.scheduling import Scheduled
from slotwise.cli.exits import Exit
from slotwise.solver.allocation.answer import Outcome
from slotwise.solver.core.result import Status

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


def rebalanced_code(done: Rebalanced) -> Exit:
    """Return the exit code of a rebalancing: failed where a rule is broken or no order found."""
    if done.front is not None and done.front.interrupted:
        return Exit.INTERRUPTED
    if done.plan is None:
        return Exit.NO_ANSWER if done.status == Status.UNKNOWN else Exit.FAILED
    return Exit.FAILED if done.violations or not done.plan.is_ordered else Exit.DONE


def spared_code(spare: Spare) -> Exit:
    """Return the exit code of ``rebalance --spare``: failed where a loss leaves tasks placeless."""
    codes = {"placed": Exit.DONE, "open": Exit.NO_ANSWER, "impossible": Exit.FAILED}
    return codes[spare.worst]


def explained_code(answer: Explained) -> Exit:
    """Return the exit code of an explanation: that of ``solve``, ``place`` or ``judge``."""
    if isinstance(answer, ExplainedInstance):
        result = answer.result
        if result is not None and result.interrupted and result.status is not Status.OPTIMAL:
            return Exit.INTERRUPTED
        if answer.status is Status.INFEASIBLE:
            return Exit.FAILED
        return Exit.NO_ANSWER if answer.placement is None else Exit.DONE
    if isinstance(answer, ExplainedMethod):
        if not answer.run.failed:
            return Exit.DONE
        return Exit.NO_ANSWER if answer.missed_placement is None else Exit.FAILED
    if isinstance(answer, ExplainedComparison):
        both = (answer.comparison.first, answer.comparison.second)
        return Exit.DONE if all(one.verdict.valid for one in both) else Exit.FAILED
    return Exit.DONE if answer.split.verdict.valid else Exit.FAILED
