"""KaHIP (Sanders and Schulz 2013), through its Python package: the extra ``kahip``.

The preset ``ECO`` of KaFFPa. It makes parts of one size only; where sizes differ, or the balance is
not kept, vertices are moved (`made_to_fit`). Weights that are not whole are scaled and rounded.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.partitioning.partition import Partition, Partitioner, Parts
from slotwise.heuristics.partitioning.whole_graph import made_to_fit, whole_weights
from slotwise.models.graph_files.csr import in_memory
from slotwise.models.graph_files.vertex_stream import VertexStream


def missing() -> str | None:
    """Return what to install; ``None`` = kahip is here."""
    if find_spec("kahip") is None:
        return "needs the extra kahip: pip install 'slotwise[kahip]'"
    return None


def run(graph: VertexStream, parts: Parts, rng: Generator) -> Partition:
    """Return KaHIP's partition."""
    import kahip

    whole = in_memory(graph)
    seed = int(rng.integers(2**31 - 1))
    part = np.zeros(len(whole.weights), dtype=np.int32)
    if len(parts.sizes) > 1 and len(whole.neighbours):
        _, found = kahip.kaffpa(
            whole_weights(whole.weights, 0),
            whole.offsets.astype(np.int32),
            whole_weights(whole.edge_weights, 1),
            whole.neighbours,
            len(parts.sizes),
            parts.balance - 1,
            True,  # no output
            seed,
            kahip.ECO,
        )
        part = np.asarray(found, dtype=np.int32)
    return made_to_fit(whole, part, parts)


KAHIP = Partitioner(
    "kahip",
    "KaHIP (Sanders and Schulz 2013), preset ECO",
    "Multilevel partitioning of the whole graph by KaHIP (extra kahip).",
    run,
    missing,
)
