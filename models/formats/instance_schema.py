"""The shape of instance and placement files (Pydantic)."""

# ruff: noqa: RUF012  (Pydantic copies defaults)

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from slotwise.models.formats.fields import FileObject, Name, Number, Positive, Whole, choice
from slotwise.models.instance.instance import FLOWS, PRIORITY_STRATEGIES
from slotwise.models.instance.topology import GROUPINGS, KINDS, SHARED_KINDS

Row = Field(strict=False)
"""Lists of a fixed length are tuples here; only the list becomes a tuple, nothing else bends."""


class DistanceFile(FileObject):
    """Distances by level."""

    worker: Number
    node: Number
    rack: Number
    cluster: Number


class NodeFile(FileObject):
    """A machine; a resource of ``null`` has no limit, one that is absent is not offered."""

    id: Name
    rack: Name
    host: str = ""
    slots: Whole | None = None
    resources: dict[str, Number | None] = {}


class ClusterFile(FileObject):
    """Nodes, and the distances by level or node by node."""

    nodes: list[NodeFile]
    distance: DistanceFile | None = None
    matrix: list[list[Number]] | None = None


class ComponentFile(FileObject):
    """A spout or bolt."""

    id: Name
    kind: Annotated[str, choice(KINDS)]
    parallelism: Whole
    resources: dict[str, Number] = {}


class StreamFile(FileObject):
    """A stream between two components."""

    source: Name = Field(alias="from")
    target: Name = Field(alias="to")
    grouping: Annotated[str, choice(GROUPINGS)] = "shuffle"
    rate: Number | None = None
    tuple_bytes: Number | None = None


class ConstraintsFile(FileObject):
    """Rules between components."""

    incompatible: list[Annotated[tuple[Name, Name], Row]] = []
    max_per_node: dict[str, Positive] = {}


class SharedMemoryFile(FileObject):
    """A memory region shared by tasks."""

    id: Name
    kind: Annotated[str, choice(SHARED_KINDS)]
    mb: Number
    components: list[Name]


class AckersFile(FileObject):
    """Acker tasks."""

    count: Whole
    per_worker: Positive = 1
    resources: dict[str, Number] = {}


class RasFile(FileObject):
    """What Storm's RAS strategies read besides; ``null`` means no limit of the topology's own."""

    order_by_proximity: bool = False
    isolated_machines: Positive | None = None
    max_states: Whole = 10_000
    max_seconds: Whole | None = None


class TopologyFile(FileObject):
    """A topology; ``null`` limits mean none."""

    id: Name
    components: list[ComponentFile]
    streams: list[StreamFile] = []
    owner: str = ""
    priority: Whole = 29
    launch_time: Whole = 0
    strategy: str | None = None
    worker_max_heap_mb: Number | None = None
    workers: Positive | None = None
    favored_nodes: list[Name] = []
    unfavored_nodes: list[Name] = []
    constraints: ConstraintsFile = ConstraintsFile()
    one_task_per_worker: bool = False
    one_component_per_worker: bool = False
    shared_memory: list[SharedMemoryFile] = []
    ackers: AckersFile | None = None
    ras: RasFile = RasFile()


class SchedulerFile(FileObject):
    """Settings of the cluster's scheduler."""

    worker_min_cpu: Number | None = None
    priority_strategy: Annotated[str, choice(PRIORITY_STRATEGIES)] = "default"
    pools: dict[str, dict[str, Number]] = {}


class PlaceFile(FileObject):
    """Where one task runs."""

    node: Name
    worker: Whole


Places = dict[str, dict[str, PlaceFile]]


class LimitsFile(FileObject):
    """Most of a part of the objective, as a hard rule; ``null`` means no limit."""

    moved: Whole | None = None


class ObjectiveFile(FileObject):
    """Terms in lexicographic order, the soft resources' weights, limits of parts."""

    terms: list[Name] = ["overload", "network"]
    soft: dict[str, Whole] = {}
    limits: LimitsFile | None = None


class InstanceFile(FileObject):
    """A file ``slotwise.instance/1``."""

    format: Literal["slotwise.instance/1"]
    name: Name
    cluster: ClusterFile
    topologies: list[TopologyFile]
    scheduler: SchedulerFile = SchedulerFile()
    running: Places | None = None
    objective: ObjectiveFile = ObjectiveFile()
    linear: list[Annotated[tuple[Name, Name, Number], Row]] = []
    flow: Annotated[str, choice(FLOWS)] = "pairs"


class PlacementFile(FileObject):
    """A file ``slotwise.placement/1``; tasks that are not named are not placed."""

    format: Literal["slotwise.placement/1"]
    instance: Name
    topologies: Places


class RefusalFile(FileObject):
    """What a method writes that makes no placement."""

    refused: Name
