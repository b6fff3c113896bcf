"""The shape of a topology in instance files (Pydantic)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from slotwise.models.formats.fields import FileObject, Name, Number, Positive, Whole, choice
from slotwise.models.instance.topology import GROUPINGS, KINDS, SHARED_KINDS, STREAM_WEIGHTS

Row = Field(strict=False)
"""Lists of a fixed length are tuples here; only the list becomes a tuple, nothing else bends."""

ESTIMATED_RESOURCES: Any = Field(
    default=[],
    description="Resources whose demand `measure` estimated because the logs do not tell; no rule.",
)


class ComponentFile(FileObject):
    """A spout or bolt."""

    id: Name = Field(description="Unique in the topology.")
    kind: Annotated[str, choice(KINDS)] = Field(
        description="`spout`, `bolt`, or `system` for tasks of the stream processor itself."
    )
    parallelism: Whole = Field(description="Number of its tasks (Storm's executors), 0 or more.")
    resources: dict[str, Number] = Field(
        default={},
        description="Demand of one task by resource: `cpu` in points (100 = one core), `onheap_mb` "
        "and `offheap_mb` in MB, or any other name; absent = 0.",
    )
    estimated: list[Name] = ESTIMATED_RESOURCES


class StreamFile(FileObject):
    """A stream between two components."""

    source: Name = Field(alias="from", description="Component that sends.")
    target: Name = Field(alias="to", description="Component that receives.")
    grouping: Annotated[str, choice(GROUPINGS)] = Field(
        default="shuffle",
        description="How tuples are dealt to the receiver's tasks; it counts only where the "
        "instance's `flow` is `rates`. Storm's other spellings (`localOrShuffle`, "
        "`LOCAL_OR_SHUFFLE`) are read, too.",
    )
    rate: Number | None = Field(
        default=None,
        description="Tuples per second of the whole stream; null = unknown, which `flow: rates` "
        "refuses.",
    )
    tuple_bytes: Number | None = Field(
        default=None, description="Bytes of a tuple; null = 1, so that the rate is the flow."
    )
    estimated: list[Annotated[str, choice(STREAM_WEIGHTS)]] = Field(
        default=[],
        description="Which of `rate` and `tuple_bytes` `measure` estimated because the logs do not "
        "tell; no rule.",
    )


class ConstraintsFile(FileObject):
    """Rules between components."""

    incompatible: list[Annotated[tuple[Name, Name], Row]] = Field(
        default=[],
        description="Pairs of components that may not share a worker; a component paired with "
        "itself has at most one task in a worker.",
    )
    max_per_node: dict[str, Positive] = Field(
        default={},
        description="Most tasks of a component on one node, 1 or more, by component; absent = no "
        "limit.",
    )


class SharedMemoryFile(FileObject):
    """A memory region shared by tasks."""

    id: Name = Field(description="Unique in the topology.")
    kind: Annotated[str, choice(SHARED_KINDS)] = Field(
        description="`onheap` and `offheap_worker` count once per worker, `offheap_node` once per "
        "node, wherever a task of `components` runs; `onheap` counts in the heap too."
    )
    mb: Number = Field(description="Size in MB.")
    components: list[Name] = Field(description="Whose tasks share it.")


class AckersFile(FileObject):
    """Acker tasks."""

    count: Whole = Field(description="Number of tasks of the component `__acker`, 0 or more.")
    per_worker: Positive = Field(
        default=1, description="How many Storm's scheduler binds to a new worker; no rule."
    )
    resources: dict[str, Number] = Field(
        default={}, description="Demand of one acker, as of a component's task."
    )
    estimated: list[Name] = ESTIMATED_RESOURCES


class RasFile(FileObject):
    """What Storm's RAS strategies also read; ``null`` means no limit of the topology's own."""

    order_by_proximity: bool = Field(
        default=False, description="Tasks are ordered by nearness in the graph, not by connections."
    )
    isolated_machines: Positive | None = Field(
        default=None,
        description="Most nodes that `ras-round-robin` uses, 1 or more; null = no limit.",
    )
    max_states: Whole = Field(
        default=10_000, description="Most assignments that a strategy's search tries, 0 or more."
    )
    max_seconds: Whole | None = Field(
        default=None, description="Longest search, whole seconds; null = the scheduler's own limit."
    )


class TopologyFile(FileObject):
    """A topology; ``null`` limits mean none."""

    id: Name = Field(description="Unique in the instance.")
    components: list[ComponentFile] = Field(description="Spouts and bolts, without ackers.")
    streams: list[StreamFile] = Field(
        default=[], description="Who sends to whom; cycles are allowed."
    )
    owner: str = Field(default="", description="User it belongs to, for `scheduler.pools`.")
    priority: Whole = Field(
        default=29, description="0 is the highest; it weighs the term `rejected` and orders rounds."
    )
    launch_time: Whole = Field(
        default=0, description="Seconds; orders topologies of equal priority in rounds."
    )
    strategy: str | None = Field(
        default=None, description="Storm's strategy that places it; null = Storm's default."
    )
    worker_max_heap_mb: Number | None = Field(
        default=None, description="Most on-heap memory of one worker, MB; null = no limit."
    )
    workers: Positive | None = Field(
        default=None,
        description="Number of workers that round robin uses, 1 or more; null = one per node.",
    )
    favored_nodes: list[Name] = Field(
        default=[], description="Nodes or hosts that Storm's strategies try first; no rule."
    )
    unfavored_nodes: list[Name] = Field(
        default=[], description="Nodes or hosts that Storm's strategies try last; no rule."
    )
    constraints: ConstraintsFile = Field(
        default=ConstraintsFile(), description="Rules that its components set."
    )
    one_task_per_worker: bool = Field(
        default=False, description="A worker holds at most one task of the topology."
    )
    one_component_per_worker: bool = Field(
        default=False, description="A worker holds tasks of one component only."
    )
    shared_memory: list[SharedMemoryFile] = Field(
        default=[], description="Memory regions that tasks share."
    )
    ackers: AckersFile | None = Field(default=None, description="Acker tasks; null = none.")
    ras: RasFile = Field(
        default=RasFile(), description="What Storm's strategies also read; no rule."
    )
