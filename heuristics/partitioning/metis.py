"""METIS (Karypis and Kumar 1998), through pymetis: the extra ``metis``.

Multilevel partitioning with target weights by the sizes of the parts. Weights that are not
whole are scaled and rounded for it (`whole_weights`). It keeps the balance but nearly; what is
above is moved (`made_to_fit`).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.partitioning.partition import (
    Partition,
    Partitioner,
    Parts,
    made_to_fit,
    whole_weights,
    without_weightless_edges,
)
from slotwise.models.cancellation import CancellationToken
from slotwise.models.graph_files.vertex_stream import VertexStream, in_memory

FEW_PARTS, FEW_VERTICES = 8, 50
"""Most parts, or fewest vertices a part, for which METIS bisects; else it goes k ways."""


def missing() -> str | None:
    """Return what to install; ``None`` = pymetis is here."""
    if find_spec("pymetis") is None:
        return "needs the extra metis: pip install 'slotwise[metis]'"
    return None


def run(graph: VertexStream, parts: Parts, rng: Generator, token: CancellationToken) -> Partition:
    """Return METIS's partition; nothing stops METIS on its way."""
    import pymetis

    whole = without_weightless_edges(in_memory(graph))
    seed = int(rng.integers(2**31 - 1))
    part = np.zeros(len(whole.weights), dtype=np.int32)
    count = len(parts.sizes)
    if count > 1 and len(whole.neighbours):
        rows = (whole.offsets.astype(np.int64), whole.neighbours.astype(np.int64))
        balance = max(1, round(1000 * (parts.balance - 1)))
        with silenced():  # it complains of empty parts
            _, assignment = pymetis.part_graph(
                count,
                pymetis.CSRAdjacency(*rows),
                vweights=whole_weights(whole.weights, 0),
                eweights=whole_weights(whole.edge_weights, 1),
                tpwgts=parts.sizes.tolist(),
                recursive=count <= FEW_PARTS or len(part) < FEW_VERTICES * count,
                options=pymetis.Options(seed=seed, ufactor=balance),
            )
        part = np.asarray(assignment, dtype=np.int32)
    return made_to_fit(whole, part, parts)


METIS = Partitioner(
    "metis",
    "METIS (Karypis and Kumar 1998), through pymetis",
    "Multilevel partitioning of the whole graph by METIS (extra metis).",
    run,
    missing,
)


# Keeping the output of native libraries off stdout, which is for answers.


@contextmanager
def silenced() -> Iterator[None]:
    """Discard the output of C code; its buffers are flushed before and after."""
    c_library = ctypes.CDLL(None)
    sys.stdout.flush()
    c_library.fflush(None)
    saved = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        c_library.fflush(None)
        os.dup2(saved, 1)
        os.close(nowhere)
        os.close(saved)
