"""Any method on any dataflow: the one function that runs it and has its plan checked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from slotwise.heuristics.sam.allocations import Refused
from slotwise.heuristics.sam.pairs import PAIRS, find_pair, plan
from slotwise.models.allocation.check import check
from slotwise.models.allocation.demand import task_demands
from slotwise.models.allocation.load import Routing, Scaling
from slotwise.models.allocation.vm import DEFAULT_SIZES, VmSize, offered_slots
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InputError, InternalError
from slotwise.models.suggestion import suggestion
from slotwise.solver.allocation.answer import Answer, Outcome, Question
from slotwise.solver.allocation.optimum import seated, unlimited
from slotwise.solver.core.result import Status
from slotwise.solver.slots.curve import slots_curve
from slotwise.solver.slots.problem import Variant
from slotwise.solver.slots.result import SlotResult
from slotwise.solver.slots.solve import PLAIN, Offer, SlotSolver

OPTIMAL = "optimal"
METHODS = (OPTIMAL, *PAIRS)
"""The optimum and the published pairs, by name."""

TIME_LIMIT_S = 60.0
OUT_OF_TIME = "no plan was found within the time limit; give it more (--time-limit)"


@dataclass(frozen=True, slots=True)
class Setting:
    """How methods run.

    Parameters
    ----------
    vm_sizes
        VMs that can be had.
    time_limit_s
        Wall-clock limit of the search for a plan, for all rates of a method together. What is
        found is checked beyond it.
    variant
        Rules of the optimum; no matter to the pairs.
    shuffle
        Whether tuples will be routed by shuffle grouping, whatever the method expects: plans are
        checked under it, and the optimum is that under it.
    """

    vm_sizes: tuple[VmSize, ...] = DEFAULT_SIZES
    time_limit_s: float = TIME_LIMIT_S
    variant: Variant = PLAIN
    shuffle: bool = False

    def __post_init__(self) -> None:
        """Refuse an empty list of sizes."""
        if not self.vm_sizes:
            raise InputError("must name at least one VM size", field="vm sizes", has_value=False)
        if self.shuffle:
            shuffled = replace(self.variant, routing=Routing.SHUFFLE)
            object.__setattr__(self, "variant", shuffled)

    @property
    def scaling(self) -> Scaling:
        """How CPU and memory of the optimum's bundles depend on the rate."""
        return Scaling.PROPORTIONAL if self.variant.scaled else Scaling.FULL


PLAIN_SETTING = Setting()


def allocate(
    question: Question,
    method: str = OPTIMAL,
    setting: Setting = PLAIN_SETTING,
    token: CancellationToken | None = None,
) -> Answer:
    """Return what `method` makes of `question`.

    The plan is checked slot by slot at its rate, under the routing that the method expects.

    Parameters
    ----------
    token
        Ends the search; the optimum then answers with what it has, a pair without a plan.
        ``None`` = the time limit alone does.

    Raises
    ------
    InputError
        For a method that is not there, a rate that is not above 0, a model that is missing or
        supports no tuples, and a bundle of one thread over 100 % memory.
    InternalError
        Where the plan of the optimum fails the check.
    """
    (answer,) = allocate_all(question, (question.rate,), method, setting, token)
    return answer


def allocate_all(
    question: Question,
    rates: Sequence[Fraction],
    method: str = OPTIMAL,
    setting: Setting = PLAIN_SETTING,
    token: CancellationToken | None = None,
) -> list[Answer]:
    """Return what `method` makes of `question` at each of `rates`; see `allocate`.

    The optimum carries its bounds from rate to rate.
    """
    if method not in METHODS:
        raise InputError(suggestion(method, METHODS), field="method", value=method)
    questions = [replace(question, rate=rate) for rate in rates]
    for one in questions:
        task_demands(one.dataflow, one.models, one.rate)  # refuses alike, whatever the method
    if method == OPTIMAL:
        return _optima(questions, setting, token or CancellationToken())
    limit = limited(setting, token or CancellationToken())
    return [_by_pair(one, method, setting, limit) for one in questions]


