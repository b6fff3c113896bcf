"""An instance without some of its nodes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from slotwise.models.instance.instance import Instance


def without_nodes(instance: Instance, lost: Collection[str]) -> Instance:
    """Return the instance without the nodes `lost`, given by id; at least one node must be left.

    What refers to them goes, too: their rows and columns of the matrix, their linear costs, tasks
    that run there, and weights of soft resources that no other node offers.
    """
    cluster = instance.cluster
    kept = [index for index, node in enumerate(cluster.nodes) if node.id not in lost]
    nodes = tuple(cluster.nodes[index] for index in kept)
    matrix = cluster.matrix
    if matrix is not None:
        matrix = tuple(tuple(matrix[i][j] for j in kept) for i in kept)
    running = instance.running
    if running is not None:
        left = {
            topology: {task: place for task, place in places.items() if place.node not in lost}
            for topology, places in running.items()
        }
        running = {topology: places for topology, places in left.items() if places}
    offered = {key for node in nodes for key in node.resources}
    soft = {key: weight for key, weight in instance.objective.soft.items() if key in offered}
    return replace(
        instance,
        cluster=replace(cluster, nodes=nodes, matrix=matrix),
        running=running,
        linear=tuple(row for row in instance.linear if row.node not in lost),
        objective=replace(instance.objective, soft=soft),
    )
