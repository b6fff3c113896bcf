"""A graph file partitioned, by a partitioner or with a proof."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from slotwise.api.partition_proof import ProvenPartition, prove_partition
from slotwise.api.paths import path_of
from slotwise.heuristics.partitioning.partition_file import PartitionedFile, partition_file
from slotwise.heuristics.partitioning.partitioners import PARTITIONERS
from slotwise.models.errors import InputError
from slotwise.models.graph_files.graph_file import FORMATS
from slotwise.models.graph_partition import MOST_PARTS
from slotwise.models.values import known, whole
from slotwise.solver.core.progress import OnProgress


def partition(
    graph: str | os.PathLike[str],
    parts: int,
    method: str,
    *,
    balance: float = 1.03,
    sizes: str | Sequence[float] | None = None,
    form: str | None = None,
    seed: int = 0,
    time_limit_s: float | None = None,
    workers: int | None = None,
    memory_limit_mb: int | None = None,
    on_progress: OnProgress | None = None,
) -> PartitionedFile | ProvenPartition:
    """Partition the graph in a file.

    Parameters
    ----------
    graph
        Path of a METIS ``.graph``, an edge list, GraphML or GML file.
    parts
        Number of parts, from 1 to 2^20.
    method
        A partitioner: ``hash``, ``ldg``, ``fennel``, ``ldg-re``, ``fennel-re`` (``:passes=N``),
        all with ``:order=random``, ``bfs``, ``dfs`` or ``adversarial``, ``metis`` or ``kahip``.
        With a proof: ``exact``, or the name of an engine, for example ``cp-sat`` or ``milp``;
        weights must be whole then, and no part is over its capacity.
    balance
        Largest weight of a part relative to its share, 1 or more. A part may always hold its share
        rounded up.
    sizes
        Relative sizes of the parts, as numbers or as ``"2,1,1"``; ``None`` = equal.
    form
        ``metis``, ``edges``, ``graphml`` or ``gml``; ``None`` = by the file's name.
    seed
        Of every random choice, 0 or more.
    time_limit_s, workers, memory_limit_mb, on_progress
        Of a proof, as in `solve`; ``None`` = its defaults, 60 s and one thread.

    Returns
    -------
    PartitionedFile | ProvenPartition
        The latter with a proof. Both have `to_document` and `to_text`.

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
    whole(seed, "seed")
    if method.partition(":")[0] in PARTITIONERS:
        limits = {
            "time_limit_s": time_limit_s,
            "workers": workers,
            "memory_limit_mb": memory_limit_mb,
        }
        check_no_proof_options(limits, method)
        return partition_file(path, method, parts, balance, sizes=sizes, form=form, seed=seed)
    return prove_partition(
        path,
        method,
        parts,
        balance,
        sizes=sizes,
        form=form,
        seed=seed,
        time_limit_s=60.0 if time_limit_s is None else time_limit_s,
        workers=1 if workers is None else workers,
        memory_limit_mb=memory_limit_mb,
        on_progress=on_progress,
    )


def check_no_proof_options(options: Mapping[str, object], method: str) -> None:
    """Raise `InputError` for an option of a proof beside a partitioner."""
    for field, value in options.items():
        if value is not None:
            rule = f"is for a proof (exact or an engine), not for {method}"
            raise InputError(rule, field=field, value=str(value))


def check_balance(value: float, field: str) -> float:
    """Return a balance from 1 to `MOST_PARTS`; refuse any other."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError("must be a number", field=field, value=str(value))
    if not 1 <= value <= MOST_PARTS:
        raise InputError(f"must be from 1 to {MOST_PARTS}", field=field, value=value)
    return value
