"""Performance models and allocations for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from rich.console import RenderableType

from slotwise.api.allocating import Allocated
from slotwise.cli.render.curves import Line, plot_lines
from slotwise.cli.render.tables import MOST_ROWS, show, table
from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.prediction import Limit, Usage, vm_usage
from slotwise.models.display import counted
from slotwise.models.performance.model import Models, full_bundle
from slotwise.models.values import short_text
from slotwise.solver.allocation import OPTIMAL, Answer, Outcome

_HEADS = ("threads", "peak rate", "cpu %", "memory %")


def show_models(models: Models) -> None:
    """Show each model as a table; the row of the full bundle is marked."""
    for name, model in models.items():
        full = full_bundle(model)
        rows = [
            (
                str(one.threads),
                short_text(one.peak_rate),
                short_text(one.cpu),
                short_text(one.memory),
                "full bundle" if one is full else "",
                one.source,
            )
            for one in model.measurements
        ]
        show(f"{name} (tuples/s on one slot):", table(rows, (*_HEADS, "", "source"), _HEADS))


def show_allocated(done: Allocated) -> None:
    """Show the plan for one rate, or a table of slots against rates."""
    if len(done.answers) == 1:
        show(*_answer(done.answers[0]))
    else:
        _show_rates(done)


def _show_rates(done: Allocated) -> None:
    """Show a row for each rate; a method that expects shuffle grouping has one rate supported."""
    routings = list(dict.fromkeys((done.answers[0].routing, Routing.SHUFFLE)))
    rows = []
    for answer in done.answers:
        plan = answer.plan
        supported = [answer.prediction(routing) for routing in routings]
        rows.append(
            (
                short_text(answer.question.rate),
                short_text(answer.slots),
                short_text(answer.bound),
                "-" if plan is None else str(len(plan.vms)),
                "-" if plan is None else short_text(plan.price),
                *(short_text(None if one is None else one.safe_rate) for one in supported),
                str(answer.outcome),
            )
        )
    heads = ("tuples/s", "slots", "bound", "VMs", "price/h", *(f"supports, {r}" for r in routings))
    show(
        f"{done.dataflow.name} by {done.method}: slots against rates, and the rate that each plan "
        "supports under each routing, counting CPU and memory.",
        table(rows, (*heads, "status"), heads),
        *dict.fromkeys(answer.reason for answer in done.answers if answer.reason),
    )


def _answer(answer: Answer) -> list[RenderableType]:
    """Return the texts and tables of one answer."""
    what = f"{answer.question.dataflow.name} at {short_text(answer.question.rate)} tuples/s"
    if answer.plan is None:
        if answer.outcome is Outcome.REFUSED:  # the pair's reason names everything
            return [f"No plan for {answer.question.dataflow.name}: {answer.reason}."]
        if answer.bound_rate is not None:
            what = f"{answer.question.dataflow.name} at the highest rate"
        return [f"{what}, {answer.method}: {_NO_PLAN[answer.outcome]}: {answer.reason}."]
    if not answer.plan.slots:
        return [_headline(what, answer), "No task receives tuples, so no slot is needed."]
    parts: list[RenderableType] = [_headline(what, answer), *_slots(answer), *_vms(answer)]
    return [*parts, _routings(answer), *_failures(answer)]


_NO_PLAN = {
    Outcome.INFEASIBLE: "proven infeasible",
    Outcome.UNKNOWN: "no answer",
}


def _headline(what: str, answer: Answer) -> str:
    assert answer.plan is not None
    plan = answer.plan
    acquired = counted(sum(vm.size.slots for vm in plan.vms), "slot")
    slots, vms = counted(answer.slots or 0, "slot"), counted(len(plan.vms), "VM")
    estimate = "" if answer.estimate is None else f" (estimated {answer.estimate})"
    if answer.bound_rate is not None:
        proof = f"; proven: no more than {short_text(answer.bound_rate)} whole tuples/s"
    elif answer.outcome is Outcome.OPTIMAL:
        proof = "; proven optimal"
    elif answer.bound is None:
        proof = ""
    else:
        proof = f"; proven: a plan that reaches the rate needs {answer.bound} or more"
    return (
        f"{what}, {answer.method}: {slots}{estimate} on {vms} with {acquired} "
        f"for {short_text(plan.price)} an hour{proof}."
    )


def _slots(answer: Answer) -> list[RenderableType]:
    rows = []
    used = answer.usage()
    for slot, usage in islice(used.items(), MOST_ROWS):
        bundles = ", ".join(
            f"{one.threads} {one.task}"
            + ("" if one.rate is None else f" ({short_text(one.rate)} tuples/s)")
            for one in slot.bundles
        )
        rows.append((f"{slot.vm}[{slot.index}]", bundles, *_percents(usage)))
    heads = ("slot", "threads", "cpu %", "memory %")
    return [table(rows, heads, heads[2:]), *_more(len(used), "slots")]


def _more(count: int, what: str) -> list[str]:
    return [f"  ... and {count - MOST_ROWS} more {what}: see --json"] if count > MOST_ROWS else []


def _percents(usage: Usage) -> tuple[str, str]:
    return f"{float(usage.cpu):.1f}", f"{float(usage.memory):.1f}"


def _vms(answer: Answer) -> list[RenderableType]:
    assert answer.plan is not None
    used = vm_usage(answer.plan, answer.usage())
    filled = Counter(slot.vm for slot in answer.plan.slots)
    rows = [
        (
            vm.name,
            vm.size.name,
            f"{filled[vm.name]} of {vm.size.slots}",
            *_percents(used[vm.name]),
        )
        for vm in answer.plan.vms[:MOST_ROWS]
    ]
    heads = ("VM", "size", "slots in use", "cpu %", "memory %")
    return [table(rows, heads, heads[2:]), *_more(len(answer.plan.vms), "VMs")]


def _routings(answer: Answer) -> RenderableType:
    """Return the table of the rates that the plan supports."""
    rows = []
    for routing in dict.fromkeys((answer.routing, Routing.SHUFFLE)):
        prediction = answer.prediction(routing)
        assert prediction is not None
        rows.append(
            (
                f"{routing} (expected)" if routing is answer.routing else str(routing),
                short_text(prediction.rate),
                short_text(prediction.safe_rate),
                _limit(prediction.safe_limit),
            )
        )
    heads = ("routing", "by peak rates", "with cpu and memory", "limited by")
    return table(rows, heads, heads[1:3])


def _limit(limit: Limit | None) -> str:
    if limit is None:
        return "no limit: no task receives tuples"
    if limit.slot is None:
        return f"{limit.task}, which has no threads"
    return f"{limit.resource} of {limit.task} on {limit.slot.vm}[{limit.slot.index}]"


def _failures(answer: Answer) -> list[str]:
    rate = f"{short_text(answer.question.rate)} tuples/s under {answer.routing} routing"
    if not answer.failures:
        return [f"The plan reaches {rate}: every slot passes the check."]
    shown = [f"  {one}" for one in answer.failures[:MOST_ROWS]]
    more = _more(len(answer.failures), "failures")
    return [f"The plan does not reach {rate}:", *shown, *more]


def plot_methods(path: Path, answers: Mapping[str, Sequence[Answer]], name: str) -> None:
    """Draw slots against rates, a line for each method; lines without a plan are left out.

    Where the optimum is not proven at every rate, its proven bound is drawn, too.
    """
    lines = []
    for method, of_method in answers.items():
        points = [_point(one, one.slots) for one in of_method if one.slots is not None]
        short = sum(one.outcome is Outcome.VIOLATED for one in of_method)
        label = f"{method} (misses {short} of {len(of_method)} rates)" if short else method
        open_ = any(one.outcome is not Outcome.OPTIMAL for one in of_method)
        if method == OPTIMAL and open_:
            label = "best found"
            bounds = [_point(one, one.bound) for one in of_method if one.bound is not None]
            lines.append(Line("bound", sorted(bounds)))
        if points:
            lines.append(Line(label, sorted(points)))
    plot_lines(path, lines, f"rate of {name}, tuples/s", "slots")


def _point(answer: Answer, slots: int) -> tuple[float, float]:
    return float(answer.question.rate), float(slots)
