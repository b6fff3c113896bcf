"""Plans for given VMs, and the highest rate that a pair plans on them: section 8.5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from slotwise.heuristics.sam.allocations import NoRoom, Refused, open_vms
from slotwise.heuristics.sam.pairs import Pair, Planned, allocated_tasks, in_slots
from slotwise.heuristics.sam.retry import no_room_text
from slotwise.models.allocation.load import task_demands
from slotwise.models.allocation.plan import Plan, Vm, estimated_slots
from slotwise.models.dataflow import Dataflow
from slotwise.models.errors import InputError
from slotwise.models.performance.model import PerformanceModel

STEP = Fraction(10)
"""The article's: rates are tried in steps of 10 tuples/s."""


def plan_on(
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    rate: Fraction,
    pair: Pair,
    vms: Sequence[Vm],
) -> Planned | Refused:
    """Return the plan of `pair` for `rate` on all slots of `vms`.

    Refuses where the allocation estimates more slots than they have, or the mapping fails on them.
    Raises `InputError` as `pairs.plan` does.
    """
    demands = task_demands(dataflow, models, rate)
    allocation = pair.allocation.allocate(demands)
    if isinstance(allocation, Refused):
        return allocation
    slots, estimate = sum(vm.size.slots for vm in vms), estimated_slots(allocation)
    where = f"{pair.name} at {float(rate):g} tuples/s"
    tasks = allocated_tasks(demands, allocation, pair)
    needed = max(estimate, 1) if tasks else 0
    if needed > slots:
        return Refused(f"{where}: needs {needed} slots or more; there are {slots}")
    mapped = pair.map_threads(tasks, open_vms(vms, slots))
    if isinstance(mapped, NoRoom):
        return Refused(f"{where}: {no_room_text(mapped)}; no slot has that much left")
    plan = Plan(rate, tuple(vms), in_slots(mapped, vms))
    return Planned(pair, allocation, estimate, slots, plan)


def highest_planned(
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    pair: Pair,
    vms: Sequence[Vm],
    step: Fraction = STEP,
) -> Planned | Refused:
    """Return the plan of the highest rate before the first one that is refused.

    Rates are the multiples of `step`, from `step` on (section 8.5, third paragraph); beyond the
    first refusal none is tried, although a mapping may succeed again.

    Refuses where `step` is refused already, with that reason.

    Raises
    ------
    InputError
        As `pairs.plan` does, for a step that is not above 0, and for a dataflow none of whose
        tasks receives tuples, or needs any cpu or memory at `step`: every rate would be planned.
    """
    if step <= 0:
        raise InputError("must be above 0", field="step", value=float(step))
    if not any(one.rate > 0 for one in task_demands(dataflow, models, step)):
        raise InputError("no task receives tuples", field="dataflow", value=dataflow.name)
    best = plan_on(dataflow, models, step, pair, vms)
    if isinstance(best, Planned) and best.estimate == 0:
        raise InputError("need no cpu and memory", field="models", has_value=False)
    rate = step
    while isinstance(best, Planned):
        rate += step
        following = plan_on(dataflow, models, rate, pair, vms)
        if isinstance(following, Refused):
            break
        best = following
    return best
