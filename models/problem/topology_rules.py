"""The rules of an instance in integers: one `Rules` per topology, shared memory, moves."""

from __future__ import annotations

from collections.abc import Mapping

from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.problem.problem import Region, TaskClass
from slotwise.models.problem.rules import Rules
from slotwise.models.problem.scaling import MEMORY, Scale
from slotwise.models.values import NO_LIMIT

Components = tuple[tuple[int, str], ...]
"""(topology index, component id) of each component."""

Scales = Mapping[str, Scale]
"""Dimension -> its scale."""


def topology_rules(
    instance: Instance, components: Components, classes: tuple[TaskClass, ...], scales: Scales
) -> tuple[Rules, ...]:
    """Return the rules of each topology."""
    index = {key: number for number, key in enumerate(components)}
    lowest = max((topology.priority for topology in instance.topologies), default=0)
    rules = []
    for t, topology in enumerate(instance.topologies):
        heap = topology.worker_max_heap_mb
        pairs = {
            (min(index[t, a], index[t, b]), max(index[t, a], index[t, b]))
            for a, b in topology.constraints.incompatible
        }
        rules.append(
            Rules(
                id=topology.id,
                classes=tuple(c for c, one in enumerate(classes) if one.topology == t),
                heap_limit=NO_LIMIT if heap is None else scales[MEMORY](heap),
                one_task_per_worker=topology.one_task_per_worker,
                one_component_per_worker=topology.one_component_per_worker,
                incompatible=tuple(sorted(pairs)),
                max_per_node=tuple(
                    sorted((index[t, c], m) for c, m in topology.constraints.max_per_node.items())
                ),
                reject_weight=lowest - topology.priority + 1,
            )
        )
    return tuple(rules)


def shared_regions(
    instance: Instance, components: Components, classes: tuple[TaskClass, ...], scales: Scales
) -> tuple[Region, ...]:
    """Return the shared memory regions of all topologies."""
    return tuple(
        Region(
            id=region.id,
            topology=t,
            kind=region.kind,
            size=scales[MEMORY](region.mb),
            classes=tuple(
                c
                for c, one in enumerate(classes)
                if one.topology == t and components[one.component][1] in region.components
            ),
        )
        for t, topology in enumerate(instance.topologies)
        for region in topology.shared_memory
    )


def move_limit(objective: Objective, classes: tuple[TaskClass, ...]) -> int:
    """Return the limit of ``moved``; `NO_LIMIT` also where there are no more tasks to move."""
    most = objective.limits.get("moved", NO_LIMIT)
    homed = sum(one.size for one in classes if one.home is not None)
    return most if most < homed else NO_LIMIT
