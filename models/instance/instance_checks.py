"""Rules between the parts of an instance, one function each; all raise `InputError`.

They take the parts that a rule is about, so that this module lies below `instance`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.topology import Topology

MAX_TASKS = 1_000_000
"""Most tasks of an instance; the largest published topology has 9,389."""

Task = tuple[str, str]
"""Topology id and ``component[index]``."""


def check_task_count(topologies: Sequence[Topology]) -> None:
    """Refuse more than `MAX_TASKS` tasks."""
    total = 0
    for i, topology in enumerate(topologies):
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


def check_rates(topologies: Sequence[Topology]) -> None:
    """Refuse a stream without a rate; for instances whose flow is ``rates``."""
    for i, topology in enumerate(topologies):
        for j, stream in enumerate(topology.streams):
            if stream.rate is None and stream.source != stream.target:
                raise InputError(
                    "is needed where the flow is 'rates'",
                    field=f"topologies[{i}].streams[{j}].rate",
                    value=None,
                )


def check_soft(soft: Iterable[str], cluster: Cluster) -> None:
    """Refuse a soft resource that no node offers."""
    offered = {key for node in cluster.nodes for key in node.resources}
    for key in soft:
        if key not in offered:
            raise InputError(
                "must be a resource that some node offers", field="objective.soft", value=key
            )


def check_moves_count(parts: Collection[str], limits: Collection[str]) -> None:
    """Refuse ``moved`` in the objective; for instances without `running`."""
    if "moved" in parts:
        raise InputError("'moved' needs `running`", field="objective.terms", value="moved")
    if "moved" in limits:
        raise InputError("'moved' needs `running`", field="objective.limits", value="moved")


def check_running(running: Iterable[tuple[str, str, str, int]], tasks: Collection[Task]) -> None:
    """Refuse unknown tasks in `running`, and two topologies in one worker.

    `running` has rows of topology id, ``component[index]``, node id and worker label. A node that
    the cluster lacks is no mistake: it died, and its tasks are orphans.
    """
    tenant: dict[tuple[str, int], str] = {}
    for topology, task, node, worker in running:
        where = f"running.{topology}.{task}"
        if (topology, task) not in tasks:
            raise InputError("must be a task of the instance", field=where, has_value=False)
        if (other := tenant.setdefault((node, worker), topology)) != topology:
            raise InputError(
                f"holds tasks of {other!r} too: a worker has one topology",
                field=f"{where}.worker",
                value=worker,
            )


def check_linear(
    linear: Iterable[tuple[str, Task, str]], tasks: Collection[Task], cluster: Cluster
) -> None:
    """Refuse unknown tasks and nodes in `linear`, and rows that stand twice.

    `linear` has rows of the task as it is written, the task that is meant, and the node's id.
    """
    nodes = {node.id for node in cluster.nodes}
    seen: set[tuple[Task, str]] = set()
    for index, (written, task, node) in enumerate(linear):
        if task not in tasks:
            raise InputError(
                "must be a task, written topology/component[index]",
                field=f"linear[{index}][0]",
                value=written,
            )
        if node not in nodes:
            raise InputError("must be a node", field=f"linear[{index}][1]", value=node)
        if (task, node) in seen:
            raise InputError(
                "occurs twice for this task and node; keep one row",
                field=f"linear[{index}]",
                value=written,
            )
        seen.add((task, node))
