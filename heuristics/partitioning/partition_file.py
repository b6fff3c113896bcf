"""A graph file partitioned, timed and reported."""

from __future__ import annotations

import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from slotwise.heuristics.partitioning.partition import Partition, Parts, equal_parts
from slotwise.heuristics.partitioning.partitioners import find_partitioner
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.graph_files.graph_file import open_graph
from slotwise.models.graph_files.vertex_stream import Totals
from slotwise.models.values import exact, plain


@dataclass(frozen=True, slots=True)
class PartitionedFile:
    """The partition of a graph file.

    Parameters
    ----------
    seconds
        Wall clock, reading included.
    names
        Of the vertices; ``None`` = their numbers in order.
    """

    graph: str
    method: str
    seed: int
    totals: Totals
    partition: Partition
    seconds: float
    names: tuple[str, ...] | None

    def to_document(self) -> dict[str, Any]:
        """Return what ``partition --json`` prints."""
        partition = self.partition
        return {
            "graph": self.graph,
            "method": self.method,
            "seed": self.seed,
            "vertices": self.totals.vertices,
            "edges": self.totals.edges,
            "parts": len(partition.loads),
            "edge_cut": plain(partition.cut),
            "edge_weight": plain(self.totals.edge_weight),
            "balance": partition.balance,
            "within_balance": partition.fits,
            "loads": [plain(load) for load in partition.loads.tolist()],
            "seconds": round(self.seconds, 3),
        }

    def to_text(self) -> str:
        """Return the same for people."""
        partition, totals = self.partition, self.totals
        share = 100 * partition.cut / totals.edge_weight if totals.edge_weight else 0.0
        over = "" if partition.fits else "; a part is heavier than asked for"
        return (
            f"{totals.vertices} vertices, {totals.edges} edges, {len(partition.loads)} parts by "
            f"{self.method}\nedge cut {plain(partition.cut)} ({share:.2f} % of the edge weight)\n"
            f"balance {partition.balance:.4f}{over}\nseconds {self.seconds:.2f}\n"
        )


def partition_file(
    path: str,
    method: str,
    count: int,
    balance: float,
    *,
    sizes: str | None = None,
    form: str | None = None,
    seed: int = 0,
) -> PartitionedFile:
    """Partition the graph of a file.

    Parameters
    ----------
    count, balance, sizes
        Number of parts, most weight of each over its share, and relative sizes (``2,1,1``;
        ``None`` = equal).
    form
        Format of the file; ``None`` = by its name.

    Raises
    ------
    InputError
        When the file, the method or the parts are wrong, or an extra is missing.
    MethodError
        When the partitioner breaks down.
    """
    chosen = find_partitioner(method)
    reason = chosen.missing()
    if reason is not None:
        raise InputError(reason, field="method", value=method)
    parts = make_parts(count, balance, sizes)
    begin = time.perf_counter()
    graph = open_graph(path, form)
    partition = chosen.run(graph, parts, np.random.default_rng(seed), CancellationToken())
    seconds = time.perf_counter() - begin
    return PartitionedFile(path, method, seed, graph.totals, partition, seconds, graph.names)


def make_parts(count: int, balance: float, sizes: str | None) -> Parts:
    """Return the parts; arguments as in `partition_file`."""
    if sizes is None:
        return equal_parts(count, balance)
    numbers = np.array([float(size) for size in read_sizes(sizes, count)])
    return Parts(numbers / numbers.sum(), balance)


def read_sizes(text: str, count: int) -> tuple[Decimal, ...]:
    """Return the numbers in ``2,1,1``; refuse others than `count` numbers above 0."""
    sizes = tuple(exact(word.strip(), "sizes") for word in text.split(","))
    if len(sizes) != count or min(sizes) <= 0:
        rule = f"must be {count} numbers above 0, one a part"
        raise InputError(rule, field="sizes", value=text)
    return sizes
