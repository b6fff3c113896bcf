"""The cause of a core: shortage, fragmentation or rules, with the numbers of each member."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slotwise.models.display import counted
from slotwise.models.infeasibility.contradictions import (
    ResourceShort,
    TaskTooLarge,
    TooFewBins,
    TooFewSlots,
    TooManyTasks,
)
from slotwise.models.infeasibility.statement import stated
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import as_decimal, exact_text
from slotwise.solver.contradictions import find_contradiction
from slotwise.solver.explain.conflict import (
    ZERO,
    Core,
    all_tasks,
    heap_of_one,
    least_workers,
    one_task,
    placed,
    quantity,
    total_capacity,
    total_slots,
)
from slotwise.solver.explain.constraint import (
    MOST_NAMES,
    Constraint,
    listed,
    most_moved_text,
    relax,
    tasks_text,
    with_counts,
)
from slotwise.solver.explain.explanation import Cause, Member, Places
from slotwise.solver.explain.feasibility import Decider, question

PACKED = frozenset({"capacity", "shared_memory", "worker_min_cpu"})
"""Limits that alone make a packing problem."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The cause of a core.

    Parameters
    ----------
    cause, summary
        As in `Conflict`.
    task
        The task that is too large; ``None`` where that is not the cause.
    least_moved
        Least number of running tasks that must move; ``None`` where moves play no part, or unknown.
    """

    cause: Cause
    summary: str
    task: tuple[Topology, Component] | None = None
    least_moved: Decimal | None = None


def find_cause(core: Core, decider: Decider) -> Finding:
    """Return why the constraints of `core` cannot hold together.

    A shortage is claimed only where counting proves it, fragmentation only where counting does
    not and nothing but capacities conflict.
    """
    rules = {one.rule for one in core.constraints}
    if "max_moved" in rules:
        return _moves(core, decider)
    for find in (_too_large, _shortage):
        finding = find(core)
        if finding is not None:
            return finding
    limits = [one for one in core.constraints if one.is_limit]
    packed = all(one.rule in PACKED or _is_no_slots(one) for one in limits)
    if packed and "capacity" in rules:
        return Finding(Cause.FRAGMENTATION, fragments_text(core, decider))
    apart, at_sight = _exclusion_text(core), _contradiction(core.instance)
    if not apart and at_sight is not None:
        return at_sight
    return Finding(
        Cause.COMBINATION,
        apart or "No total is short, but these limits together leave no placement.",
    )


def _contradiction(instance: Instance) -> Finding | None:
    """Return a contradiction that counting finds, if there is one."""
    problem = compile_problem(question(instance))
    contradiction = find_contradiction(problem)
    if contradiction is None:
        return None
    cause = {
        TaskTooLarge: Cause.TASK_TOO_LARGE,
        ResourceShort: Cause.SHORTAGE,
        TooFewSlots: Cause.SHORTAGE,
        TooManyTasks: Cause.SHORTAGE,
        TooFewBins: Cause.FRAGMENTATION,
    }.get(type(contradiction), Cause.COMBINATION)
    return Finding(cause, stated(problem, contradiction).text)


def _is_no_slots(constraint: Constraint) -> bool:
    return constraint.rule == "slots" and not constraint.amount


def _moves(core: Core, decider: Decider) -> Finding:
    """State how many tasks must move, counting those left out where topologies may be rejected."""
    limit = next(one for one in core.constraints if one.rule == "max_moved")
    allowed = most_moved_text(limit.amount or 0)
    if "rejected" in core.instance.objective.parts:
        return Finding(
            Cause.COMBINATION,
            f"The tasks cannot all be placed, and {allowed}; a task that is left out counts as "
            "moved.",
        )
    least = decider.least_moved(relax(core.instance, [limit]))
    must = "more must" if least is None else f"at least {least} must"
    return Finding(
        Cause.COMBINATION,
        f"The tasks cannot stay where they run: {must} move, but {allowed}.",
        least_moved=least,
    )


def resources_of(core: Core) -> list[str]:
    """Return the resources whose capacities are in the core."""
    names = (one.subject for one in core.constraints if one.rule == "capacity")
    return list(dict.fromkeys(names))


def _tasks(instance: Instance) -> Iterator[tuple[Topology, Component]]:
    for topology in instance.topologies:
        for component in placed(topology):
            yield topology, component


def _too_large(core: Core) -> Finding | None:
    """Find a task that no worker, or no node, could hold even if it were alone."""
    for topology, component in _tasks(core.instance):
        limit, heap = topology.worker_max_heap_mb, heap_of_one(topology, component)
        if limit is not None and heap > limit:
            shared = heap - component.resources.get("onheap_mb", ZERO)
            included = f" ({exact_text(shared)} MB of it shared memory)" if shared else ""
            return Finding(
                Cause.TASK_TOO_LARGE,
                f"One task of {component.id} needs {exact_text(heap)} MB of heap{included}, but a "
                f"worker of {topology.id} may have at most {exact_text(limit)} MB.",
                (topology, component),
            )
        nodes = core.instance.cluster.nodes
        if all(_blocking_resource(core, node, topology, component) for node in nodes):
            return Finding(
                Cause.TASK_TOO_LARGE,
                _fits_nowhere(core, topology, component),
                (topology, component),
            )
    return None


def _blocking_resource(core: Core, node: Node, topology: Topology, component: Component) -> str:
    """Return why an empty node cannot hold one task: a resource, ``slots``, or nothing."""
    if node.slots == 0:
        return "slots"
    for resource in resources_of(core):
        capacity = node.resources.get(resource, ZERO)
        if (
            capacity is not None
            and one_task(core.instance, topology, component, resource) > capacity
        ):
            return resource
    return ""


def _fits_nowhere(core: Core, topology: Topology, component: Component) -> str:
    nodes = core.instance.cluster.nodes
    by_reason: dict[str, list[Node]] = {}
    for node in nodes:
        by_reason.setdefault(_blocking_resource(core, node, topology, component), []).append(node)
    parts = []
    for reason, group in by_reason.items():
        every = "the node" if len(nodes) == 1 else "the nodes"
        where = every if len(group) == len(nodes) else listed(tuple(n.id for n in group))
        have = "has" if len(group) == 1 else "have"
        if reason == "slots":
            parts.append(f"{where} {have} no slots")
            continue
        need = one_task(core.instance, topology, component, reason)
        most = max(node.resources.get(reason) or ZERO for node in group)
        have = have if len(group) == 1 else "have at most"
        parts.append(f"it needs {quantity(reason, need)}, {where} {have} {exact_text(most)}")
    return f"A single task of {component.id} ({topology.id}) fits on no node: {'; '.join(parts)}."


def _shortage(core: Core) -> Finding | None:
    """Find a total that is short."""
    instance = core.instance
    for resource in resources_of(core):
        need, have = all_tasks(instance, resource), total_capacity(instance, resource)
        if have is not None and need > have:
            needed, missing = quantity(resource, need), exact_text(need - have)
            return Finding(
                Cause.SHORTAGE,
                f"{_tasks_subject(instance)} need {needed} in all, but {_nodes_noun(instance)} "
                f"together have {exact_text(have)}: {missing} short.",
            )
    return _too_few_slots(instance) or _too_few_nodes(instance)


def _tasks_subject(instance: Instance) -> str:
    """Return the tasks of a conflict as the subject of a sentence, by components if few."""
    names = [
        f"{topology.id}: {', '.join(one.id for one in parts)}"
        for topology in instance.topologies
        if (parts := placed(topology))
    ]
    count = sum(len(placed(topology)) for topology in instance.topologies)
    return f"These tasks ({'; '.join(names)})" if count <= MOST_NAMES else "These tasks"


def _exclusion_text(core: Core) -> str:
    """State which components exclude each other from workers; empty if there are other reasons."""
    slots = total_slots(core.instance)
    pairs = {frozenset((c.subject, c.other)) for c in core.constraints if c.rule == "incompatible"}
    rules = {one.rule for one in core.constraints if one.is_limit}
    names = sorted(frozenset().union(*pairs))
    every = {frozenset((a, b)) for a in names for b in names if a < b}
    if rules != {"incompatible", "slots"} or pairs != every or slots is None:
        return ""
    if len(core.instance.topologies) != 1 or len(names) <= slots:
        return ""
    return (
        f"{listed(tuple(names))} exclude each other: {len(names)} workers needed, "
        f"{counted(int(slots), 'slot')}."
    )


def _nodes_noun(instance: Instance) -> str:
    usable = all(node.slots != 0 for node in instance.cluster.nodes)
    return "all nodes" if usable else "all nodes that have slots"


def _too_few_slots(instance: Instance) -> Finding | None:
    slots = total_slots(instance)
    workers = {one.id: least_workers(one) for one in instance.topologies}
    workers = {key: count for key, count in workers.items() if count}
    if slots is None or sum(workers.values()) <= slots:
        return None
    total = sum(workers.values())
    per_topology = ""
    if len(workers) > 1:
        per_topology = f" ({', '.join(f'{key} {count}' for key, count in workers.items())})"
    return Finding(
        Cause.SHORTAGE,
        f"{_tasks_subject(instance)} need at least {counted(total, 'worker')}{per_topology}, "
        f"but all nodes together have {counted(int(slots), 'slot')}.",
    )


def _too_few_nodes(instance: Instance) -> Finding | None:
    nodes = sum(node.slots != 0 for node in instance.cluster.nodes)
    for topology, component in _tasks(instance):
        most = topology.constraints.max_per_node.get(component.id)
        if most is not None and component.parallelism > most * nodes:
            needed = -(-component.parallelism // most)
            usable = f"there {'is' if nodes == 1 else 'are'} {nodes}"
            if nodes < len(instance.cluster.nodes):
                usable = f"only {nodes} of {len(instance.cluster.nodes)} have slots"
            return Finding(
                Cause.SHORTAGE,
                f"{tasks_text(component.parallelism)} of {component.id} ({topology.id}), at most "
                f"{most} on a node, need {needed} nodes, but {usable}.",
            )
    return None


# Free capacity in pieces that are too small, shown by a placement of all tasks but a few.


def fragments_text(core: Core, decider: Decider) -> str:
    """Return why a core of capacities has no packing although no total is short.

    The free pieces are those of a placement of all tasks but one, or of all but as few of one
    component as need be; another such placement may leave other pieces.
    """
    resources = list(
        dict.fromkeys(one.subject for one in core.constraints if one.rule == "capacity")
    )
    total = (
        f"All nodes together have enough {listed(tuple(resources))}, but not in pieces into which "
        "the tasks fit."
    )
    largest = _placement_of_most(core.instance, decider)
    if largest is None:
        return total
    topology, component, left_out, instance, placement = largest
    free = _free(instance, placement, resources)
    need = {r: one_task(core.instance, topology, component, r) for r in resources}
    task = f"the last {'task' if left_out == 1 else tasks_text(left_out)} of {component.id}"
    if len(resources) == 1:
        return (
            f"{total} {_one_resource_text(resources[0], free[resources[0]], need, task, left_out)}"
        )
    return f"{total} {_short_resources_text(instance, free, need, task, left_out)}"


def _one_resource_text(
    resource: str, free: list[Decimal], need: dict[str, Decimal], task: str, left_out: int
) -> str:
    each = " each" if left_out > 1 else ""
    in_all = quantity(resource, sum(free, ZERO))
    return (
        f"When all but {task} ({need_text(need)}{each}) are placed, {in_all} are free in all, but "
        f"at most {exact_text(max(free))} on one node."
    )


def _short_resources_text(
    instance: Instance,
    free: dict[str, list[Decimal]],
    needs: dict[str, Decimal],
    task: str,
    left_out: int,
) -> str:
    """State on which nodes each resource is short."""
    each = " each" if left_out > 1 else ""
    short: dict[str, list[str]] = {}
    for n, node in enumerate(instance.cluster.nodes):
        for resource, need in needs.items():
            if need > free[resource][n]:
                short.setdefault(resource, []).append(node.id)
                break
    parts = [
        f"too little {resource} on {listed(tuple(nodes))}" for resource, nodes in short.items()
    ]
    return (
        f"When all but {task} ({need_text(needs)}{each}) are placed, there is {', '.join(parts)}."
    )


def need_text(need: dict[str, Decimal]) -> str:
    """Return what one task needs in words."""
    return ", ".join(quantity(resource, amount) for resource, amount in need.items() if amount)


def _placement_of_most(
    instance: Instance, decider: Decider
) -> tuple[Topology, Component, int, Instance, Placement] | None:
    """Return a component, how many of its tasks to leave out, and a placement of the rest."""
    choices = [
        (topology, component) for topology in instance.topologies for component in placed(topology)
    ]
    for left_out in (1, 2, 3):
        for topology, component in choices:
            if component.parallelism < left_out:
                continue
            count = component.parallelism - left_out
            fewer = with_counts(instance, {(topology.id, component.id): count})
            placement = decider.decide(fewer).placement
            if placement is not None:
                return topology, component, left_out, fewer, placement
    return None


def _free(
    instance: Instance, placement: Placement, resources: list[str]
) -> dict[str, list[Decimal]]:
    """Return what each node has left of each resource."""
    verdict = judge(instance, placement)
    problem, loads = verdict.problem, verdict.accounting.node_load
    free = {}
    for resource in resources:
        d = problem.dims.index(resource)
        free[resource] = [
            (node.resources.get(resource, ZERO) or ZERO)
            - as_decimal(int(loads[n, d]) * problem.units[d])
            for n, node in enumerate(instance.cluster.nodes)
        ]
    return free


Numbers = tuple[Decimal | None, Decimal | None, str, str]
"""Required, available, unit, detail."""


def members_of(core: Core, finding: Finding) -> tuple[Member, ...]:
    """Return the members of a conflict: each constraint with its numbers and its witness."""
    pairs = zip(core.constraints, core.witnesses, strict=True)
    return tuple(_member(core, finding, one, witness) for one, witness in pairs)


def _member(core: Core, finding: Finding, constraint: Constraint, witness: Places | None) -> Member:
    required, available, unit, detail = _numbers(core.instance, core, finding, constraint)
    return Member(
        constraint,
        None if required is None else Fraction(required),
        None if available is None else Fraction(available),
        unit,
        detail,
        witness,
    )


def _numbers(instance: Instance, core: Core, finding: Finding, constraint: Constraint) -> Numbers:
    if constraint.rule == "capacity":
        return _capacity(instance, finding, constraint)
    if constraint.rule == "slots":
        need = sum(least_workers(topology) for topology in instance.topologies)
        have = constraint.amount * len(constraint.nodes) if constraint.amount is not None else None
        return Decimal(need), have, "workers", f"in all; {_offer(constraint)}"
    if constraint.rule == "worker_min_cpu":
        return constraint.amount, None, "cpu", "charged for each worker, whatever its tasks need"
    if constraint.rule == "max_moved":
        return finding.least_moved, constraint.amount, "tasks", "not where they run now"
    topology = next(t for t in instance.topologies if t.id == constraint.topology)
    if constraint.rule == "tasks":
        return (
            constraint.amount,
            None,
            "tasks",
            _needs_per_task(instance, core, topology, constraint.subject),
        )
    return _of_topology(instance, finding, topology, constraint)


def _capacity(instance: Instance, finding: Finding, constraint: Constraint) -> Numbers:
    assert constraint.amount is not None, "a capacity without limit does not constrain"
    if finding.task is not None:
        topology, component = finding.task
        need = one_task(instance, topology, component, constraint.subject)
        return (
            need,
            constraint.amount,
            constraint.subject,
            f"for one task of {component.id}; on one node",
        )
    count = len(constraint.nodes)
    need = all_tasks(instance, constraint.subject)
    return (
        need,
        constraint.amount * count,
        constraint.subject,
        _total_detail(instance, finding, constraint),
    )


def _total_detail(instance: Instance, finding: Finding, constraint: Constraint) -> str:
    """State that the tasks of the conflict need a resource in total, and what these nodes offer."""
    if finding.cause is Cause.FRAGMENTATION and len(constraint.nodes) == len(
        instance.cluster.nodes
    ):
        return f"fits in total, not in pieces; {_offer(constraint)}"
    return f"in all; {_offer(constraint)}"


def _offer(constraint: Constraint) -> str:
    """State what the nodes of a constraint offer."""
    if len(constraint.nodes) == 1:
        return f"this node offers {exact_text(constraint.amount or ZERO)}"
    return f"{len(constraint.nodes)} nodes of {exact_text(constraint.amount or ZERO)}"


def _of_topology(
    instance: Instance, finding: Finding, topology: Topology, constraint: Constraint
) -> Numbers:
    counts = {component.id: component.parallelism for component in placed(topology)}
    if constraint.rule == "heap":
        return _heap(finding, topology, constraint)
    if constraint.rule == "max_per_node":
        nodes, most = len(instance.cluster.nodes), constraint.amount or ZERO
        count = Decimal(counts.get(constraint.subject, 0))
        return count, most * nodes, "tasks", f"{tasks_text(most)} on each of {nodes} nodes"
    if constraint.rule == "incompatible":
        same = constraint.subject == constraint.other
        workers = counts.get(constraint.subject, 0) if same else 2
        return Decimal(workers), None, "workers", "at least this many workers"
    if constraint.rule == "shared_memory":
        kind = next(
            region.kind for region in topology.shared_memory if region.id == constraint.subject
        )
        place = "node" if kind == "offheap_node" else "worker"
        return (
            constraint.amount,
            None,
            "memory_mb",
            f"once in each {place} that holds one of its tasks",
        )
    slots = total_slots(instance)
    return Decimal(least_workers(topology)), slots, "workers", "at least this many workers"


def _heap(finding: Finding, topology: Topology, constraint: Constraint) -> Numbers:
    if finding.task is not None:
        need = heap_of_one(topology, finding.task[1])
        return (
            need,
            constraint.amount,
            "onheap_mb",
            f"for one task of {finding.task[1].id}; in a worker",
        )
    total = sum(
        (c.resources.get("onheap_mb", ZERO) * c.parallelism for c in placed(topology)), ZERO
    )
    workers = least_workers(topology)
    return total, constraint.amount, "onheap_mb", f"in all; in a worker: at least {workers} workers"


def _needs_per_task(instance: Instance, core: Core, topology: Topology, component_id: str) -> str:
    """State what one task needs of the resources in the core."""
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
