"""Rules between the parts of an instance, one function each; all raise `InputError`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from slotwise.models.instance.instance import Instance, Place

MAX_TASKS = 1_000_000
"""Most tasks of an instance; the largest published topology has 9,389."""


def check_task_count(instance: Instance) -> None:
    """Refuse more than `MAX_TASKS` tasks."""
    total = 0
    for i, topology in enumerate(instance.topologies):
        for j, component in enumerate(topology.placed_components):
            total += component.parallelism
            if total > MAX_TASKS:
                own = j < len(topology.components)
                where = f"components[{j}].parallelism" if own else "ackers.count"
                raise InputError(
                    f"makes more than {MAX_TASKS} tasks in all",
                    field=f"topologies[{i}].{where}",
                    value=component.parallelism,
                )


def check_rates(instance: Instance) -> None:
    """Refuse a stream without a rate where flows are rates."""
    if instance.flow != "rates":
        return
    for i, topology in enumerate(instance.topologies):
        for j, stream in enumerate(topology.streams):
            if stream.rate is None and stream.source != stream.target:
                raise InputError(
                    "is needed where the flow is 'rates'",
                    field=f"topologies[{i}].streams[{j}].rate",
                    value=None,
                )


def check_soft(instance: Instance) -> None:
    """Refuse a soft resource that no node offers."""
    offered = {key for node in instance.cluster.nodes for key in node.resources}
    for key in instance.objective.soft:
        if key not in offered:
            raise InputError(
                "must be a resource that some node offers", field="objective.soft", value=key
            )


def check_running(instance: Instance) -> None:
    """Refuse unknown tasks and nodes in `running`, and two topologies in one worker."""
    if instance.running is None:
        if "moved" in instance.objective.parts:
            raise InputError("'moved' needs `running`", field="objective.terms", value="moved")
        if "moved" in instance.objective.limits:
            raise InputError("'moved' needs `running`", field="objective.limits", value="moved")
        return
    tasks = set(instance.task_names())
    nodes = {node.id for node in instance.cluster.nodes}
    tenant: dict[Place, str] = {}
    for topology, places in instance.running.items():
        for task, place in places.items():
            where = f"running.{topology}.{task}"
            if (topology, task) not in tasks:
                raise InputError("must be a task of the instance", field=where, has_value=False)
            if place.node not in nodes:
                raise InputError("must be a node", field=f"{where}.node", value=place.node)
            if tenant.setdefault(place, topology) != topology:
                raise InputError(
                    f"holds tasks of {tenant[place]!r} too: a worker has one topology",
                    field=f"{where}.worker",
                    value=place.worker,
                )


def check_linear(instance: Instance) -> None:
    """Refuse unknown tasks and nodes in `linear`, and rows that stand twice."""
    if not instance.linear:
        return
    tasks = set(instance.task_names())
    nodes = {node.id for node in instance.cluster.nodes}
    seen: set[tuple[tuple[str, str], str]] = set()
    for index, row in enumerate(instance.linear):
        task = instance.task_of(row.task)
        if task not in tasks:
            raise InputError(
                "must be a task, written topology/component[index]",
                field=f"linear[{index}][0]",
                value=row.task,
            )
        if row.node not in nodes:
            raise InputError("must be a node", field=f"linear[{index}][1]", value=row.node)
        if (task, row.node) in seen:
            raise InputError(
                "stands twice for this task and node", field=f"linear[{index}]", value=row.task
            )
        seen.add((task, row.node))
