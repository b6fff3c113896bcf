"""Instances with published values: assignment problems given by matrices.

The format and its conventions are those of the collected GQAP, CTAP, GPCAP and QAP instances:
every task is placed, every capacity is hard, and each listed pair is paid once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from slotwise.models.errors import InputError
from slotwise.models.formats.validation import validated
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.nouns import Noun, Number, Whole
from slotwise.models.values import one_of

MATRIX_FORMAT = "matrix-assignment"
STATUSES = ("proven", "best-known", "unknown")
TOPOLOGY = "tasks"


Matrix = tuple[tuple[Number, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixFile(Noun):
    """A file ``matrix-assignment``; tasks and nodes are numbered from 0."""

    FORMAT = MATRIX_FORMAT

    name: str
    source: str = ""
    weights: Matrix
    capacities: Matrix
    flow: tuple[tuple[Whole, Whole, Number], ...]
    distance: Matrix
    linear: Matrix | None = None
    optimum: Number | None = None
    optimum_status: str = "unknown"
    solution: tuple[Whole, ...] | None = None


@dataclass(frozen=True, slots=True)
class PublishedOptimum:
    """What the literature says of an instance.

    Parameters
    ----------
    value
        Best published cost; ``None`` = none published.
    status
        ``proven``, ``best-known`` or ``unknown``.
    solution
        Node of each task; ``None`` = not published.
    """

    value: Decimal | None
    status: str
    solution: tuple[int, ...] | None

    def placement(self) -> Placement | None:
        """Return the published solution, one worker a node; ``None`` = not published."""
        if self.solution is None:
            return None
        return Placement(self.solution, (0,) * len(self.solution))


def published_optimum(document: Any) -> PublishedOptimum:
    """Return the published value in the data of a ``matrix-assignment`` file."""
    file = _checked(document)
    return PublishedOptimum(file.optimum, file.optimum_status, file.solution)


def instance_from_matrices(document: Any) -> Instance:
    """Return the instance of the data of a ``matrix-assignment`` file.

    Task i is the only task of component ``t<i>``, node n is ``n<n>``, dimension d is ``w<d>``.
    Repeated pairs add up. A flow from a task to itself costs the diagonal of the distances, which
    goes into its linear cost.
    """
    file = _checked(document)
    size = len(file.capacities)
    nodes = tuple(
        Node(id=f"n{n}", rack="r0", resources=_named(row)) for n, row in enumerate(file.capacities)
    )
    topology = Topology(
        id=TOPOLOGY,
        components=tuple(
            Component(f"t{i}", "bolt", 1, _named(row)) for i, row in enumerate(file.weights)
        ),
        streams=tuple(
            Stream(f"t{i}", f"t{j}", rate=weight) for i, j, weight in file.flow if i != j
        ),
    )
    return Instance(
        name=file.name,
        cluster=Cluster(nodes, matrix=file.distance),
        topologies=(topology,),
        objective=Objective(("network+linear",)),
        linear=tuple(_linear(file, size)),
        flow="rates",
    )


def _linear(file: MatrixFile, size: int) -> Iterator[LinearCost]:
    loops: dict[int, Decimal] = {}
    for i, j, weight in file.flow:
        if i == j:
            loops[i] = loops.get(i, Decimal(0)) + weight
    for i in range(len(file.weights)):
        for n in range(size):
            cost = loops.get(i, Decimal(0)) * file.distance[n][n]
            if file.linear is not None:
                cost += file.linear[i][n]
            if cost:
                yield LinearCost(f"t{i}[0]", f"n{n}", cost)


def _named(row: Sequence[Decimal]) -> dict[str, Decimal]:
    return {f"w{d}": value for d, value in enumerate(row)}


def _checked(document: Any) -> MatrixFile:
    file = validated(MatrixFile, document)
    one_of(file.optimum_status, STATUSES, "optimum_status")
    tasks, nodes = len(file.weights), len(file.capacities)
    dims = len(file.weights[0]) if file.weights else 0
    _check_shape(file.weights, tasks, dims, "weights")
    _check_shape(file.capacities, nodes, dims if tasks else None, "capacities")
    _check_shape(file.distance, nodes, nodes, "distance")
    if file.linear is not None:
        _check_shape(file.linear, tasks, nodes, "linear")
    for row, (i, j, _) in enumerate(file.flow):
        _check_index(i, tasks, f"flow[{row}][0]", "tasks")
        _check_index(j, tasks, f"flow[{row}][1]", "tasks")
    if file.solution is not None:
        if len(file.solution) != tasks:
            shown = f"{len(file.solution)} entries"
            raise InputError(f"must have one per task ({tasks})", field="solution", value=shown)
        for i, n in enumerate(file.solution):
            _check_index(n, nodes, f"solution[{i}]", "nodes")
    return file


def _check_shape(
    matrix: Sequence[Sequence[Decimal]], rows: int, columns: int | None, where: str
) -> None:
    if len(matrix) != rows:
        raise InputError(f"must have {rows} rows", field=where, value=f"{len(matrix)} rows")
    for index, row in enumerate(matrix):
        if columns is not None and len(row) != columns:
            shown = f"{len(row)} entries"
            raise InputError(f"must have {columns} entries", field=f"{where}[{index}]", value=shown)


def _check_index(index: int, size: int, where: str, what: str) -> None:
    if index >= size:
        raise InputError(f"must be below the number of {what} ({size})", field=where, value=index)
