"""Slots for a dataflow by any method: the five published pairs, or the optimum.

`allocate` gives a method a dataflow, performance models and a rate, and has its plan checked slot
by slot, whoever made it; an `Answer` is what comes out: the plan, whether it reaches its rate, what
fails, and how many slots are needed at least.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from itertools import chain
from typing import Any

from slotwise.heuristics.sam.allocations import Refused
from slotwise.heuristics.sam.pairs import PAIRS, find_pair, plan
from slotwise.models.allocation.check import Failure, check
from slotwise.models.allocation.load import Routing, Scaling, task_demands
from slotwise.models.allocation.plan import DEFAULT_SIZES, Plan, Slot, Vm, VmSize, offered_slots
from slotwise.models.allocation.prediction import (
    Limit,
    Prediction,
    Usage,
    predict,
    slot_usage,
    vm_usage,
)
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError, InternalError, suggestion
from slotwise.models.performance.model import PerformanceModel
from slotwise.models.values import plain, short_text
from slotwise.solver.core.result import Status
from slotwise.solver.slots.curve import slots_curve
from slotwise.solver.slots.problem import Variant
from slotwise.solver.slots.result import RateResult, SlotResult
from slotwise.solver.slots.solve import PLAIN, Offer, SlotSolver, choose

# Any method on any dataflow: the one function that runs it and has its plan checked.

OPTIMAL = "optimal"
METHODS = (OPTIMAL, *PAIRS)
"""The optimum and the published pairs, by name."""

TIME_LIMIT_S = 60.0
NOT_FOUND = "no plan was found for these slots, nor a proof that there is none"
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
    result = None
    with suppress(CancelledError):
        result = plan(
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
    if result is None:
        return replace(blank, outcome=Outcome.UNKNOWN, reason=OUT_OF_TIME)
    if isinstance(result, Refused):
        return replace(blank, reason=result.reason)
    answer = replace(blank, plan=result.plan, slots=result.needed, estimate=result.estimate)
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
    if result.plan is None:
        return blank
    plan = seated(result.plan, setting.vm_sizes)
    if plan is None:
        rule = f"the plan that was found needs {result.slots} slots, and the VMs have {offered}"
        return replace(blank, reason=f"{rule}; that {result.bound} suffice is not ruled out")
    proven = result.status is Status.OPTIMAL
    answer = replace(blank, plan=plan, slots=result.slots, reason="")
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


# The highest rate that a number of slots, or the available VMs, support.

STEP = Fraction(1)


def highest_rate(
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    slots: int | None = None,
    setting: Setting = PLAIN_SETTING,
    *,
    step: Fraction = STEP,
    token: CancellationToken | None = None,
) -> Answer:
    """Return the plan of the highest multiple of `step` that `slots` slots support.

    The answer's question has the rate, 0 where there is no plan; its `bound_rate` is proven.

    Parameters
    ----------
    slots
        At least 1; ``None`` = all that the VMs of `setting` have.
    step
        Above 0, tuples/s.
    token
        Ends the search with what it has; ``None`` = the time limit alone does.

    Raises
    ------
    InputError
        As `run.allocate` does, where neither `slots` nor the number of VMs is given, where the VMs
        have fewer slots, and where no task receives tuples: any rate is supported.
    InternalError
        Where the plan fails its check.
    """
    most = _most_slots(slots, setting)
    task_demands(dataflow, models, step if step > 0 else STEP)  # refuses as for every method
    solver = SlotSolver(dataflow, models, setting.variant, Offer(unlimited(setting.vm_sizes)))
    ends = limited(setting, token or CancellationToken())
    result = solver.highest_rate(most, step=step, token=ends)
    blank = Answer(
        Question(dataflow, models, result.rate),
        OPTIMAL,
        setting.variant.routing,
        setting.scaling,
        Outcome.UNKNOWN,
        bound_rate=result.bound,
        reason=OUT_OF_TIME if ends.is_cancelled else NOT_FOUND,
        seconds=result.seconds,
    )
    if result.bound == 0:
        reason = f"{most} slots support no multiple of {short_text(step)} tuples/s"
        return replace(blank, outcome=Outcome.INFEASIBLE, reason=reason)
    return blank if result.plan is None else _planned(blank, result, setting)


def _planned(blank: Answer, result: RateResult, setting: Setting) -> Answer:
    assert result.plan is not None
    plan = seated(result.plan, setting.vm_sizes)
    assert plan is not None, "the plan has at most the slots that the VMs have"
    proven = result.status is Status.OPTIMAL
    answer = replace(blank, plan=plan, slots=len(plan.slots), reason="")
    return checked_optimum(answer, Outcome.OPTIMAL if proven else Outcome.FEASIBLE)


def _most_slots(slots: int | None, setting: Setting) -> int:
    offered = offered_slots(setting.vm_sizes)
    most = offered if slots is None else slots
    if most is None:
        rule = "must be given, or how many VMs of each size there are (available), or a rate"
        raise InputError(rule, field="slots", has_value=False)
    if most < 1:
        raise InputError("must be at least 1", field="slots", value=most)
    if offered is not None and most > offered:
        raise InputError(f"the VMs have {offered} slots", field="slots", value=most)
    return most


# The optimum of `solver.slots`, on VMs whose number may be limited.


def unlimited(sizes: Sequence[VmSize]) -> tuple[VmSize, ...]:
    """Return the sizes as if any number of each could be had."""
    return tuple(replace(size, available=None) for size in sizes)


def seated(plan: Plan, sizes: Sequence[VmSize]) -> Plan | None:
    """Return `plan` on the cheapest, then the fewest VMs that can be had.

    The slots keep their bundles and change their places. ``None`` where the VMs have fewer slots.

    Parameters
    ----------
    plan
        Made for `unlimited` sizes.
    """
    if all(size.available is None for size in sizes):
        return plan
    needed = len(plan.slots)
    offered = offered_slots(sizes)
    if offered is not None and offered < needed:
        return None
    vms = _renamed(choose(needed, _all_that_may_serve(needed, sizes)))
    places = chain.from_iterable(((vm.name, k) for k in range(vm.size.slots)) for vm in vms)
    slots = tuple(
        replace(slot, vm=vm, index=index)
        for slot, (vm, index) in zip(plan.slots, places, strict=False)
    )
    return Plan(plan.rate, vms, slots)


def _all_that_may_serve(slots: int, sizes: Sequence[VmSize]) -> list[Vm]:
    """Return VMs among which the best for `slots` slots are, the largest first."""
    vms = []
    for size in sorted(sizes, key=lambda one: -one.slots):
        enough = math.ceil(Fraction(slots, size.slots))
        count = enough if size.available is None else min(enough, size.available)
        vms += [Vm("", size)] * count
    return vms


def _renamed(vms: Sequence[Vm]) -> tuple[Vm, ...]:
    return tuple(replace(vm, name=f"vm-{number}") for number, vm in enumerate(vms, 1))


# What a method answers: a plan with the verdict of the check, or why there is none.


class Outcome(StrEnum):
    """How a method ended."""

    OPTIMAL = "optimal"
    """The plan passes the check, and no plan of fewer slots does."""
    FEASIBLE = "feasible"
    """The plan passes the check."""
    VIOLATED = "violated"
    """The plan does not reach its rate, or uses more CPU or memory than a slot has."""
    REFUSED = "refused"
    """A published method gives no plan."""
    INFEASIBLE = "infeasible"
    """Proven: the VMs have too few slots."""
    UNKNOWN = "unknown"
    """No plan was found within the time limit, nor a proof that there is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is to run: a dataflow with performance models, at a rate.

    Parameters
    ----------
    dataflow
        The DAG.
    models
        Name -> performance model.
    rate
        Of the dataflow's sources, tuples/s, above 0.
    """

    dataflow: Dataflow
    models: Mapping[str, PerformanceModel]
    rate: Fraction


@dataclass(frozen=True, slots=True)
class Answer:
    """A method's answer.

    Parameters
    ----------
    question
        What was asked.
    method
        Who answers, see `run.METHODS`.
    routing, scaling
        How the method expects tuples to be routed, and CPU and memory to depend on the rate.
    outcome
        See `Outcome`.
    plan
        Bundles on slots; ``None`` where there is none.
    slots
        Slots that the plan needs: for a pair those on which its mapping succeeded, some of which
        it may leave empty. ``None`` without a plan.
    estimate
        Slots that the pair's allocation estimates; ``None`` for the optimum and without a plan.
    bound
        Proven: no plan with fewer slots passes the check. ``None`` where nothing is proven.
    bound_rate
        Where the highest rate was asked for: proven, no higher multiple of the step is supported.
        ``None`` where the rate was given.
    failures
        What the check finds at the plan's rate.
    reason
        Why there is no plan, one line; empty where there is one.
    seconds
        Wall clock of the method alone.
    """

    question: Question
    method: str
    routing: Routing
    scaling: Scaling
    outcome: Outcome
    plan: Plan | None = None
    slots: int | None = None
    estimate: int | None = None
    bound: int | None = None
    bound_rate: Fraction | None = None
    failures: tuple[Failure, ...] = ()
    reason: str = ""
    seconds: float = 0.0

    @property
    def gap(self) -> float | None:
        """(slots - bound) / slots; ``None`` without one of them."""
        if self.slots is None or self.bound is None:
            return None
        return (self.slots - self.bound) / self.slots if self.slots else 0.0

    def prediction(self, routing: Routing | None = None) -> Prediction | None:
        """Return what the plan supports; ``None`` without a plan.

        Parameters
        ----------
        routing
            ``None`` = the method's own.
        """
        if self.plan is None:
            return None
        dataflow, models = self.question.dataflow, self.question.models
        routing = routing or self.routing
        return predict(self.plan, dataflow, models, routing, scaling=self.scaling)

    def usage(self) -> dict[Slot, Usage]:
        """Return what each slot in use uses at the plan's rate, under the method's routing."""
        if self.plan is None:
            return {}
        dataflow, models = self.question.dataflow, self.question.models
        rate = self.question.rate
        return slot_usage(self.plan, dataflow, models, self.routing, rate, scaling=self.scaling)


# An allocation's answer as JSON-ready data: what ``allocate --json`` prints of each rate.


def answer_document(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON-ready data."""
    plan = answer.plan
    own, shuffled = answer.prediction(), answer.prediction(Routing.SHUFFLE)
    return {
        "dataflow": answer.question.dataflow.name,
        "rate": plain(answer.question.rate),
        "bound_rate": _number(answer.bound_rate),
        "method": answer.method,
        "status": str(answer.outcome),
        "reason": answer.reason or None,
        "slots": answer.slots,
        "bound": answer.bound,
        "gap": answer.gap,
        "estimate": answer.estimate,
        "acquired": None if plan is None else sum(vm.size.slots for vm in plan.vms),
        "threads": {} if plan is None else dict(plan.threads),
        "vms": _vms(answer),
        "price": None if plan is None else plain(plan.price),
        "routing": str(answer.routing),
        "predicted_rate": _number(None if own is None else own.rate),
        "safe_rate": _number(None if own is None else own.safe_rate),
        "limit": None if own is None else _limit(own.safe_limit),
        "shuffle": None if shuffled is None else _prediction(shuffled),
        "failures": [_failure(one) for one in answer.failures],
        "mapping": _mapping(answer),
        "seconds": round(answer.seconds, 3),
    }


