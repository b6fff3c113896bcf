"""The shape of a decoded Storm cluster, as far as we read it (Pydantic)."""

# ruff: noqa: RUF012  (Pydantic copies defaults)

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from slotwise.models.formats.fields import FileObject, Name, Number, Positive, Whole

Pair = Annotated[tuple[Name, Name], Field(strict=False)]


class StormObject(FileObject):
    """An object of a decoded file, which holds more than we read."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class StormInput(StormObject):
    """A subscription of a component to a stream."""

    source: Name = Field(alias="from")
    grouping: str


class StormComponent(StormObject):
    """A spout or bolt with the request of one executor."""

    id: Name
    kind: str
    parallelism_hint: Whole | None
    cpu_pct: Number
    onheap_mb: Number
    offheap_mb: Number
    generic: dict[str, Number] = {}
    inputs: list[StormInput] = []


class StormRules(StormObject):
    """Constraints of one component in Storm's newer spelling."""

    most: Positive | None = Field(default=None, alias="maxNodeCoLocationCnt")
    apart: list[Name] | Name = Field(default=[], alias="incompatibleComponents")


class StormTopology(StormObject):
    """A topology with its configuration."""

    id: Name
    priority: Whole
    strategy: str
    num_workers: Positive | None = None
    worker_max_heap_mb: Number | None = None
    submitter: str = ""
    one_executor_per_worker: bool = False
    one_component_per_worker: bool = False
    ras_constraints_raw: list[Pair] | dict[str, StormRules] | None = None
    spread_components_raw: list[str] | None = None
    shared_memory: dict[str, object] = {}
    components: list[StormComponent]


class StormNode(StormObject):
    """A supervisor."""

    id: Name
    host: str
    rack: Name
    slots: Whole
    cpu_pct: Number
    memory_mb: Number
    generic: dict[str, Number] = {}


class StormConf(StormObject):
    """The cluster's configuration."""

    priority_strategy: str
    worker_min_cpu_pct: Number


class StormSpec(StormObject):
    """The cluster."""

    cluster_conf_from_first_topology: StormConf
    nodes: list[StormNode]


class StormFile(StormObject):
    """A decoded cluster."""

    cluster: Name
    topologies: list[StormTopology]
    cluster_spec: StormSpec
