"""What ``allocate`` does: dataflows and rates from the command line, documents and exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from slotwise.cli.exits import Exit
from slotwise.models.allocation.check import Failure
from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.prediction import Limit, Prediction, vm_usage
from slotwise.models.cancellation import CancellationToken
from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.dataflow.file import read_dataflow
from slotwise.models.dataflow.micro import MICRO_DAGS
from slotwise.models.errors import InputError
from slotwise.models.suggestion import suggestion
from slotwise.models.values import exact, plain
from slotwise.solver.allocation.answer import Answer, Outcome, Question
from slotwise.solver.allocation.run import METHODS, OPTIMAL, Setting, allocate_all, with_bounds

MOST_RATES = 1000


def find_dataflow(source: str) -> Dataflow:
    """Return a micro DAG by its name, or the dataflow in a file (``-`` = stdin).

    Raises
    ------
    InputError
        For what is neither.
    """
    if source in MICRO_DAGS:
        return MICRO_DAGS[source]
    is_file = source == "-" or Path(source).suffix or Path(source).exists()
    if not is_file:
        rule = f"is neither a file nor a micro DAG; {suggestion(source, MICRO_DAGS)}"
        raise InputError(rule, field="DAG", value=source)
    return read_dataflow(source)


def rates_of(written: Sequence[str]) -> list[Fraction]:
    """Return the rates written as ``R`` or as ``FROM:TO:STEP``, both ends included; each once.

    Raises
    ------
    InputError
        For what is no exact decimal above 0, and for more than `MOST_RATES`.
    """
    rates: list[Fraction] = []
    for text in written:
        parts = [_rate(part, text) for part in text.split(":")]
        if len(parts) == 1:
            rates += parts
        elif len(parts) == 3 and parts[0] <= parts[1]:
            first, last, step = parts
            count = int((last - first) / step) + 1
            if count > MOST_RATES:
                raise InputError(f"are more than {MOST_RATES} rates", field="--rate", value=text)
            rates += [first + k * step for k in range(count)]
        else:
            rule = "must be a rate, or FROM:TO:STEP with FROM at most TO"
            raise InputError(rule, field="--rate", value=text)
    if len(rates) > MOST_RATES:
        raise InputError(f"are more than {MOST_RATES} rates", field="--rate", value=written[-1])
    return list(dict.fromkeys(rates))


def _rate(part: str, text: str) -> Fraction:
    try:
        rate = Fraction(exact(part, "--rate"))
    except InputError as error:
        rule = error.rule.partition(";")[0]
        raise InputError(rule, field="--rate", value=text) from error
    if rate == 0:
        raise InputError("must be above 0 tuples/s", field="--rate", value=text)
    return rate


@dataclass(frozen=True, slots=True)
class Allocated:
    """Answers of one method at one or more rates."""

    dataflow: Dataflow
    method: str
    answers: Sequence[Answer]

    @property
    def code(self) -> Exit:
        """The exit code: that of the worst answer."""
        codes = {_CODES.get(answer.outcome, Exit.FAILED) for answer in self.answers}
        return next(code for code in (Exit.FAILED, Exit.NO_ANSWER, Exit.DONE) if code in codes)

    def to_document(self) -> dict[str, Any]:
        """Return what ``allocate --json`` prints: of one rate its answer, of more a list."""
        documents = [answer_document(answer) for answer in self.answers]
        if len(documents) == 1:
            return documents[0]
        return {"dataflow": self.dataflow.name, "method": self.method, "rates": documents}


_CODES = {
    Outcome.OPTIMAL: Exit.DONE,
    Outcome.FEASIBLE: Exit.DONE,
    Outcome.UNKNOWN: Exit.NO_ANSWER,
}


def allocated(
    question: Question,
    rates: Sequence[Fraction],
    method: str,
    setting: Setting,
    token: CancellationToken,
) -> Allocated:
    """Run `method` at each of `rates`; pairs get the proven bound of the optimum.

    `token` ends the search for the optimum; what it has found and proven is the answer.
    """
    answers = allocate_all(question, rates, method, setting, token)
    if method != OPTIMAL:
        answers = with_bounds(answers, allocate_all(question, rates, OPTIMAL, setting, token))
    return Allocated(question.dataflow, method, answers)


def every_method(
    question: Question,
    rates: Sequence[Fraction],
    setting: Setting,
    done: Allocated,
    token: CancellationToken,
) -> dict[str, Sequence[Answer]]:
    """Return method -> answers at `rates`; those in `done` are not made again."""
    return {
        method: (
            done.answers
            if method == done.method
            else allocate_all(question, rates, method, setting, token)
        )
        for method in METHODS
    }


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


def _prediction(found: Prediction) -> dict[str, Any]:
    return {
        "predicted_rate": _number(found.rate),
        "safe_rate": _number(found.safe_rate),
        "limit": _limit(found.safe_limit),
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
                {"task": one.task, "threads": one.threads, "rate": _number(one.rate)}
                for one in slot.bundles
            ],
        }
        for slot, usage in answer.usage().items()
    ]
