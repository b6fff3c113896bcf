"""An allocation's answer as JSON-ready data: what ``allocate --json`` prints of each rate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from slotwise.models.allocation.check import Failure
from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.prediction import Limit, Prediction, vm_usage
from slotwise.models.values import plain
from slotwise.solver.allocation.answer import Answer


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
