"""A placement told by names: the tasks on each node."""

from __future__ import annotations

from slotwise.models.display import listed
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, tasks_by_worker


def node_lines(instance: Instance, placement: Placement) -> list[str]:
    """Return a line for each node in use, in the cluster's order: ``n1: lines[0], split[1]``."""
    tasks: dict[int, list[str]] = {}
    for (_, node, _), found in _sorted(instance, placement):
        tasks.setdefault(node, []).extend(found)
    nodes = instance.cluster.nodes
    return [f"{nodes[node].id}: {listed(found)}" for node, found in tasks.items()]


def _sorted(
    instance: Instance, placement: Placement
) -> list[tuple[tuple[str, int, int], list[str]]]:
    """Return the workers with their tasks, by node and label; tasks of several have a prefix."""
    several = len(instance.topologies) > 1
    found = tasks_by_worker(instance, placement)
    named = {
        key: [f"{key[0]}/{task}" for task in tasks] if several else tasks
        for key, tasks in found.items()
    }
    return sorted(named.items(), key=lambda item: (item[0][1], item[0][2], item[0][0]))
