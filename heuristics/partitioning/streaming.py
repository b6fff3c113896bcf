"""Partitioners that take vertices as they come: hashing, LDG, Fennel, and more passes of the two.

In one pass each vertex is seen once, with its neighbours, and never moved again. How what the
articles leave open is read:

- *Ties* of scores: the part that is emptiest for its capacity, then any of them at random, as
  Stanton and Kliot have it for equal parts.
- *Full parts* are left out, in Fennel too (its load cap nu is the balance asked for). Where no part
  has room for a vertex, it goes to the one that is least above its share.
- *Hashing*: a share of the hash's range for each part, as large as the part; a full part hands on
  to the next one with room. The hash is salted by the seed.
- *Order*: that of the file; of an instance, that of its tasks.
- *Several passes* (Nishimura and Ugander): the neighbours of a vertex count in the part of their
  latest assignment, in this pass or the one before; loads count from 0 in each pass. Their
  tempering, which raises alpha from pass to pass until the parts are in balance, is not needed
  here: capacities hold in each pass. The result is that of the last pass.

What is known beforehand are the graph's totals (`Totals`).
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.partitioning.partition import Partition, Partitioner, Parts
from slotwise.heuristics.partitioning.scores import fennel_alpha
from slotwise.models.cancellation import CancellationToken
from slotwise.models.graph_files.vertex_stream import VertexStream

PASSES = 10
"""Passes over the stream where parameters do not say: the articles' figures go to about ten."""

RULES = ("hash", "ldg", "fennel")
"""As the kernels number them."""


def stream_partition(
    graph: VertexStream,
    parts: Parts,
    rng: Generator,
    token: CancellationToken,
    rule: str,
    passes: int = 1,
) -> Partition:
    """Return the partition of one or more passes over `graph`.

    Parameters
    ----------
    rule
        One of `RULES`.
    passes
        1 or more; only with 1 need the stream not be read again.
    """
    from slotwise.heuristics.partitioning import kernels

    totals = graph.totals
    capacity = parts.capacities(totals)
    alpha = fennel_alpha(len(capacity), totals.vertex_weight, totals.edge_weight)
    salt = int(rng.integers(2**63))
    part = np.full(totals.vertices, -1, dtype=np.int32)
    done = np.zeros(totals.vertices, dtype=np.int16)
    load, cut = np.zeros(len(capacity)), 0.0
    for now in range(1, passes + 1):
        load, cut = np.zeros(len(capacity)), 0.0
        for chunk in graph:
            token.check()
            cut += kernels.assign(
                RULES.index(rule), chunk.vertices, chunk.weights, chunk.offsets, chunk.neighbours,
                chunk.edge_weights, part, done, now, load, capacity, parts.sizes, alpha, salt, rng,
            )  # fmt: skip
    return Partition(part, cut, load, parts.sizes * totals.vertex_weight, capacity)


def one_pass(rule: str, source: str, description: str) -> Partitioner:
    """Return the partitioner with this rule and one pass."""

    def run(
        graph: VertexStream, parts: Parts, rng: Generator, token: CancellationToken
    ) -> Partition:
        return stream_partition(graph, parts, rng, token, rule)

    return Partitioner(rule, source, description, run)


def restreaming(rule: str, passes: int = PASSES) -> Partitioner:
    """Return the partitioner with this rule and several passes."""

    def run(
        graph: VertexStream, parts: Parts, rng: Generator, token: CancellationToken
    ) -> Partition:
        return stream_partition(graph, parts, rng, token, rule, passes)

    return Partitioner(
        f"{rule}-re",
        "Nishimura and Ugander, KDD 2013",
        f"The rule of {rule} in {passes} passes, each starting from the parts of the previous one.",
        run,
    )


HASH = one_pass(
    "hash",
    "hashing, as in Stanton and Kliot, KDD 2012",
    "Each vertex to a part by a hash of its number.",
)
LDG = one_pass(
    "ldg",
    "Stanton and Kliot, KDD 2012: linear deterministic greedy",
    "Each vertex, in file order, to the part with the most neighbours times the free share.",
)
FENNEL = one_pass(
    "fennel",
    "Tsourakakis et al., WSDM 2014, gamma = 1.5",
    "Each vertex, in file order, to the part with the most neighbours minus the cost of imbalance.",
)