def with_bounds(answers: Sequence[Answer], optima: Sequence[Answer]) -> list[Answer]:
    """Return `answers` with the bounds of the optima of the same questions."""
    return [
        replace(answer, bound=optimum.bound)
        for answer, optimum in zip(answers, optima, strict=True)
    ]


def limited(setting: Setting, parent: CancellationToken) -> CancellationToken:
    """Return a token that ends a search by the time limit of `setting`, from now on."""
    return parent.child(time.perf_counter() + setting.time_limit_s)


def _by_pair(question: Question, method: str, setting: Setting, token: CancellationToken) -> Answer:
    pair = find_pair(method)
    begin = time.perf_counter()
    found = None
    with suppress(CancelledError):
        found = plan(
            question.dataflow,
            question.models,
            question.rate,
            pair,
            vm_sizes=setting.vm_sizes,
            token=token,
        )
    seconds = time.perf_counter() - begin
    routing = Routing.SHUFFLE if setting.shuffle else pair.routing
    blank = Answer(
        question, method, routing, Scaling.PROPORTIONAL, Outcome.REFUSED, seconds=seconds
    )
    if found is None:
        return replace(blank, outcome=Outcome.UNKNOWN, reason=OUT_OF_TIME)
    if isinstance(found, Refused):
        return replace(blank, reason=found.reason)
    answer = replace(blank, plan=found.plan, slots=found.needed, estimate=found.estimate)
    return _checked(answer, Outcome.FEASIBLE)


def _optima(
    questions: Sequence[Question], setting: Setting, parent: CancellationToken
) -> list[Answer]:
    if not questions:
        return []
    token = limited(setting, parent)
    first = questions[0]
    offer = Offer(unlimited(setting.vm_sizes))
    solver = SlotSolver(first.dataflow, first.models, setting.variant, offer)
    if len(questions) == 1:
        results = [solver.fewest_slots(first.rate, token=token)]
    else:
        results = slots_curve(solver, [one.rate for one in questions], token=token)
    return [_optimum(*pair, setting) for pair in zip(questions, results, strict=True)]


def _optimum(question: Question, result: SlotResult, setting: Setting) -> Answer:
    blank = Answer(
        question,
        OPTIMAL,
        setting.variant.routing,
        setting.scaling,
        Outcome.UNKNOWN,
        bound=result.bound,
        reason=OUT_OF_TIME,
        seconds=result.seconds,
    )
    offered = offered_slots(setting.vm_sizes)
    if offered is not None and result.bound > offered:
        reason = f"needs {result.bound} slots or more; the VMs have {offered}"
        return replace(blank, outcome=Outcome.INFEASIBLE, reason=reason)
    made = None if result.plan is None else seated(result.plan, setting.vm_sizes)
    if made is None:
        return blank
    proven = result.status is Status.OPTIMAL
    answer = replace(blank, plan=made, slots=result.slots, reason="")
    return checked_optimum(answer, Outcome.OPTIMAL if proven else Outcome.FEASIBLE)


def checked_optimum(answer: Answer, passed: Outcome) -> Answer:
    """Return `answer` with `passed` as its outcome.

    Raises
    ------
    InternalError
        Where its plan fails the check.
    """
    checked = _checked(answer, passed)
    if checked.failures:
        raise InternalError(f"the optimum's plan fails its check: {checked.failures[0]}")
    return checked


def _checked(answer: Answer, passed: Outcome) -> Answer:
    """Return `answer` with the failures of its plan; `passed` is its outcome where none are."""
    assert answer.plan is not None
    failures = check(
        answer.plan,
        answer.question.dataflow,
        answer.question.models,
        answer.routing,
        scaling=answer.scaling,
    )
    outcome = Outcome.VIOLATED if failures else passed
    return replace(answer, failures=failures, outcome=outcome)
