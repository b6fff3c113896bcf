"""Linear Scaling Allocation (LSA), Algorithm 2, section 6.1."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from slotwise.heuristics.sam.refused import Refused
from slotwise.models.allocation.demand import TaskDemand
from slotwise.models.allocation.plan import TaskAllocation
from slotwise.models.performance.curves import measured_at


def allocate_lsa(demands: Sequence[TaskDemand]) -> dict[str, TaskAllocation] | Refused:
    """Return task -> threads, CPU and memory as if n threads did n times what one does.

    Line 8 tests ``>=``: a rate that is a multiple of the peak rate gets no trailing thread. Rates
    are exact, so the test needs no tolerance. The loop of lines 8 to 14 is one division.

    Refuses a task with tuples whose single thread supports none: the loop of line 8 would not end.
    """
    allocation = {}
    for task in demands:
        rate = task.rate  # line 3
        one_thread = measured_at(task.model, 1)
        peak = one_thread.peak_rate  # line 4
        if rate > 0 and peak == 0:
            return Refused(f"lsa: one thread of task {task.name!r} supports 0 tuples/s")
        threads = int(rate // peak) if rate > 0 else 0  # lines 5 to 14
        cpu = threads * one_thread.cpu
        memory = threads * one_thread.memory
        rate -= threads * peak
        if rate > 0:  # lines 15 to 20
            threads += 1
            cpu += one_thread.cpu * rate / peak
            memory += one_thread.memory * rate / peak
        allocation[task.name] = TaskAllocation(threads, cpu, memory)
    return allocation


def lsa_thread_demand(task: TaskDemand, allocation: TaskAllocation) -> tuple[Fraction, Fraction]:
    """Return CPU and memory of one thread for RSM: C(1) and M(1) (section 7.3)."""
    one_thread = measured_at(task.model, 1)
    return one_thread.cpu, one_thread.memory