def _number(value: Fraction | None) -> int | float | None:
    return None if value is None else plain(value)


def _prediction(prediction: Prediction) -> dict[str, Any]:
    return {
        "predicted_rate": _number(prediction.rate),
        "safe_rate": _number(prediction.safe_rate),
        "limit": _limit(prediction.safe_limit),
    }


def _limit(limit: Limit | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    slot = limit.slot
    return {
        "rate": plain(limit.rate),
        "resource": str(limit.resource),
        "task": limit.task,
        "vm": None if slot is None else slot.vm,
        "slot": None if slot is None else slot.index,
    }


def _failure(failure: Failure) -> dict[str, Any]:
    vm, slot = failure.slot or (None, None)
    return {
        "rule": str(failure.rule),
        "vm": vm,
        "slot": slot,
        "task": failure.task,
        "needed": plain(failure.needed),
        "available": plain(failure.available),
    }


def _vms(answer: Answer) -> list[dict[str, Any]]:
    if answer.plan is None:
        return []
    usage = vm_usage(answer.plan, answer.usage())
    return [
        {
            "name": vm.name,
            "size": vm.size.name,
            "slots": vm.size.slots,
            "price": plain(vm.size.price),
            "cpu": plain(usage[vm.name].cpu),
            "memory": plain(usage[vm.name].memory),
        }
        for vm in answer.plan.vms
    ]


def _mapping(answer: Answer) -> list[dict[str, Any]]:
    if answer.plan is None:
        return []
    return [
        {
            "vm": slot.vm,
            "slot": slot.index,
            "cpu": plain(usage.cpu),
            "memory": plain(usage.memory),
            "bundles": [
                {"task": bundle.task, "threads": bundle.threads, "rate": _number(bundle.rate)}
                for bundle in slot.bundles
            ],
        }
        for slot, usage in answer.usage().items()
    ]
