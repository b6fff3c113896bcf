"""A placement told by names: the tasks on each node."""

from __future__ import annotations

from slotwise.models.display import listed
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, tasks_by_worker


def node_lines(instance: Instance, placement: Placement) -> list[str]:
    """Return a line for each node in use, in the cluster's order: ``n1: lines[0], split[1]``.

    With several topologies each task has the prefix ``topology/``.
    """
    several = len(instance.topologies) > 1
    tasks: dict[int, list[str]] = {}
    workers = tasks_by_worker(instance, placement)
    for topology, node, worker in sorted(workers, key=lambda key: (key[1], key[2], key[0])):
        prefix = f"{topology}/" if several else ""
        found = workers[topology, node, worker]
        tasks.setdefault(node, []).extend(f"{prefix}{task}" for task in found)
    nodes = instance.cluster.nodes
    return [f"{nodes[node].id}: {listed(found)}" for node, found in tasks.items()]
