"""A graph file partitioned."""

from __future__ import annotations

import os
from collections.abc import Sequence

from slotwise.api.inputs import path_of
from slotwise.heuristics.partitioning.partition_file import PartitionedFile, partition_file
from slotwise.models.errors import InputError
from slotwise.models.graph_files.graph_file import FORMATS
from slotwise.models.values import known, whole

MOST_PARTS = 2**20


def partition(
    graph: str | os.PathLike[str],
    parts: int,
    method: str,
    *,
    balance: float = 1.03,
    sizes: str | Sequence[float] | None = None,
    form: str | None = None,
    seed: int = 0,
) -> PartitionedFile:
    """Partition the graph in a file.

    Parameters
    ----------
    graph
        Path of a METIS ``.graph``, an edge list, GraphML or GML file.
    parts
        Number of parts, from 1 to 2^20.
    method
        ``hash``, ``ldg``, ``fennel``, ``ldg-re``, ``fennel-re`` (``:passes=N``), ``metis`` or
        ``kahip``.
    balance
        Largest weight of a part relative to its share, 1 or more.
    sizes
        Relative sizes of the parts, as numbers or as ``"2,1,1"``; ``None`` = equal.
    form
        ``metis``, ``edges``, ``graphml`` or ``gml``; ``None`` = by the file's name.
    seed
        Of every random choice, 0 or more.

    Raises
    ------
    InputError
        When the file, the method or a number is wrong, or an extra is missing.
    MethodError
        When the partitioner breaks down.

    Examples
    --------
    >>> import slotwise
    >>> done = slotwise.partition("docs/examples/two-squares.graph", 2, "ldg", seed=1)
    >>> done.to_document()["parts"]
    2
    """
    if form is not None:
        known(form, FORMATS, "form")
    if not 1 <= whole(parts, "parts", least=1) <= MOST_PARTS:
        raise InputError(f"must be from 1 to {MOST_PARTS}", field="parts", value=parts)
    check_balance(balance, "balance")
    if sizes is not None and not isinstance(sizes, str):
        sizes = ",".join(str(size) for size in sizes)
    path = os.fspath(path_of(graph, "graph", "a path"))
    return partition_file(
        path, method, parts, balance, sizes=sizes, form=form, seed=whole(seed, "seed")
    )


def check_balance(value: float, field: str) -> float:
    """Return a balance from 1 to `MOST_PARTS`; refuse any other."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError("must be a number", field=field, value=str(value))
    if not 1 <= value <= MOST_PARTS:
        raise InputError(f"must be from 1 to {MOST_PARTS}", field=field, value=value)
    return value
