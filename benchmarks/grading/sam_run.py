"""One run on an allocation case: plan, check slot by slot; the outcome columns of its row."""

from __future__ import annotations

from contextlib import AbstractContextManager
from fractions import Fraction

from slotwise.benchmarks.grading.environment import SLOT_SOLVERS, versions
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.rows import (
    MOST_VIOLATIONS,
    PROVEN,
    Kind,
    RunOutcome,
    RunStatus,
    term_of,
)
from slotwise.models.allocation.case import AllocationCase, case_from_text, case_hash
from slotwise.models.allocation.check import Failure
from slotwise.models.errors import SlotwiseError
from slotwise.models.families.registry import ALLOCATION_FAMILIES
from slotwise.models.values import short_text

TERM = "slots"
"""The one term of an allocation."""


def allocated(run: PlannedRun, clock: AbstractContextManager[None]) -> RunOutcome:
    """Return the outcome columns of a pair or of the optimum; `clock` measures the call.

    A pair's seconds are those of its plan alone. The optimum's hold the check of its plan, which
    takes about a thousandth of a second.
    """
    from slotwise.solver.allocation import Question, Setting, allocate

    case = load_case(run)
    question = Question(case.dataflow, case.models, case.rate)
    with clock:
        answer = allocate(question, run.method, Setting(time_limit_s=run.time_limit_s))
    exact = run.kind == Kind.EXACT
    if exact and run.work is not None and str(answer.outcome) not in PROVEN:
        rule = "without a proof when its safety limit came; run it again on a less busy machine"
        return {"status": RunStatus.TIMEOUT, "error": rule}
    terms = [term_of(TERM, _fraction(answer.slots), _fraction(answer.bound))]
    result: RunOutcome = {
        "status": _STATUSES[str(answer.outcome)] if not exact else RunStatus(str(answer.outcome)),
        "terms": None if answer.slots is None and answer.bound is None else terms,
        "reason": answer.reason or None,
    }
    if exact:
        return {**result, "engine": _engine(), "gap": answer.gap}
    supported = answer.prediction()
    if answer.failures and supported is not None and supported.safe_limit is not None:
        rates = short_text(supported.safe_limit.rate), short_text(case.rate)
        result["reason"] = f"supports {rates[0]} of {rates[1]} tuples/s"
    worst = sorted(answer.failures, key=_excess, reverse=True)
    return {
        **result,
        "violation_count": len(answer.failures),
        "violations": [violation_text(one) for one in worst[:MOST_VIOLATIONS]],
        "wall_s": answer.seconds,
    }


_STATUSES = {
    "feasible": RunStatus.VALID,
    "violated": RunStatus.INVALID,
    "refused": RunStatus.REFUSED,
    "unknown": RunStatus.TIMEOUT,
}


def _excess(failure: Failure) -> Fraction:
    """Return how many times what there is would be needed; without anything, very many."""
    return failure.needed / max(failure.available, Fraction(1, 10**6))


def violation_text(failure: Failure) -> str:
    """Return a rule that a plan breaks, as violations of placements are written: rule first."""
    whose = "" if failure.task is None else f"task {failure.task}"
    where = ", ".join(part for part in (failure.place, whose) if part)
    return f"{failure.rule}: {where} {failure.shortage}"


def load_case(run: PlannedRun) -> AllocationCase:
    """Return the case of `run`; a family's is made again from its index.

    Raises
    ------
    SlotwiseError
        When the family makes another case here than where the grading was planned.
    """
    case = run.case
    if case.family is None or case.index is None:
        return case_from_text(case.text)
    generated = ALLOCATION_FAMILIES[case.family].make(case.index, run.case_seed)
    if (actual_hash := case_hash(generated)) != case.hash:
        raise SlotwiseError(
            f"{case.family} gives {actual_hash} here, but {case.hash} was planned: "
            "the machines have different versions of slotwise"
        )
    return generated


def _engine() -> str:
    installed = versions()
    return ", ".join(
        ("slots", *(f"{name} {installed[name]}" for name in SLOT_SOLVERS if name in installed))
    )


def _fraction(number: int | None) -> Fraction | None:
    return None if number is None else Fraction(number)
