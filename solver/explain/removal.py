"""An instance with fewer tasks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.reserved import ACKER
from slotwise.models.instance.topology import Topology

Counts = Mapping[tuple[str, str], int]
"""(topology id, component id) -> number of tasks."""


def with_counts(instance: Instance, counts: Counts) -> Instance:
    """Return the instance with these numbers of tasks, each at most the present one.

    The tasks with the highest indices go; what `running` and `linear` say of them goes with them.
    """
    return with_topologies(
        instance, tuple(_with_counts(one, counts) for one in instance.topologies)
    )


def without_topologies(instance: Instance, evicted: Collection[str]) -> Instance:
    """Return the instance without these topologies."""
    return with_topologies(
        instance, tuple(one for one in instance.topologies if one.id not in evicted)
    )


def _with_counts(topology: Topology, counts: Counts) -> Topology:
    if all(key != topology.id for key, _ in counts):
        return topology
    components = tuple(
        replace(one, parallelism=counts.get((topology.id, one.id), one.parallelism))
        for one in topology.components
    )
    ackers = topology.ackers
    if ackers is not None:
        ackers = replace(ackers, count=counts.get((topology.id, ACKER), ackers.count))
    return replace(topology, components=components, ackers=ackers)


def with_topologies(instance: Instance, topologies: tuple[Topology, ...]) -> Instance:
    """Return the instance with these topologies, without what names tasks that they lack."""
    left = {
        (topology.id, f"{component.id}[{index}]")
        for topology in topologies
        for component in topology.placed_components
        for index in range(component.parallelism)
    }
    running = None
    if instance.running is not None:
        running = {
            topology: kept
            for topology, tasks in instance.running.items()
            if (kept := {task: place for task, place in tasks.items() if (topology, task) in left})
        }
    rows = [(row, instance.task_of(row.task)) for row in instance.linear]
    linear = tuple(replace(row, task="/".join(task)) for row, task in rows if task in left)
    return replace(instance, topologies=topologies, running=running, linear=linear)
