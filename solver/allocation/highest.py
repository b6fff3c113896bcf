"""The highest rate that a number of slots, or the available VMs, support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from slotwise.models.allocation.demand import task_demands
from slotwise.models.allocation.vm import offered_slots
from slotwise.models.cancellation import CancellationToken
from slotwise.models.dataflow.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.number_text import short_text
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver.allocation.answer import Answer, Outcome, Question
from slotwise.solver.allocation.optimum import seated, unlimited
from slotwise.solver.allocation.run import (
    OPTIMAL,
    OUT_OF_TIME,
    PLAIN_SETTING,
    Setting,
    checked_optimum,
    limited,
)
from slotwise.solver.core.result import Status
from slotwise.solver.slots.result import RateResult
from slotwise.solver.slots.solve import Offer, SlotSolver

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
    found = solver.highest_rate(most, step=step, token=ends)
    blank = Answer(
        Question(dataflow, models, found.rate),
        OPTIMAL,
        setting.variant.routing,
        setting.scaling,
        Outcome.UNKNOWN,
        bound_rate=found.bound,
        reason=OUT_OF_TIME,
        seconds=found.seconds,
    )
    if found.bound == 0:
        reason = f"{most} slots support no multiple of {short_text(step)} tuples/s"
        return replace(blank, outcome=Outcome.INFEASIBLE, reason=reason)
    return blank if found.plan is None else _planned(blank, found, setting)


def _planned(blank: Answer, found: RateResult, setting: Setting) -> Answer:
    assert found.plan is not None
    made = seated(found.plan, setting.vm_sizes)
    assert made is not None, "the plan has at most the slots that the VMs have"
    proven = found.status is Status.OPTIMAL
    answer = replace(blank, plan=made, slots=len(made.slots), reason="")
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
