"""Free capacity in pieces that are too small: shown by a placement of all tasks but a few."""

from __future__ import annotations

from decimal import Decimal

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.number_text import exact_text
from slotwise.models.values import as_decimal
from slotwise.solver.explain.conflicts.core import Core
from slotwise.solver.explain.conflicts.quantities import ZERO, one_task, placed, quantity
from slotwise.solver.explain.constraint import listed, tasks_text
from slotwise.solver.explain.feasibility import Decider
from slotwise.solver.explain.removal import with_counts


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
    found = _nearly_all(core.instance, decider)
    if found is None:
        return total
    topology, component, left_out, instance, placement = found
    free = _free(instance, placement, resources)
    need = {r: one_task(core.instance, topology, component, r) for r in resources}
    task = f"the last {'task' if left_out == 1 else tasks_text(left_out)} of {component.id}"
    if len(resources) == 1:
        return f"{total} {_one_resource(resources[0], free[resources[0]], need, task, left_out)}"
    return f"{total} {_several(instance, free, need, task, left_out)}"


def _one_resource(
    resource: str, free: list[Decimal], need: dict[str, Decimal], task: str, left_out: int
) -> str:
    each = " each" if left_out > 1 else ""
    in_all = quantity(resource, sum(free, ZERO))
    return (
        f"When all but {task} ({need_text(need)}{each}) are placed, {in_all} are free in all, but "
        f"at most {exact_text(max(free))} on one node."
    )


def _several(
    instance: Instance,
    free: dict[str, list[Decimal]],
    need: dict[str, Decimal],
    task: str,
    left_out: int,
) -> str:
    """Say for each short resource on how many nodes it is the one that is missing."""
    each = " each" if left_out > 1 else ""
    short: dict[str, list[str]] = {}
    for n, node in enumerate(instance.cluster.nodes):
        for resource, wanted in need.items():
            if wanted > free[resource][n]:
                short.setdefault(resource, []).append(node.id)
                break
    parts = [
        f"too little {resource} on {listed(tuple(nodes))}" for resource, nodes in short.items()
    ]
    return f"When all but {task} ({need_text(need)}{each}) are placed, there is {', '.join(parts)}."


def need_text(need: dict[str, Decimal]) -> str:
    """Return what one task needs in words."""
    return ", ".join(quantity(resource, amount) for resource, amount in need.items() if amount)


def _nearly_all(
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
