"""A plan as a placement instance: its threads and VMs, for every placement method to map again.

The allocation is kept, the mapping is dropped. Each task becomes a component with the plan's
threads, each VM a node. A placement instance cannot express that the demand of a thread depends on
how many threads of its task share the slot: a thread's demand is its task's average in the plan, at
the plan's rate.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from slotwise.models.allocation.load import Routing, Scaling, slot_loads, task_demands
from slotwise.models.allocation.plan import Plan
from slotwise.models.dataflow import Dataflow, input_rates
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.performance.model import PerformanceModel
from slotwise.models.values import MAX_DECIMALS

CPU_POINTS = 100
"""Points of cpu of a slot: one core."""

MEMORY_MB = 3584
"""MB of a slot: 3.5 GB, as on the article's VMs (section 8.2). VM files do not state memory, and
only its ratio to the demands matters."""

DEMAND_DECIMALS = 3
"""A thread's points of cpu and MB are rounded up to this number of decimals: what fits the instance
fits the slots. More decimals would only make the instance harder to solve."""

RACK = "rack-1"


def as_instance(
    plan: Plan,
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    routing: Routing,
    *,
    scaling: Scaling = Scaling.PROPORTIONAL,
) -> Instance:
    """Return the instance in which the threads of `plan` are to be placed on its VMs.

    Components are the tasks that have threads; sources and sinks, which run outside the slots that
    are counted, and streams from or to them are left out. A component without a stream to it is a
    spout. cpu is soft with weight 1, memory is hard, a worker's heap is a slot's memory. Streams
    carry their rate at the plan's rate, rounded to six decimals (half to even), by shuffle
    grouping.

    Parameters
    ----------
    routing, scaling
        How the loads of the plan's bundles are computed.

    Raises
    ------
    InputError
        For a plan without threads, and as `slot_loads` does.
    """
    threads = plan.threads
    if not threads:
        raise InputError("has no threads to place", field="dataflow", value=dataflow.name)
    needs = _needs(plan, dataflow, models, routing, scaling)
    rates = input_rates(dataflow, plan.rate)
    streams = tuple(
        Stream(one.source, one.target, rate=_rounded(rates[one.source] * one.selectivity))
        for one in dataflow.streams
        if one.source in threads and one.target in threads
    )
    fed = {stream.target for stream in streams}
    components = tuple(
        Component(
            task.name,
            "bolt" if task.name in fed else "spout",
            threads[task.name],
            _demand(*needs[task.name], threads[task.name]),
        )
        for task in dataflow.allocated
        if task.name in threads
    )
    topology = Topology(
        dataflow.name,
        components,
        streams,
        worker_max_heap_mb=Decimal(MEMORY_MB),
        workers=len(plan.slots),
    )
    return Instance(
        f"{dataflow.name} at {float(plan.rate):g} tuples/s",
        Cluster(tuple(_nodes(plan))),
        (topology,),
        objective=Objective(soft={"cpu": 1}),
        flow="rates",
    )


def _needs(
    plan: Plan,
    dataflow: Dataflow,
    models: Mapping[str, PerformanceModel],
    routing: Routing,
    scaling: Scaling,
) -> dict[str, tuple[Fraction, Fraction]]:
    """Return task -> CPU and memory of all its threads, in % of a slot."""
    cpu: dict[str, Fraction] = defaultdict(Fraction)
    memory: dict[str, Fraction] = defaultdict(Fraction)
    for load in slot_loads(plan, task_demands(dataflow, models, plan.rate), routing):
        for one in load.bundles:
            cpu[one.bundle.task] += one.measured.cpu * one.part(scaling)
            memory[one.bundle.task] += one.measured.memory * one.part(scaling)
    return {task: (cpu[task], memory[task]) for task in cpu}


def _demand(cpu: Fraction, memory: Fraction, threads: int) -> dict[str, Decimal]:
    return {
        "cpu": _rounded_up(cpu * CPU_POINTS / 100 / threads),
        "onheap_mb": _rounded_up(memory * MEMORY_MB / 100 / threads),
    }


def _rounded_up(number: Fraction) -> Decimal:
    return Decimal(math.ceil(number * 10**DEMAND_DECIMALS)).scaleb(-DEMAND_DECIMALS)


def _rounded(number: Fraction) -> Decimal:
    return Decimal(round(number * 10**MAX_DECIMALS)).scaleb(-MAX_DECIMALS)


def _nodes(plan: Plan) -> list[Node]:
    return [
        Node(
            vm.name,
            vm.rack or RACK,
            slots=vm.size.slots,
            resources={
                "cpu": Decimal(CPU_POINTS * vm.size.slots),
                "memory_mb": Decimal(MEMORY_MB * vm.size.slots),
            },
        )
        for vm in plan.vms
    ]
