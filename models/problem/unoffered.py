"""Resources that tasks need and no node offers: most often a name that is spelt in two ways."""

from __future__ import annotations

from decimal import Decimal
from difflib import get_close_matches

from slotwise.models.instance.instance import Instance
from slotwise.models.problem.scaling import MEMORY, dimension


def unoffered(instance: Instance) -> tuple[str, ...]:
    """Return a line for people for each resource that tasks need and no node has any of.

    It names a task that needs it, and the resource that nodes offer whose name is nearest (by
    `difflib`, ratio of 0.5 or more), or all of them. No lines where the cluster has no nodes.
    """
    nodes = instance.cluster.nodes
    offered = {
        key: None for node in nodes for key, value in node.resources.items() if value != Decimal(0)
    }
    needed: dict[str, str] = {}
    for topology in instance.topologies:
        for component in topology.placed_components:
            for key, value in component.resources.items():
                if value > 0 and component.parallelism:
                    needed.setdefault(dimension(key), f"{topology.id}/{component.id} ({key})")
    return tuple(
        f"resource {resource!r}: {user} needs it and no node offers it; "
        f"{_nearest(resource, offered)}"
        for resource, user in needed.items()
        if nodes and resource not in offered
    )


def _nearest(resource: str, offered: dict[str, None]) -> str:
    close = get_close_matches(resource, offered, n=1, cutoff=0.5)
    if close == [MEMORY]:
        return f"nodes offer {MEMORY!r}, and tasks need it as onheap_mb and offheap_mb"
    if close:
        return f"is {close[0]!r} of the nodes meant?"
    return f"nodes offer {', '.join(offered)}" if offered else "nodes offer nothing"
