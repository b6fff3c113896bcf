"""Partitioners that take vertices as they come: hashing, LDG, Fennel, and more passes of the two.

In one pass each vertex is seen once, with its neighbours, and never moved again. How what the
articles leave open is read:

- *Ties* of scores: the part that is emptiest for its capacity, then any of them at random, as
  Stanton and Kliot have it for equal parts.
- *Full parts* are left out, in Fennel too (its load cap nu is the balance asked for). Where no part
  has room for a vertex, it goes to the one that is least above its share.
- *Hashing*: a share of the hash's range for each part, as large as the part; a full part hands on
  to the next one with room. The hash is salted by the seed.
- *Order*: that of the file; of an instance, that of its tasks. Others (`orders`) are a parameter;
  they need the whole graph in memory.
- *Several passes* (Nishimura and Ugander): the neighbours of a vertex count in the part of their
  latest assignment, in this pass or the one before; loads count from 0 in each pass. Their
  tempering, which raises alpha from pass to pass until the parts are in balance, is not needed
  here: capacities hold in each pass. The result is that of the last pass.

What is known beforehand are the graph's totals (`Totals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.partitioning.orders import NATURAL, ORDERS, OrderedGraph, fennel_alpha
from slotwise.heuristics.partitioning.partition import Partition, Partitioner, Parts
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError, suggestion
from slotwise.models.graph_files.vertex_stream import VertexStream, in_memory

PASSES = 10
"""Passes over the stream where parameters do not say: the articles' figures go to about ten."""

MOST_PASSES = 1000

RULES = ("hash", "ldg", "fennel")
"""As the kernels number them."""


def stream_partition(
    graph: VertexStream,
    parts: Parts,
    rng: Generator,
    token: CancellationToken,
    rule: str,
    passes: int = 1,
    order: str = NATURAL,
) -> Partition:
    """Return the partition of one or more passes over `graph`.

    Parameters
    ----------
    rule
        One of `RULES`.
    passes
        1 or more; only with 1 need the stream not be read again.
    order
        One of `ORDERS`, drawn once for all passes; other than `NATURAL` it reads the whole graph
        into memory.
    """
    from slotwise.heuristics.partitioning import kernels

    totals = graph.totals
    capacity = parts.capacities(totals)
    alpha = fennel_alpha(len(capacity), totals.vertex_weight, totals.edge_weight)
    salt = int(rng.integers(2**63))
    if order != NATURAL:
        whole = in_memory(graph)
        graph = OrderedGraph(whole, ORDERS[order](whole, rng))
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


RESTREAMING = "-re"
"""What the name of a rule in several passes ends with."""

STREAMING: dict[str, tuple[str, str]] = {
    "hash": (
        "hashing, as in Stanton and Kliot, KDD 2012",
        "Each vertex to a part by a hash of its number.",
    ),
    "ldg": (
        "Stanton and Kliot, KDD 2012: linear deterministic greedy",
        "Each vertex, in file order, to the part with the most neighbours times the free share.",
    ),
    "fennel": (
        "Tsourakakis et al., WSDM 2014, gamma = 1.5",
        "Each vertex, in file order, to the part with the most neighbours minus the cost of "
        "imbalance.",
    ),
    "ldg-re": (
        "Nishimura and Ugander, KDD 2013",
        "The rule of ldg in {passes} passes, each starting from the parts of the previous one.",
    ),
    "fennel-re": (
        "Nishimura and Ugander, KDD 2013",
        "The rule of fennel in {passes} passes, each starting from the parts of the previous one.",
    ),
}
"""Name -> source, description."""


@dataclass(frozen=True, slots=True)
class StreamParameters:
    """How often the vertices come, and in which of `ORDERS`."""

    passes: int
    order: str = NATURAL


def usual_parameters(name: str) -> StreamParameters:
    """Return the parameters that the name alone stands for."""
    return StreamParameters(PASSES if name.endswith(RESTREAMING) else 1)


def written_parameters(name: str, parameters: StreamParameters) -> dict[str, str]:
    """Return the parameters that the partitioner `name` takes, as they are written."""
    passes = {"passes": str(parameters.passes)} if name.endswith(RESTREAMING) else {}
    return {**passes, "order": parameters.order}


def read_stream_parameters(name: str, texts: Mapping[str, tuple[str, ...]]) -> StreamParameters:
    """Return the parameters that `texts` says; the rest is usual.

    Raises
    ------
    InputError
        For another parameter than ``order`` or, of several passes, ``passes``, and for a value
        that is out of range.
    """
    parameters = usual_parameters(name)
    valid_keys = written_parameters(name, parameters)
    for key, values in texts.items():
        text = ",".join(values)
        if key not in valid_keys:
            rule = f"is not a parameter of {name}; {suggestion(key, valid_keys)}"
            raise InputError(rule, field="method", value=key)
        if key == "order":
            if text not in ORDERS:
                rule = suggestion(text, ORDERS)
                raise InputError(rule, field=f"{name}:order", value=text)
            parameters = replace(parameters, order=text)
            continue
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_PASSES):
            rule = f"must be a whole number from 1 to {MOST_PASSES}"
            raise InputError(rule, field=f"{name}:passes", value=text)
        parameters = replace(parameters, passes=int(text))
    return parameters


def streaming(name: str, parameters: StreamParameters) -> Partitioner:
    """Return the partitioner of `STREAMING` with these parameters."""
    source, description = STREAMING[name]
    rule = name.removesuffix(RESTREAMING)
    text = description.format(passes=parameters.passes)
    if parameters.order != NATURAL:
        text = f"{text.replace(', in file order,', '')} Order of the vertices: {parameters.order}."

    def run(
        graph: VertexStream, parts: Parts, rng: Generator, token: CancellationToken
    ) -> Partition:
        return stream_partition(graph, parts, rng, token, rule, parameters.passes, parameters.order)

    return Partitioner(name, source, text, run)
