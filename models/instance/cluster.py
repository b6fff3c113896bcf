"""Clusters: nodes in racks, their capacities, and the distance between places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slotwise.models.display import counted, listed
from slotwise.models.errors import InputError
from slotwise.models.instance.topology import MEMORY_PARTS
from slotwise.models.values import distinct, exact, exact_or_none, name, whole


@dataclass(frozen=True, slots=True)
class Node:
    """A machine (Storm's supervisor).

    Parameters
    ----------
    id
        Unique in the cluster.
    rack
        Name of its rack.
    host
        Name of its host; empty = the node's id. Several nodes may share one.
    slots
        Most workers on it, 0 or more; ``None`` = no limit.
    resources
        Capacity per dimension: ``cpu`` in points (100 = one core), ``memory_mb``, any other.
        A dimension that is absent is not offered (0); ``None`` = no limit.

    Examples
    --------
    >>> Node("n1", "r1", slots=4, resources={"cpu": 200, "memory_mb": 2048}).resources["cpu"]
    Decimal('200')
    """

    id: str
    rack: str
    host: str = ""
    slots: int | None = None
    resources: Mapping[str, Decimal | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check each field."""
        name(self.id, "id")
        name(self.rack, "rack")
        if not self.host:
            object.__setattr__(self, "host", self.id)
        if self.slots is not None:
            whole(self.slots, "slots")
        for part in MEMORY_PARTS:
            if part in self.resources:
                raise InputError(
                    "a node's memory is written as memory_mb",
                    field=f"resources.{part}",
                    value=self.resources[part],
                )
        capacity = {
            name(key, "resources"): exact_or_none(value, f"resources.{key}")
            for key, value in self.resources.items()
        }
        object.__setattr__(self, "resources", capacity)


@dataclass(frozen=True, slots=True)
class Distance:
    """Cost of one unit of flow by the lowest place that holds both tasks.

    Must not fall from worker to node to rack to cluster. The default is the metric of Storm's
    scheduler test framework; R-Storm has 0, 0, 1, 2.
    """

    worker: Decimal = Decimal(0)
    node: Decimal = Decimal(1)
    rack: Decimal = Decimal(2)
    cluster: Decimal = Decimal(3)

    def __post_init__(self) -> None:
        """Check each level, and that a wider place is never nearer."""
        before = Decimal(0)
        for level in ("worker", "node", "rack", "cluster"):
            value = exact(getattr(self, level), level)
            object.__setattr__(self, level, value)
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
class Cluster:
    """The nodes, in the order that results and matrices use.

    Parameters
    ----------
    nodes
        At least one, ids unique.
    distance
        Distances by level; not used where there is a matrix.
    matrix
        Distance from each node (row) to each node (column), in the nodes' order, paid per unit
        of flow in the stream's direction; ``None`` = by level. Two tasks on one node pay the
        diagonal, whatever their workers.

    Examples
    --------
    >>> Cluster((Node("n1", "r1"), Node("n2", "r1")))
    Cluster of 2 nodes in 1 rack: n1, n2
    """

    nodes: tuple[Node, ...]
    distance: Distance = field(default_factory=Distance)
    matrix: tuple[tuple[Decimal, ...], ...] | None = None

    def __post_init__(self) -> None:
        """Check ids and the matrix's shape."""
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if not self.nodes:
            raise InputError("must have at least one node", field="nodes", value="[]")
        distinct((node.id for node in self.nodes), "nodes[].id")
        if self.matrix is not None:
            object.__setattr__(self, "matrix", _square(self.matrix, len(self.nodes)))

    def __repr__(self) -> str:
        """One line: how many nodes and racks, and the first nodes."""
        racks = counted(len(self.racks), "rack")
        named = listed([node.id for node in self.nodes])
        return f"Cluster of {counted(len(self.nodes), 'node')} in {racks}: {named}"

    @property
    def racks(self) -> tuple[str, ...]:
        """Rack names in order of first appearance."""
        return tuple(dict.fromkeys(node.rack for node in self.nodes))


def _square(matrix: tuple[tuple[Decimal, ...], ...], size: int) -> tuple[tuple[Decimal, ...], ...]:
    if len(matrix) != size:
        raise InputError(
            f"must have one row per node ({size})", field="matrix", value=f"{len(matrix)} rows"
        )
    rows = []
    for i, row in enumerate(matrix):
        if len(row) != size:
            raise InputError(
                f"must have one entry per node ({size})",
                field=f"matrix[{i}]",
                value=f"{len(row)} entries",
            )
        rows.append(tuple(exact(value, f"matrix[{i}][{j}]") for j, value in enumerate(row)))
    return tuple(rows)
