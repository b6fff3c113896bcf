"""From an `Instance` to the data of its file, and the instance's hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from slotwise.models.formats.json_text import canonical_json
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.ras_settings import RasSettings
from slotwise.models.instance.topology import Ackers, Component, Stream, Topology

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

INSTANCE_FORMAT = "slotwise.instance/1"

TOPOLOGY_KEYS = (
    *("id", "owner", "priority", "launch_time", "strategy", "worker_max_heap_mb", "workers"),
    *("favored_nodes", "unfavored_nodes", "constraints", "one_task_per_worker"),
    *("one_component_per_worker", "shared_memory", "ackers", "components", "streams"),
)
"""In the order of a written file; ``ras`` may follow."""


def instance_document(instance: Instance) -> dict[str, Any]:
    """Return the full data of an instance's file, defaults filled in; numbers are exact.

    Every number is an `int` or a `Decimal`; `json_text` and `yaml_text` write them.
    """
    return {
        "format": INSTANCE_FORMAT,
        "name": instance.name,
        "cluster": _cluster_document(instance.cluster),
        "topologies": [_topology_document(topology) for topology in instance.topologies],
        "scheduler": {
            "worker_min_cpu": instance.scheduler.worker_min_cpu,
            "priority_strategy": instance.scheduler.priority_strategy,
            "pools": {owner: dict(pool) for owner, pool in instance.scheduler.pools.items()},
        },
        "running": None if instance.running is None else places_document(instance.running),
        "objective": _objective_document(instance.objective),
        "linear": [[row.task, row.node, row.cost] for row in instance.linear],
        "flow": instance.flow,
    }


def instance_hash(instance: Instance) -> str:
    """Return ``sha256:`` and the hash of the canonical document without the name.

    Equal for files that differ in layout, key order, spelling of numbers, or in whether a
    default is written out (a demand or capacity of 0 is one), or in what was estimated. The order
    of nodes, topologies, components, streams and linear rows counts: results refer to it.
    """
    document = instance_document(instance)
    del document["name"]
    for holder in _resource_holders(document):
        amounts = holder["resources"].items()
        holder["resources"] = {key: amount for key, amount in amounts if amount != 0}
    for holder in _measured_parts(document):
        holder.pop("estimated", None)
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def _resource_holders(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from document["cluster"]["nodes"]
    for topology in document["topologies"]:
        yield from topology["components"]
        if topology["ackers"] is not None:
            yield topology["ackers"]


def _measured_parts(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for topology in document["topologies"]:
        yield from topology["components"]
        yield from topology["streams"]
        if topology["ackers"] is not None:
            yield topology["ackers"]


def places_document(places: Mapping[str, Mapping[str, Place]]) -> dict[str, Any]:
    """Return places by topology and task as the data of a file."""
    return {
        topology: {
            task: {"node": place.node, "worker": place.worker} for task, place in tasks.items()
        }
        for topology, tasks in places.items()
    }


def _objective_document(objective: Objective) -> dict[str, Any]:
    """Return the objective; limits only where there are some, so that older hashes stay."""
    limits = {"limits": dict(objective.limits)} if objective.limits else {}
    return {"terms": list(objective.terms), "soft": dict(objective.soft), **limits}


def _cluster_document(cluster: Cluster) -> dict[str, Any]:
    levels = zip(("worker", "node", "rack", "cluster"), cluster.distance.levels, strict=True)
    return {
        "distance": dict(levels),
        "nodes": [
            {
                "id": node.id,
                "host": node.host,
                "rack": node.rack,
                "slots": node.slots,
                "resources": dict(node.resources),
            }
            for node in cluster.nodes
        ],
        "matrix": None if cluster.matrix is None else [list(row) for row in cluster.matrix],
    }


def _topology_document(topology: Topology) -> dict[str, Any]:
    """Return the topology; ``ras`` only where it says something, so that older hashes stay."""
    data = _by_field(topology) | {
        "constraints": _by_field(topology.constraints),
        "shared_memory": [_by_field(region) for region in topology.shared_memory],
        "ackers": None if topology.ackers is None else _measured_part(topology.ackers),
        "components": [_measured_part(component) for component in topology.components],
        "streams": [_stream_document(stream) for stream in topology.streams],
        "ras": _by_field(topology.ras),
    }
    keys = TOPOLOGY_KEYS if topology.ras == RasSettings() else (*TOPOLOGY_KEYS, "ras")
    return {key: data[key] for key in keys}


def _stream_document(stream: Stream) -> dict[str, Any]:
    data = _measured_part(stream)
    return {"from": data.pop("source"), "to": data.pop("target"), **data}


def _measured_part(noun: Component | Ackers | Stream) -> dict[str, Any]:
    """Return the fields; ``estimated`` only where something was, as in older files."""
    data = _by_field(noun)
    estimated = data.pop("estimated")
    return data | ({"estimated": list(estimated)} if estimated else {})


def _by_field(noun: DataclassInstance) -> dict[str, Any]:
    """Return the fields as they are: `asdict` copies every number."""
    return {field.name: getattr(noun, field.name) for field in fields(noun)}
