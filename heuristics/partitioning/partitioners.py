"""All partitioners by name, with their parameters."""

from __future__ import annotations

import numpy as np

from slotwise.heuristics.method_names import SEPARATOR, read_parameters
from slotwise.heuristics.partitioning.kahip import KAHIP
from slotwise.heuristics.partitioning.metis import METIS
from slotwise.heuristics.partitioning.partition import Partitioner, Parts
from slotwise.heuristics.partitioning.streaming import (
    STREAMING,
    read_stream_parameters,
    streaming,
    usual_parameters,
)
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError, suggestion
from slotwise.models.graph_files.vertex_stream import CsrGraph

PARTITIONERS: dict[str, Partitioner] = {
    one.name: one
    for one in (*(streaming(name, usual_parameters(name)) for name in STREAMING), METIS, KAHIP)
}


def find_partitioner(name: str) -> Partitioner:
    """Return the partitioner called `name`, with parameters after a colon: ``ldg-re:passes=5``.

    Raises
    ------
    InputError
        When there is none, or its parameters are wrong.
    """
    base, separator, text = name.partition(SEPARATOR)
    if base not in PARTITIONERS:
        rule = f"is not a partitioner; {suggestion(base, PARTITIONERS)}"
        raise InputError(rule, field="method", value=name)
    if not separator:
        return PARTITIONERS[base]
    if base not in STREAMING:
        raise InputError(f"takes no parameters; write only {base}", field="method", value=name)
    return streaming(base, read_stream_parameters(base, read_parameters(text, name)))


def start_partition(graph: CsrGraph, parts: Parts, seed: int) -> tuple[int, ...]:
    """Return the part of each vertex where a search for the least cut starts.

    That is METIS's partition where it is installed, ``fennel-re``'s elsewhere; a part may be over
    its capacity.
    """
    metis = PARTITIONERS["metis"]
    chosen = metis if metis.missing() is None else PARTITIONERS["fennel-re"]
    partition = chosen.run(graph, parts, np.random.default_rng(seed), CancellationToken())
    return tuple(partition.part.tolist())
