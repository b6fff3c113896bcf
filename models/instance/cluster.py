"""Clusters: nodes in racks, their capacities, and the distance between places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Annotated

from slotwise.models.display import counted, listed
from slotwise.models.errors import InputError
from slotwise.models.instance.topology import MEMORY_PARTS
from slotwise.models.nouns import (
    REQUIRED,
    SPARSE,
    AboveZero,
    FromFile,
    Name,
    Noun,
    Number,
    Positive,
    Whole,
    check_fields,
)
from slotwise.models.values import distinct


@dataclass(frozen=True, slots=True)
class Node(Noun):
    """A machine (Storm's supervisor).

    Parameters
    ----------
    id
        Unique in the cluster.
    rack
        Name of its rack; nodes with the same name share it.
    host
        Name of its host, which several nodes may share; empty = `id`.
    slots
        Most workers on it, 0 or more; ``None`` = no limit.
    resources
        Capacity by resource: ``cpu`` in points (100 = one core), ``memory_mb`` in MB, or any other
        name; ``None`` = no limit, a resource that is absent is not offered.
    cores
        Number of its cores, which share ``cpu`` evenly; a thread uses at most one at a time;
        ``None`` = not known. Only predictions read it.
    bandwidth_in_mbit_s
        Most that its network interface can receive, Mbit/s, above 0; ``None`` = not known. Only
        predictions and ``bottleneck`` read it.
    bandwidth_out_mbit_s
        Most that its network interface can send, Mbit/s, above 0; ``None`` = not known. Only
        predictions and ``bottleneck`` read it.

    Examples
    --------
    >>> Node("n1", "r1", slots=4, resources={"cpu": 200, "memory_mb": 2048}).resources["cpu"]
    Decimal('200')
    """

    LAST = ("rack", "slots", "resources")

    id: Name
    rack: Name
    host: str = ""
    slots: Whole | None = None
    resources: Mapping[Name, Number | None] = field(default_factory=dict)
    cores: Positive | None = field(default=None, metadata=SPARSE)
    bandwidth_in_mbit_s: AboveZero | None = field(default=None, metadata=SPARSE)
    bandwidth_out_mbit_s: AboveZero | None = field(default=None, metadata=SPARSE)

    def __post_init__(self) -> None:
        """Check each field."""
        check_fields(self)
        if not self.host:
            object.__setattr__(self, "host", self.id)
        for part in MEMORY_PARTS:
            if part in self.resources:
                raise InputError(
                    "a node's memory is written as memory_mb",
                    field=f"resources.{part}",
                    value=self.resources[part],
                )


@dataclass(frozen=True, slots=True)
class Distance(Noun):
    """Cost of one unit of flow by the lowest place that holds both tasks.

    Must not fall from worker to node to rack to cluster. The default is the metric of Storm's
    scheduler test framework; R-Storm has 0, 0, 1, 2.

    Parameters
    ----------
    worker
        Cost of one unit of flow between tasks of one worker.
    node
        The same between workers of one node.
    rack
        The same between nodes of one rack.
    cluster
        The same between racks.
    """

    worker: Number = field(default=Decimal(0), metadata=REQUIRED)
    node: Number = field(default=Decimal(1), metadata=REQUIRED)
    rack: Number = field(default=Decimal(2), metadata=REQUIRED)
    cluster: Number = field(default=Decimal(3), metadata=REQUIRED)

    def __post_init__(self) -> None:
        """Check each level, and that distances do not fall from one level to the next."""
        check_fields(self)
        before = Decimal(0)
        for level, value in zip(("worker", "node", "rack", "cluster"), self.levels, strict=True):
            if value < before:
                raise InputError(
                    f"must be at least the level below it ({before})", field=level, value=value
                )
            before = value

    @property
    def levels(self) -> tuple[Decimal, Decimal, Decimal, Decimal]:
        """Distances of worker, node, rack, cluster, in this order."""
        return (self.worker, self.node, self.rack, self.cluster)


@dataclass(frozen=True, slots=True)
class LevelTimes(Noun):
    """A time for one tuple by the lowest place that holds both tasks; ``None`` = not known.

    Parameters
    ----------
    worker
        Milliseconds between tasks of one worker; ``None`` = not known.
    node
        The same between workers of one node; ``None`` = not known.
    rack
        The same between nodes of one rack; ``None`` = not known.
    cluster
        The same between racks; ``None`` = not known.
    """

    worker: Number | None = field(default=None, metadata=SPARSE)
    node: Number | None = field(default=None, metadata=SPARSE)
    rack: Number | None = field(default=None, metadata=SPARSE)
    cluster: Number | None = field(default=None, metadata=SPARSE)

    @property
    def levels(self) -> tuple[Decimal | None, Decimal | None, Decimal | None, Decimal | None]:
        """Times of worker, node, rack, cluster, in this order."""
        return (self.worker, self.node, self.rack, self.cluster)


@dataclass(frozen=True, slots=True)
class Cluster(Noun):
    """The nodes, in the order that results and matrices use, and the distances between them.

    Parameters
    ----------
    nodes
        The machines, at least one.
    distance
        Distances by level; ``None`` in a file = 0 in a worker, 1 on a node, 2 in a rack, 3 across
        racks. Not used where there is a `matrix`.
    matrix
        Distance from each node (row) to each node (column), in the order of `nodes`, paid per unit
        of flow in the stream's direction; ``None`` = by level. Two tasks on one node pay the
        diagonal, whatever their workers.
    delay_ms
        Network delay of a tuple, one way and without waiting, by level. Only predictions read it.
    serialise_ms
        Time that sending a tuple keeps its sender's thread busy on a core of 100 points, by level.
        Only predictions and ``bottleneck`` read it.
    uplink_mbit_s
        Rack -> capacity of its link to the other racks in each direction, Mbit/s, above 0; absent
        = not known. Only predictions and ``bottleneck`` read it.

    Examples
    --------
    >>> Cluster((Node("n1", "r1"), Node("n2", "r1")))
    Cluster of 2 nodes in 1 rack: n1, n2
    """

    LAST = ("nodes", "matrix")

    nodes: tuple[Node, ...]
    distance: Annotated[
        Distance, FromFile(Distance | None, lambda levels: levels or Distance())
    ] = field(default_factory=Distance)
    matrix: tuple[tuple[Number, ...], ...] | None = None
    delay_ms: LevelTimes = field(default_factory=LevelTimes, metadata=SPARSE)
    serialise_ms: LevelTimes = field(default_factory=LevelTimes, metadata=SPARSE)
    uplink_mbit_s: Mapping[Name, AboveZero] = field(default_factory=dict, metadata=SPARSE)

    def __post_init__(self) -> None:
        """Check ids, the matrix's shape and the names of racks."""
        check_fields(self)
        if not self.nodes:
            raise InputError("must have at least one node", field="nodes", value="[]")
        distinct((node.id for node in self.nodes), "nodes[].id")
        if self.matrix is not None:
            _check_square(self.matrix, len(self.nodes))
        for rack, bandwidth in self.uplink_mbit_s.items():
            if rack not in self.racks:
                where = f"uplink_mbit_s.{rack}"
                raise InputError("must be the rack of a node", field=where, value=bandwidth)

    def __repr__(self) -> str:
        """One line: how many nodes and racks, and the first nodes."""
        racks = counted(len(self.racks), "rack")
        named = listed([node.id for node in self.nodes])
        return f"Cluster of {counted(len(self.nodes), 'node')} in {racks}: {named}"

    @property
    def racks(self) -> tuple[str, ...]:
        """Rack names in order of first appearance."""
        return tuple(dict.fromkeys(node.rack for node in self.nodes))

    def with_nodes(
        self, nodes: tuple[Node, ...], matrix: tuple[tuple[Decimal, ...], ...] | None
    ) -> Cluster:
        """Return the cluster with these nodes, without uplinks of racks that none of them is in.

        Parameters
        ----------
        nodes
            The nodes in place of its own.
        matrix
            The distances between them; ``None`` = by level.
        """
        racks = {node.rack for node in nodes}
        uplinks = {rack: mbit_s for rack, mbit_s in self.uplink_mbit_s.items() if rack in racks}
        return replace(self, nodes=nodes, matrix=matrix, uplink_mbit_s=uplinks)


def _check_square(matrix: tuple[tuple[Decimal, ...], ...], size: int) -> None:
    if len(matrix) != size:
        raise InputError(
            f"must have one row per node ({size})", field="matrix", value=f"{len(matrix)} rows"
        )
    for i, row in enumerate(matrix):
        if len(row) != size:
            raise InputError(
                f"must have one entry per node ({size})",
                field=f"matrix[{i}]",
                value=f"{len(row)} entries",
            )
