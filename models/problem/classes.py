"""Classes of interchangeable tasks, and the flows between them."""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.instance.instance import Instance
from slotwise.models.problem.flows import PairFlow
from slotwise.models.problem.problem import Flow, TaskClass

LinearRow = tuple[tuple[int, int], ...]
"""(node index, integer cost) of one task, ascending by node."""


@dataclass(frozen=True, slots=True)
class _Key:
    """What tasks of one class have in common."""

    topology: int
    component: int
    first: bool
    costs: LinearRow
    home: tuple[int, int] | None


def linear_rows(instance: Instance, scale: int) -> dict[tuple[str, str], LinearRow]:
    """Return the linear costs by task; tasks without any cost are absent."""
    node_index = {node.id: index for index, node in enumerate(instance.cluster.nodes)}
    rows: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for row in instance.linear:
        if row.cost:
            entry = (node_index[row.node], int(row.cost * scale))
            rows.setdefault(instance.task_of(row.task), []).append(entry)
    return {task: tuple(sorted(entries)) for task, entries in rows.items()}


def task_classes(
    instance: Instance,
    pair_flows: tuple[PairFlow, ...],
    rows: dict[tuple[str, str], LinearRow],
) -> tuple[TaskClass, ...]:
    """Group the tasks of each component that differ in nothing; classes by first task.

    Tasks of a component differ when the first alone receives a ``global`` stream, when their
    linear costs differ or when they run on different workers now.
    """
    node_index = {node.id: index for index, node in enumerate(instance.cluster.nodes)}
    members: dict[_Key, list[int]] = {}
    homes = instance.still_running or {}
    task, component_index = 0, 0
    for t, topology in enumerate(instance.topologies):
        global_targets = {target for _, target, first_only in pair_flows[t] if first_only}
        running = homes.get(topology.id, {})
        for component in topology.placed_components:
            if not (rows or running or component.id in global_targets):  # nothing tells them apart
                if component.parallelism:
                    key = _Key(t, component_index, first=False, costs=(), home=None)
                    members[key] = list(range(task, task + component.parallelism))
                task += component.parallelism
                component_index += 1
                continue
            for index in range(component.parallelism):
                name = f"{component.id}[{index}]"
                place = running.get(name)
                key = _Key(
                    topology=t,
                    component=component_index,
                    first=index == 0 and component.id in global_targets,
                    costs=rows.get((topology.id, name), ()),
                    home=None if place is None else (node_index[place.node], place.worker),
                )
                members.setdefault(key, []).append(task)
                task += 1
            component_index += 1
    return tuple(TaskClass(k.topology, k.component, tuple(m), k.home) for k, m in members.items())


def class_flows(
    components: tuple[tuple[int, str], ...],
    classes: tuple[TaskClass, ...],
    pair_flows: tuple[PairFlow, ...],
    scale: int,
) -> tuple[Flow, ...]:
    """Return the flows between classes in integer units, ascending by (source, target)."""
    index = {key: number for number, key in enumerate(components)}
    of_component: dict[int, list[int]] = {}
    for number, one in enumerate(classes):
        of_component.setdefault(one.component, []).append(number)
    first_task: dict[int, int] = {}
    for one in classes:
        first_task[one.component] = min(one.tasks[0], first_task.get(one.component, one.tasks[0]))
    weights: dict[tuple[int, int], int] = {}
    for t, flows in enumerate(pair_flows):
        for (source, target, first_only), weight in flows.items():
            receivers = of_component.get(index[t, target], [])
            if first_only:
                first = first_task.get(index[t, target])
                receivers = [b for b in receivers if classes[b].tasks[0] == first]
            for a in of_component.get(index[t, source], []):
                for b in receivers:
                    weights[a, b] = weights.get((a, b), 0) + int(weight * scale)
    return tuple(Flow(a, b, weight) for (a, b), weight in sorted(weights.items()))
