"""What the constraints of a core require and what there is, in the user's units."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.number_text import exact_text
from slotwise.solver.explain.conflicts.cause import Finding
from slotwise.solver.explain.conflicts.core import Core
from slotwise.solver.explain.conflicts.quantities import (
    ZERO,
    all_tasks,
    heap_of_one,
    least_workers,
    one_task,
    placed,
    quantity,
    total_slots,
)
from slotwise.solver.explain.constraint import Constraint, tasks_text
from slotwise.solver.explain.explanation import Cause, Member, Places

Numbers = tuple[Decimal | None, Decimal | None, str, str]
"""Required, available, unit, detail."""


def members_of(core: Core, finding: Finding) -> tuple[Member, ...]:
    """Return the members of a conflict: each constraint with its numbers and its witness."""
    pairs = zip(core.constraints, core.witnesses, strict=True)
    return tuple(_member(core, finding, one, witness) for one, witness in pairs)


def _member(core: Core, finding: Finding, one: Constraint, witness: Places | None) -> Member:
    required, available, unit, detail = _numbers(core.instance, core, finding, one)
    return Member(
        one,
        None if required is None else Fraction(required),
        None if available is None else Fraction(available),
        unit,
        detail,
        witness,
    )


def _numbers(instance: Instance, core: Core, finding: Finding, one: Constraint) -> Numbers:
    if one.rule == "capacity":
        return _capacity(instance, finding, one)
    if one.rule == "slots":
        need = sum(least_workers(topology) for topology in instance.topologies)
        have = one.amount * len(one.nodes) if one.amount is not None else None
        return Decimal(need), have, "workers", f"in all; {_offer(one)}"
    if one.rule == "worker_min_cpu":
        return one.amount, None, "cpu", "charged for each worker, whatever its tasks need"
    if one.rule == "max_moved":
        return finding.least_moved, one.amount, "tasks", "not where they run now"
    topology = next(t for t in instance.topologies if t.id == one.topology)
    if one.rule == "tasks":
        return one.amount, None, "tasks", _each(instance, core, topology, one.subject)
    return _of_topology(instance, finding, topology, one)


def _capacity(instance: Instance, finding: Finding, one: Constraint) -> Numbers:
    assert one.amount is not None, "a capacity without limit is no constraint"
    if finding.task is not None:
        topology, component = finding.task
        need = one_task(instance, topology, component, one.subject)
        return need, one.amount, one.subject, f"for one task of {component.id}; on one node"
    count = len(one.nodes)
    need = all_tasks(instance, one.subject)
    return need, one.amount * count, one.subject, _of_all(instance, finding, one)


def _of_all(instance: Instance, finding: Finding, one: Constraint) -> str:
    """Say that the tasks of the conflict need a resource in all, and what these nodes offer."""
    if finding.cause is Cause.FRAGMENTATION and len(one.nodes) == len(instance.cluster.nodes):
        return f"fits in total, not in pieces; {_offer(one)}"
    return f"in all; {_offer(one)}"


def _offer(one: Constraint) -> str:
    """Say what the nodes of a capacity or of slots offer."""
    if len(one.nodes) == 1:
        return f"this node offers {exact_text(one.amount or ZERO)}"
    return f"{len(one.nodes)} nodes of {exact_text(one.amount or ZERO)}"


def _of_topology(
    instance: Instance, finding: Finding, topology: Topology, one: Constraint
) -> Numbers:
    counts = {component.id: component.parallelism for component in placed(topology)}
    if one.rule == "heap":
        return _heap(finding, topology, one)
    if one.rule == "max_per_node":
        nodes, most = len(instance.cluster.nodes), one.amount or ZERO
        count = Decimal(counts.get(one.subject, 0))
        return count, most * nodes, "tasks", f"{tasks_text(most)} on each of {nodes} nodes"
    if one.rule == "incompatible":
        same = one.subject == one.other
        workers = counts.get(one.subject, 0) if same else 2
        return Decimal(workers), None, "workers", "at least this many workers"
    if one.rule == "shared_memory":
        kind = next(region.kind for region in topology.shared_memory if region.id == one.subject)
        place = "node" if kind == "offheap_node" else "worker"
        return one.amount, None, "memory_mb", f"once in each {place} that holds one of its tasks"
    slots = total_slots(instance)
    return Decimal(least_workers(topology)), slots, "workers", "at least this many workers"


def _heap(finding: Finding, topology: Topology, one: Constraint) -> Numbers:
    if finding.task is not None:
        need = heap_of_one(topology, finding.task[1])
        return need, one.amount, "onheap_mb", f"for one task of {finding.task[1].id}; in a worker"
    total = sum(
        (c.resources.get("onheap_mb", ZERO) * c.parallelism for c in placed(topology)), ZERO
    )
    workers = least_workers(topology)
    return total, one.amount, "onheap_mb", f"in all; in a worker: at least {workers} workers"


def _each(instance: Instance, core: Core, topology: Topology, component_id: str) -> str:
    """Say what one task needs of the resources in the core."""
    component = next(one for one in placed(topology) if one.id == component_id)
    resources = dict.fromkeys(one.subject for one in core.constraints if one.rule == "capacity")
    needs = [
        quantity(resource, need)
        for resource in resources
        if (need := one_task(instance, topology, component, resource))
    ]
    onheap = component.resources.get("onheap_mb", ZERO)
    if any(one.rule == "heap" for one in core.constraints) and onheap:
        needs.append(f"{exact_text(onheap)} MB of heap")
    return f"one needs {', '.join(needs)}" if needs else ""
