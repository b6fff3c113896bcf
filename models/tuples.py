"""The tuples that components send and receive, wherever their tasks are.

A *channel* is a stream between two components with tasks, or the messages to or from the ackers of
a topology. The numbers of tuples are exact; cycles are allowed as long as tuples do not multiply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any, TypeVar

from slotwise.models.errors import InputError
from slotwise.models.instance.topology import ACKER, Component, Topology
from slotwise.models.values import short_text

Key = TypeVar("Key", int, str)

NEEDED = "is needed for a prediction; give it in the instance, or a default with --assume"
MOST_TRIED_CYCLES = 1000
"""Most cycles examined to name one that multiplies tuples."""


def needed(field: str) -> InputError:
    """Return the error for a value that a prediction needs and the instance does not have."""
    return InputError(NEEDED, field=field, has_value=False)


@dataclass(frozen=True, slots=True)
class Channel:
    """A stream from the tasks of one component to those of another.

    Parameters
    ----------
    source, target
        Ids of components.
    grouping
        Of `GROUPINGS`.
    selectivity
        Tuples sent per tuple that the sender receives (of a spout: emits); ``None`` for the
        messages from an acker to a spout, one for each tuple that the spout emits.
    tuple_bytes
        Bytes of a tuple; ``None`` = not known.
    path
        Path of the noun in the instance, and of the key for the bytes.
    acks
        Whether it carries messages to or from ackers, which keep only ackers busy.
    """

    source: str
    target: str
    grouping: str
    selectivity: Fraction | None
    tuple_bytes: Decimal | None
    path: str
    bytes_path: str
    acks: bool = False


@dataclass(frozen=True, slots=True)
class Placeable:
    """A component with tasks: its noun, and its path in the file."""

    noun: Component
    path: str


def placeable(t: int, topology: Topology) -> dict[str, Placeable]:
    """Return the components with tasks of topology number `t` by their ids, ackers last."""
    by_name = {}
    for index, noun in enumerate(topology.placed_components):
        if noun.parallelism:
            own = index < len(topology.components)
            part = f"components[{index}]" if own else "ackers"
            by_name[noun.id] = Placeable(noun, f"topologies[{t}].{part}")
    return by_name


def channels(t: int, topology: Topology) -> tuple[Channel, ...]:
    """Return the channels of topology number `t`.

    Tuples to a component without tasks are dropped. Where tuples are acked, a spout sends a message
    to an acker for each tuple, a bolt for each tuple it has processed, and the acker one to the
    spout.

    Raises
    ------
    InputError
        When a spout receives a stream, a stream has neither a selectivity nor a rate that gives it,
        or tuples multiply on a cycle.
    """
    path, own = f"topologies[{t}]", placeable(t, topology)
    for j, stream in enumerate(topology.streams):
        if any(one.id == stream.target and one.kind == "spout" for one in topology.components):
            rule = "a spout receives no stream in a prediction; make it a bolt"
            raise InputError(rule, field=f"{path}.streams[{j}].to", value=stream.target)
    selectivity = _selectivities(path, topology, own)
    built = [
        Channel(
            stream.source,
            stream.target,
            stream.grouping,
            selectivity[j],
            stream.tuple_bytes,
            f"{path}.streams[{j}]",
            f"{path}.streams[{j}].tuple_bytes",
        )
        for j, stream in enumerate(topology.streams)
        if stream.source in own and stream.target in own
    ]
    if topology.acked is False or ACKER not in own:
        return tuple(built)
    assert topology.ackers is not None, "its tasks are placed"
    size = (topology.ackers.message_bytes, f"{path}.ackers", f"{path}.ackers.message_bytes")
    for name, one in own.items():
        if name != ACKER and one.noun.kind != "system":
            built.append(Channel(name, ACKER, "fields", Fraction(1), *size, acks=True))
        if one.noun.kind == "spout":
            built.append(Channel(ACKER, name, "direct", None, *size, acks=True))
    return tuple(built)


def _selectivities(
    path: str,
    topology: Topology,
    own: Mapping[str, Placeable],
) -> dict[int, Fraction]:
    """Return stream -> tuples sent per tuple that its sender receives.

    For a stream with a rate instead, it is that rate over the rate at which the sender receives
    tuples, given the other streams.
    """
    selectivities = {
        j: Fraction(stream.selectivity)
        for j, stream in enumerate(topology.streams)
        if stream.selectivity is not None
    }
    by_rate = [
        j
        for j, stream in enumerate(topology.streams)
        if j not in selectivities and stream.source in own and stream.target in own
    ]
    if not by_rate:
        return selectivities
    received = _received(path, topology, own, selectivities)
    for j in by_rate:
        stream = topology.streams[j]
        rate, base = stream.rate, received[stream.source]
        assert rate is not None, "checked before"
        if base == 0 and rate != 0:
            rule = f"{stream.source} sends this though it receives nothing; give `selectivity`"
            raise InputError(rule, field=f"{path}.streams[{j}].rate", value=rate)
        selectivities[j] = Fraction(rate) / base if base else Fraction(0)
    return selectivities


def _received(
    path: str,
    topology: Topology,
    own: Mapping[str, Placeable],
    selectivity: Mapping[int, Fraction],
) -> dict[str, Fraction]:
    """Return component -> tuples/s that it receives, of a spout emits, at the given rates."""
    given: dict[str, Fraction] = dict.fromkeys(own, Fraction(0))
    gains: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for name, one in own.items():
        noun = one.noun
        if noun.kind == "spout" and noun.rate is not None:
            given[name] = Fraction(noun.rate)
    for j, stream in enumerate(topology.streams):
        if stream.source not in own or stream.target not in own:
            continue
        copies = own[stream.target].noun.parallelism if stream.grouping == "all" else 1
        source = own[stream.source].noun
        if j in selectivity:
            gains[stream.source, stream.target] += selectivity[j] * copies
        elif stream.rate is None:
            raise needed(f"{path}.streams[{j}].selectivity")
        elif source.kind == "spout" and source.rate is None:
            raise needed(f"{own[stream.source].path}.rate")
        else:
            given[stream.target] += Fraction(stream.rate) * copies
    return _solved(given, gains)


# The visits of a tuple and its descendants.


def received(
    given: Mapping[str, Fraction], some: Sequence[Channel], own: Mapping[str, Placeable]
) -> dict[str, Fraction]:
    """Return component -> tuples that it receives, of a spout emits, where spouts emit `given`.

    Only components that a channel leads to or from, and those of `given`. `some` are the channels
    of one topology, `own` its components with tasks.
    """
    gains: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    start: dict[str, Fraction] = dict.fromkeys(given, Fraction(0))
    for one in some:
        start |= dict.fromkeys((one.source, one.target), Fraction(0))
        if one.selectivity is not None:
            copies = own[one.target].noun.parallelism if one.grouping == "all" else 1
            gains[one.source, one.target] += one.selectivity * copies
    return _solved({**start, **given}, gains)


def _solved(
    given: Mapping[str, Fraction], gains: Mapping[tuple[str, str], Fraction]
) -> dict[str, Fraction]:
    """Return x with x_b = given_b + sum over a of gain_ab x_a, cycle by cycle.

    Raises `InputError` where tuples multiply on a cycle: there x would be infinite.
    """
    import networkx as nx

    graph: Any = nx.DiGraph()
    graph.add_nodes_from(given)
    graph.add_weighted_edges_from((a, b, gain) for (a, b), gain in gains.items() if gain)
    value = dict(given)
    for part in in_order(graph):
        loops = {(a, b): graph[a][b]["weight"] for a in part for b in graph[a] if b in part}
        if loops:
            inside = eliminated(part, {one: value[one] for one in part}, loops)
            if inside is None:
                raise _multiplies(graph.subgraph(part))
            value |= inside
        for a in part:
            for b in graph[a]:
                if b not in part:
                    value[b] += graph[a][b]["weight"] * value[a]
    return value


def in_order(graph: Any) -> list[set[Any]]:
    """Return the vertices of a directed graph, those on a cycle together, senders first."""
    import networkx as nx

    whole = nx.condensation(graph)
    return [whole.nodes[part]["members"] for part in nx.topological_sort(whole)]


def eliminated(
    part: set[Key], given: Mapping[Key, Fraction], gains: Mapping[tuple[Key, Key], Fraction]
) -> dict[Key, Fraction] | None:
    """Return x with x_b = given_b + sum over a of gain_ab x_a; ``None`` where x is infinite.

    By Gaussian elimination without exchanges: 1 - gains is an M-matrix, and x finite, if and only
    if every pivot is above 0 (Berman and Plemmons, Nonnegative Matrices, theorem 6.2.3, E17).
    """
    order = sorted(part)
    rows = [[Fraction(int(a == b)) - gains.get((a, b), Fraction(0)) for a in order] for b in order]
    right = [given[one] for one in order]
    for k, pivot_row in enumerate(rows):
        if pivot_row[k] <= 0:
            return None
        for i in range(k + 1, len(order)):
            factor = rows[i][k] / pivot_row[k]
            if factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], pivot_row, strict=True)]
                right[i] -= factor * right[k]
    for k in range(len(order) - 1, -1, -1):
        later = sum(rows[k][j] * right[j] for j in range(k + 1, len(order)))
        right[k] = (right[k] - later) / rows[k][k]
    return dict(zip(order, right, strict=True))


def _multiplies(graph: Any) -> InputError:
    """Return the error for tuples that multiply on the cycles of a graph."""
    import networkx as nx

    for cycle in islice(nx.simple_cycles(graph), MOST_TRIED_CYCLES):
        gain = Fraction(1)
        for a, b in pairwise([*cycle, cycle[0]]):
            gain *= graph[a][b]["weight"]
        if gain >= 1:
            shown = " -> ".join([*cycle, cycle[0]])
            rule = "tuples multiply on this cycle; the product of its selectivities must be below 1"
            return InputError(f"{rule}, and is {short_text(gain)}", field=shown, has_value=False)
    shown = ", ".join(sorted(graph))
    rule = "tuples multiply on the cycles through these; lower the selectivity of their streams"
    return InputError(rule, field=shown, has_value=False)
