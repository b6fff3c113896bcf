"""Demands of tasks, and capacities for them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from slotwise.models.instance.instance import Instance
from slotwise.models.problem.scaling import dimension
from slotwise.testing.random_instances.features import with_tasks_in


def total_demand(instance: Instance) -> dict[str, Decimal]:
    """Return dimension -> what the tasks alone need of it; only those of which they need some."""
    total: dict[str, Decimal] = {}
    for topology in instance.topologies:
        for component in topology.placed_components:
            for key, amount in component.resources.items():
                needed = amount * component.parallelism
                total[dimension(key)] = total.get(dimension(key), Decimal(0)) + needed
    return {key: amount for key, amount in sorted(total.items()) if amount}


def with_some_demand(instance: Instance) -> Instance:
    """Return the instance with a demand of some resource, at least of one task; nodes have room."""
    return instance if total_demand(instance) else with_demand(instance, "cpu", Decimal(10))


def with_demand(instance: Instance, key: str, amount: Decimal) -> Instance:
    """Return the instance with `amount` of `key` for each task of the first component with tasks.

    Every node gets as much more capacity as all these tasks need, so that what fitted still fits.
    """
    first, *others = instance.topologies
    chosen = with_tasks_in(first)[0]
    components = tuple(
        replace(c, resources={**c.resources, key: amount}) if c.id == chosen else c
        for c in first.components
    )
    [tasks] = (c.parallelism for c in components if c.id == chosen)
    dim = dimension(key)
    nodes = []
    for node in instance.cluster.nodes:
        room = node.resources.get(dim, Decimal(0))
        more = None if room is None else room + amount * tasks
        nodes.append(replace(node, resources={**node.resources, dim: more}))
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=tuple(nodes)),
        topologies=(replace(first, components=components), *others),
    )
