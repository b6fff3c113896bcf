"""The shape of a decoded Storm cluster, as far as we read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slotwise.models.nouns import Flag, Name, Noun, Number, Positive, Whole


class StormObject(Noun):
    """An object of a decoded file, which holds more than we read."""

    __slots__ = ()

    OTHERS = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StormInput(StormObject):
    """A subscription of a component to a stream."""

    source: Name = field(metadata={"alias": "from"})
    grouping: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StormComponent(StormObject):
    """A spout or bolt with the request of one executor."""

    id: Name
    kind: str
    parallelism_hint: Whole | None
    cpu_pct: Number
    onheap_mb: Number
    offheap_mb: Number
    generic: Mapping[str, Number] = field(default_factory=dict)
    inputs: tuple[StormInput, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StormRules(StormObject):
    """Constraints of one component in Storm's newer spelling."""

    most: Positive | None = field(default=None, metadata={"alias": "maxNodeCoLocationCnt"})
    apart: tuple[Name, ...] | Name = field(default=(), metadata={"alias": "incompatibleComponents"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StormTopology(StormObject):
    """A topology with its configuration."""

    id: Name
    priority: Whole
    strategy: str
    num_workers: Positive | None = None
    worker_max_heap_mb: Number | None = None
    submitter: str = ""
    one_executor_per_worker: Flag = False
    one_component_per_worker: Flag = False
    ras_constraints_raw: tuple[tuple[Name, Name], ...] | Mapping[str, StormRules] | None = None
    spread_components_raw: tuple[str, ...] | None = None
    shared_memory: Mapping[str, object] = field(default_factory=dict)
    components: tuple[StormComponent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StormNode(StormObject):
    """A supervisor."""

    id: Name
    host: str
    rack: Name
    slots: Whole
    cpu_pct: Number
    memory_mb: Number
    generic: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StormConf(StormObject):
    """The cluster's configuration."""

    priority_strategy: str
    worker_min_cpu_pct: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class StormSpec(StormObject):
    """The cluster."""

    cluster_conf_from_first_topology: StormConf
    nodes: tuple[StormNode, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StormFile(StormObject):
    """A decoded cluster."""

    cluster: Name
    topologies: tuple[StormTopology, ...]
    cluster_spec: StormSpec
