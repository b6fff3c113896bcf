"""From the data of an instance file to an `Instance`."""

from __future__ import annotations

from decimal import Decimal

from slotwise.models.errors import at
from slotwise.models.formats.instance_schema import (
    ClusterFile,
    InstanceFile,
    LimitsFile,
    Places,
    SchedulerFile,
)
from slotwise.models.formats.topology_schema import TopologyFile
from slotwise.models.formats.validation import validated
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective, Place, Scheduler
from slotwise.models.instance.ras_settings import RasSettings
from slotwise.models.instance.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)


def instance_from_document(document: object) -> Instance:
    """Return the instance of the data of a ``slotwise.instance/1`` file."""
    file = validated(InstanceFile, document)
    with at("objective"):
        objective = Objective(
            tuple(file.objective.terms), file.objective.soft, _limits(file.objective.limits)
        )
    return Instance(
        name=file.name,
        cluster=_cluster(file.cluster),
        topologies=tuple(_topology(f"topologies[{i}]", t) for i, t in enumerate(file.topologies)),
        scheduler=_scheduler(file.scheduler),
        running=None if file.running is None else places_of(file.running, "running"),
        objective=objective,
        linear=tuple(_linear(i, row) for i, row in enumerate(file.linear)),
        flow=file.flow,
    )


def _limits(file: LimitsFile | None) -> dict[str, int]:
    found = {} if file is None else file.model_dump()
    return {part: most for part, most in found.items() if most is not None}


def places_of(file: Places, where: str) -> dict[str, dict[str, Place]]:
    """Return the places of a checked ``topologies`` object of a placement."""
    places: dict[str, dict[str, Place]] = {}
    for topology, tasks in file.items():
        for task, place in tasks.items():
            with at(f"{where}.{topology}.{task}"):
                places.setdefault(topology, {})[task] = Place(place.node, place.worker)
    return places


def _cluster(file: ClusterFile) -> Cluster:
    nodes = []
    for i, node in enumerate(file.nodes):
        with at(f"cluster.nodes[{i}]"):
            nodes.append(Node(node.id, node.rack, node.host, node.slots, node.resources))
    with at("cluster.distance"):
        levels = file.distance
        distance = Distance() if levels is None else Distance(**levels.model_dump())
    matrix = None if file.matrix is None else tuple(map(tuple, file.matrix))
    with at("cluster"):
        return Cluster(tuple(nodes), distance, matrix)


def _scheduler(file: SchedulerFile) -> Scheduler:
    least = Decimal(0) if file.worker_min_cpu is None else file.worker_min_cpu
    with at("scheduler"):
        return Scheduler(least, file.priority_strategy, file.pools)


def _linear(index: int, row: tuple[str, str, Decimal]) -> LinearCost:
    with at(f"linear[{index}]"):
        return LinearCost(*row)


def _topology(where: str, file: TopologyFile) -> Topology:
    components, streams, regions = [], [], []
    for i, c in enumerate(file.components):
        with at(f"{where}.components[{i}]"):
            components.append(Component(**dict(c)))
    for i, s in enumerate(file.streams):
        with at(f"{where}.streams[{i}]"):
            streams.append(Stream(**dict(s)))
    for i, m in enumerate(file.shared_memory):
        with at(f"{where}.shared_memory[{i}]"):
            regions.append(SharedMemory(m.id, m.kind, m.mb, tuple(m.components)))
    with at(f"{where}.constraints"):
        constraints = Constraints(
            tuple(file.constraints.incompatible), file.constraints.max_per_node
        )
    with at(f"{where}.ackers"):
        ackers = None if file.ackers is None else Ackers(**dict(file.ackers))
    with at(f"{where}.ras"):
        ras = RasSettings(**dict(file.ras))
    with at(where):
        parts = {
            "components": components,
            "streams": streams,
            "constraints": constraints,
            "shared_memory": regions,
            "ackers": ackers,
            "ras": ras,
        }
        return Topology(**{**dict(file), **parts})
