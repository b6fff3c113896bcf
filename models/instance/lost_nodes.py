"""An instance without some of its nodes, after machines died."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from decimal import Decimal

from slotwise.models.display import counted
from slotwise.models.errors import InputError, suggestion
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, from_places, to_places


def without_nodes(
    instance: Instance, lost: Collection[str], field: str = "without_nodes"
) -> Instance:
    """Return the instance without the nodes `lost`, given by id.

    Their rows and columns of the matrix, their linear costs and the uplinks of racks that are gone
    are removed, too. `running` is kept: tasks that ran there are orphans (`Instance.lost`). A soft
    resource that no other node offers stays soft: the first node left offers 0 of it.

    A node that only `running` names is gone already.

    Raises
    ------
    InputError
        For a name that no node has, a text in place of ids, and where no node would be left;
        `field` names the argument.
    """
    if isinstance(lost, str):
        raise InputError(f"must be ids of nodes, such as [{lost!r}]", field=field, value=lost)
    cluster, gone = instance.cluster, instance.lost
    for name in lost:
        if name not in gone and all(node.id != name for node in cluster.nodes):
            rule = f"is not a node; {suggestion(name, [node.id for node in cluster.nodes])}"
            raise InputError(rule, field=field, value=name)
    kept = [index for index, node in enumerate(cluster.nodes) if node.id not in lost]
    if not kept:
        raise InputError("leaves no node; name fewer", field=field, value=",".join(sorted(lost)))
    nodes = tuple(cluster.nodes[index] for index in kept)
    matrix = cluster.matrix
    if matrix is not None:
        matrix = tuple(tuple(matrix[i][j] for j in kept) for i in kept)
    offered = {key for node in nodes for key in node.resources}
    none_left = {key: Decimal(0) for key in instance.objective.soft if key not in offered}
    first = replace(nodes[0], resources={**nodes[0].resources, **none_left})
    return replace(
        instance,
        cluster=cluster.with_nodes((first, *nodes[1:]), matrix),
        linear=tuple(row for row in instance.linear if row.node not in lost),
    )


def in_whole(left: Instance, whole: Instance, placement: Placement) -> Placement:
    """Return a placement of an instance without some nodes as one of the `whole` instance."""
    return from_places(whole, to_places(left, placement))


def in_left(whole: Instance, left: Instance, placement: Placement) -> Placement:
    """Return the part of a placement of the `whole` instance on the remaining nodes."""
    known = {node.id for node in left.cluster.nodes}
    places = {
        topology: {task: place for task, place in tasks.items() if place.node in known}
        for topology, tasks in to_places(whole, placement).items()
    }
    return from_places(left, places)


def lost_node_notes(instance: Instance, expected: Collection[str] = ()) -> tuple[str, ...]:
    """Return a line for each node that `running` names and the cluster lacks.

    It has the number of its tasks, and the nearest name of a node in case it is misspelt. Nodes
    that are `expected` to be lost have no line.
    """
    names = [node.id for node in instance.cluster.nodes]
    notes = []
    for node, tasks in instance.lost.items():
        if node in expected:
            continue
        count = counted(len(tasks), "task")
        close = suggestion(node, names)
        hint = f"; {close}" if close.startswith("did you mean") else ""
        notes.append(
            f"running names node {node!r}, which the cluster lacks: {count} orphaned{hint}"
        )
    return tuple(notes)
