"""The shape of instance and placement files (Pydantic)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from slotwise.models.formats.fields import FileObject, Name, Number, Whole, choice
from slotwise.models.formats.topology_schema import Row, TopologyFile
from slotwise.models.instance.instance import FLOWS, PRIORITY_STRATEGIES


class DistanceFile(FileObject):
    """Distances by level: each at least the one before it."""

    worker: Number = Field(description="Cost of one unit of flow between tasks of one worker.")
    node: Number = Field(description="The same between workers of one node.")
    rack: Number = Field(description="The same between nodes of one rack.")
    cluster: Number = Field(description="The same between racks.")


class NodeFile(FileObject):
    """A machine; a resource of ``null`` has no limit, one that is absent is not offered."""

    id: Name = Field(description="Unique in the cluster.")
    rack: Name = Field(description="Name of its rack; nodes with the same name share it.")
    host: str = Field(
        default="", description="Name of its host, which several nodes may share; empty = `id`."
    )
    slots: Whole | None = Field(
        default=None, description="Most workers on it, 0 or more; null = no limit."
    )
    resources: dict[str, Number | None] = Field(
        default={},
        description="Capacity by resource: `cpu` in points (100 = one core), `memory_mb` in MB, or "
        "any other name; null = no limit, a resource that is absent is not offered.",
    )


class ClusterFile(FileObject):
    """Nodes, and the distances by level or node by node."""

    nodes: list[NodeFile] = Field(description="The machines, at least one.")
    distance: DistanceFile | None = Field(
        default=None,
        description="Distances by level; null = 0 in a worker, 1 on a node, 2 in a rack, 3 across "
        "racks. Not used where there is a `matrix`.",
    )
    matrix: list[list[Number]] | None = Field(
        default=None,
        description="Distance from each node (row) to each node (column), in the order of `nodes`; "
        "null = by level.",
    )


class SchedulerFile(FileObject):
    """Settings of the cluster's scheduler."""

    worker_min_cpu: Number | None = Field(
        default=None, description="Least cpu that a worker counts, in points; null = 0."
    )
    priority_strategy: Annotated[str, choice(PRIORITY_STRATEGIES)] = Field(
        default="default", description="Order of topologies in a round of `schedule`."
    )
    pools: dict[str, dict[str, Number]] = Field(
        default={}, description="Owner -> resource -> amount that is guaranteed in a round."
    )


class PlaceFile(FileObject):
    """Where one task runs."""

    node: Name = Field(description="Id of a node.")
    worker: Whole = Field(
        description="Label of the worker, 0 or more: tells workers of a node apart, say a port."
    )


Places = dict[str, dict[str, PlaceFile]]


class LimitsFile(FileObject):
    """Most of a part of the objective, as a hard rule; ``null`` means no limit."""

    moved: Whole | None = Field(
        default=None,
        description="Most tasks that may be elsewhere than `running` has them; null = no limit.",
    )


class ObjectiveFile(FileObject):
    """Terms in lexicographic order, the soft resources' weights, limits of parts."""

    terms: list[Name] = Field(
        default=["overload", "network"],
        description="What is minimised, in this order: `overload`, `network`, `rejected`, `nodes`, "
        "`workers`, `moved`, `linear`, or sums such as `network+linear`.",
    )
    soft: dict[str, Whole] = Field(
        default={},
        description="Resource that may be exceeded -> weight of one unit of overload; all others "
        "are hard.",
    )
    limits: LimitsFile | None = Field(
        default=None, description="Hard limits of parts of the objective; null = none."
    )


class InstanceFile(FileObject):
    """A file ``slotwise.instance/1``."""

    format: Literal["slotwise.instance/1"] = Field(description="Names this format.")
    name: Name = Field(description="For people; not part of the instance's hash.")
    cluster: ClusterFile = Field(description="The machines and the distances between them.")
    topologies: list[TopologyFile] = Field(description="What is to be placed.")
    scheduler: SchedulerFile = Field(
        default=SchedulerFile(), description="What the cluster's scheduler goes by."
    )
    running: Places | None = Field(
        default=None,
        description="Where tasks run now: topology -> `component[index]` -> place; null = not "
        "known.",
    )
    objective: ObjectiveFile = Field(default=ObjectiveFile(), description="What is minimised.")
    linear: list[Annotated[tuple[Name, Name, Number], Row]] = Field(
        default=[],
        description="Costs for the term `linear`: task (`topology/component[index]`, or without "
        "the topology if there is one only), node, cost; absent = 0.",
    )
    flow: Annotated[str, choice(FLOWS)] = Field(
        default="pairs",
        description="`pairs`: flow 1 for each ordered pair of tasks of two joined components; "
        "`rates`: rate times bytes of a tuple, divided over the pairs by grouping.",
    )


class PlacementFile(FileObject):
    """A file ``slotwise.placement/1``; tasks that are not named are not placed."""

    format: Literal["slotwise.placement/1"] = Field(description="Names this format.")
    instance: Name | None = Field(
        default=None,
        description="Hash of the instance that was placed, `sha256:...`; a method must give it; "
        "null = not known: `judge` and `--hint` take the file with a note.",
    )
    topologies: Places = Field(description="Topology -> `component[index]` -> place.")


class RefusalFile(FileObject):
    """What a method writes that makes no placement."""

    refused: Name = Field(description="Why, one line for people.")
