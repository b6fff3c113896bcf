"""Where tasks run, from a placement that people hand in, also one of a cluster with more nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance


def of_larger_cluster(data: Any, instance: Instance) -> tuple[Any, Instance]:
    """Return data and instance such that a placement on nodes that are gone can be read.

    Parameters
    ----------
    data
        Of a placement file, a plan or an answer; anything else is returned as it is.
    instance
        What it is taken for.

    Returns
    -------
    tuple[Any, Instance]
        Where the data name nodes that the cluster lacks: the data without the hash, which is that
        of another instance, and the instance with these nodes, empty, at the end. Otherwise both as
        they are: a placement of another instance stays refused.
    """
    file = _placement_in(data)
    named = _nodes(file) if file is not None else ()
    known = {node.id for node in instance.cluster.nodes}
    gone = [name for name in dict.fromkeys(named) if name not in known]
    if not gone:
        return data, instance
    assert file is not None, "it names nodes"
    cluster = instance.cluster
    added = tuple(Node(name, cluster.nodes[0].rack, slots=0) for name in gone)
    larger = replace(cluster, nodes=(*cluster.nodes, *added), matrix=None)
    bare = {key: value for key, value in file.items() if key != "instance"}
    return bare, replace(instance, cluster=larger)


def _placement_in(data: Any) -> Mapping[str, Any] | None:
    """Return the placement file in the data of an answer, a plan, or itself; ``None`` = none."""
    if not isinstance(data, Mapping):
        return None
    if isinstance(data.get("topologies"), Mapping):
        return data
    inside = data.get("placement")
    return inside if isinstance(inside, Mapping) and "topologies" in inside else None


def _nodes(file: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the nodes that a placement file names; what has another shape is checked later."""
    topologies = file.get("topologies")
    found = []
    for tasks in topologies.values() if isinstance(topologies, Mapping) else ():
        for place in tasks.values() if isinstance(tasks, Mapping) else ():
            node = place.get("node") if isinstance(place, Mapping) else None
            if isinstance(node, str) and node:
                found.append(node)
    return tuple(found)
