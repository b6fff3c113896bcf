"""Reader of conformance vectors (``shared/storm/vectors/README.md``): files to instances."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from slotwise.models.importers.storm_cluster import PRIORITIES, strategy_name
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import (
    ACKER,
    Ackers,
    Component,
    Constraints,
    RasSettings,
    SharedMemory,
    Stream,
    Topology,
)

Data = dict[str, Any]

KNOWN = {
    "nodes",
    "nodes_spec",
    "strategies",
    "topologies",
    "topologies_spec",
    "rounds",
    "pools",
    "max_attempts",
    "max_states",
    "worker_min_cpu_pct",
    "priority_strategy",
    "reverse_executor_order",
    "sort_type",
    "executor",
    "steps",
    "data",
    "constraints_raw",
    "components",
}
KNOWN_OF_TOPOLOGY = {
    "id",
    "submitter",
    "priority",
    "launch_time",
    "worker_max_heap_mb",
    "components",
    "shared_memory",
    "component_to_shared_memory",
    "constraints",
    "acker_executors_per_worker",
    "one_executor_per_worker",
    "one_component_per_worker",
    "isolated_machines",
    "proximity",
    "favored_nodes",
    "unfavored_nodes",
}
PARTS = {
    "on_heap_mb": "onheap",
    "off_heap_worker_mb": "offheap_worker",
    "off_heap_node_mb": "offheap_node",
}


@dataclass(frozen=True)
class Vector:
    """One file."""

    path: Path
    name: str
    given: Data
    expected: Data

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies it names, by our names; none where it names none."""
        return tuple(strategy_name(name) for name in self.given.get("strategies", ()))


def read_vector(path: Path) -> Vector:
    """Return the vector of a file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    unknown = set(data["instance"]) - KNOWN
    if unknown:
        raise ValueError(f"{path}: unknown keys of the instance: {sorted(unknown)}")
    return Vector(path, data["name"], data["instance"], data["expected"])


def instances_of(vector: Vector) -> tuple[Instance, ...]:
    """Return the instance of each round; a vector without rounds has one."""
    given = vector.given
    rounds = given.get("rounds", [given.get("topologies", [])])
    start = min((t["launch_time"] for r in rounds for t in r if t != "+"), default=0)
    running: list[Topology] = []
    instances = []
    for one in rounds:
        if one[:1] != ["+"]:
            running = []
        running += [topology_of(t, start, given) for t in one if t != "+"]
        instances.append(_instance(vector, tuple(running)))
    return tuple(instances)


def _instance(vector: Vector, topologies: tuple[Topology, ...]) -> Instance:
    given = vector.given
    priority = given.get("priority_strategy", "DefaultSchedulingPriorityStrategy")
    pools = {
        owner: {{"memory": "memory_mb"}.get(key, key): amount for key, amount in pool.items()}
        for owner, pool in given.get("pools", {}).items()
    }
    return Instance(
        vector.name,
        Cluster(nodes_of(given)),
        topologies,
        Scheduler(
            Decimal(str(given.get("worker_min_cpu_pct", 0))),
            PRIORITIES[priority.rpartition(".")[2]],
            pools,
        ),
    )


def nodes_of(given: Data) -> tuple[Node, ...]:
    """Return the nodes, listed or by their number."""
    if "nodes_spec" in given:
        spec = given["nodes_spec"]
        resources = {"cpu": spec["cpu_pct"], "memory_mb": spec["memory_mb"]}
        return tuple(
            Node(f"r000s{i:03}", "rack-000", f"host-{i:03}-rack-000", spec["slots"], resources)
            for i in range(spec["n"])
        )
    return tuple(
        Node(
            node["id"],
            node["rack"],
            node["host"],
            node["slots"],
            {
                "cpu": round(node["cpu_pct"], 6),
                "memory_mb": round(node["memory_mb"], 6),
                **node["generic"],
            },
        )
        for node in given["nodes"]
    )


def topology_of(data: Data, start: int, given: Mapping[str, Any]) -> Topology:
    """Return a topology; `start` is the launch time that counts as 0."""
    unknown = set(data) - KNOWN_OF_TOPOLOGY
    if unknown:
        raise ValueError(f"{data['id']}: unknown keys of the topology: {sorted(unknown)}")
    heap = data["worker_max_heap_mb"]
    limits = data.get("constraints", {})
    users = [one for one in data["components"] if one["id"] != ACKER]
    return Topology(
        data["id"],
        tuple(
            Component(one["id"], one["kind"], one["executors"], _resources(one)) for one in users
        ),
        tuple(
            Stream(link["from"], one["id"], link["grouping"])
            for one in users
            for link in one["inputs"]
        ),
        owner=data["submitter"],
        priority=data["priority"],
        launch_time=data["launch_time"] - start,
        worker_max_heap_mb=None if heap == "inf" else heap,
        favored_nodes=tuple(data.get("favored_nodes", ())),
        unfavored_nodes=tuple(data.get("unfavored_nodes", ())),
        constraints=Constraints(
            tuple(map(tuple, limits.get("incompatible", ()))),
            limits.get("max_node_co_location", {}),
        ),
        one_task_per_worker=data.get("one_executor_per_worker", False),
        one_component_per_worker=data.get("one_component_per_worker", False),
        shared_memory=_shared(data),
        ackers=_ackers(data),
        ras=RasSettings(
            order_by_proximity=data.get("proximity", False),
            isolated_machines=data.get("isolated_machines"),
            max_states=given.get("max_states", 10_000),
        ),
    )


def _resources(component: Data) -> Data:
    return {
        "cpu": component["cpu_pct"],
        "onheap_mb": component["onheap_mb"],
        "offheap_mb": component["offheap_mb"],
        **component["generic"],
    }


def _shared(data: Data) -> tuple[SharedMemory, ...]:
    """Return each part of a region that is not 0; a name without components stands for nothing."""
    users: dict[str, list[str]] = {}
    for component, names in data.get("component_to_shared_memory", {}).items():
        for name in names:
            users.setdefault(name, []).append(component)
    return tuple(
        SharedMemory(f"{name}.{part}", kind, region[part], tuple(users.get(name, ())))
        for name, region in data.get("shared_memory", {}).items()
        for part, kind in PARTS.items()
        if region[part]
    )


def _ackers(data: Data) -> Ackers | None:
    for one in data["components"]:
        if one["id"] == ACKER:
            per_worker = data.get("acker_executors_per_worker", 1)
            return Ackers(one["executors"], per_worker, _resources(one))
    return None
