"""Small instances with a workload, and placements of them, for tests of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data

Places = Mapping[str, Sequence[tuple[str, int]]]
"""Component -> node and worker of each of its tasks."""


def node(name: str, rack: str = "r1", **changes: Any) -> dict[str, Any]:
    """Return a node with one core of 100 points, and a network that is never in the way."""
    return {
        "id": name,
        "rack": rack,
        "resources": {"cpu": 100},
        "cores": 1,
        "bandwidth_in_mbit_s": 1_000_000,
        "bandwidth_out_mbit_s": 1_000_000,
    } | changes


def spout(name: str, tasks: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a spout that takes no time."""
    return {"id": name, "kind": "spout", "parallelism": tasks, "service_ms": 0} | changes


def bolt(name: str, tasks: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a bolt with exponential service of 1 ms."""
    work = {"service_ms": 1, "service_scv": 1}
    return {"id": name, "kind": "bolt", "parallelism": tasks} | work | changes


def stream(source: str, target: str, **changes: Any) -> dict[str, Any]:
    """Return a stream of one empty tuple for each that its sender receives."""
    return {"from": source, "to": target, "selectivity": 1, "tuple_bytes": 0} | changes


def topology(
    components: Sequence[dict[str, Any]],
    streams: Sequence[dict[str, Any]],
    name: str = "t",
    **changes: Any,
) -> dict[str, Any]:
    """Return a topology."""
    return {"id": name, "components": list(components), "streams": list(streams)} | changes


NOTHING = {"worker": 0, "node": 0, "rack": 0, "cluster": 0}
"""Milliseconds by level."""


def workload(
    nodes: Sequence[dict[str, Any]], topologies: Sequence[dict[str, Any]], **cluster: Any
) -> Instance:
    """Return an instance; distance and sending take no time unless `cluster` says so."""
    times = {"delay_ms": NOTHING, "serialise_ms": NOTHING}
    return instance_from_data(
        {
            "format": "slotwise.instance/1",
            "name": "workload",
            "cluster": {"nodes": list(nodes)} | times | cluster,
            "topologies": list(topologies),
        }
    )


def placed(instance: Instance, places: Mapping[str, Places]) -> Placement:
    """Return the placement of topology -> component -> places."""
    return Placement.from_dict(
        instance,
        {
            name: {
                f"{component}[{index}]": place
                for component, some in components.items()
                for index, place in enumerate(some)
            }
            for name, components in places.items()
        },
    )


def apart(instance: Instance) -> Placement:
    """Return the placement of task i on node i, each in a worker of its own."""
    count = len(instance.task_names())
    return Placement(tuple(range(count)), (0,) * count)
