"""Who sends how many tuples to whom, once the tasks have a place.

Tasks of one component in one worker are interchangeable; they are a *group*, and all arrays here
are by group. A *link* is a stream between two components, or what the ackers of a topology send and
receive. Numbers of tuples are exact fractions per tuple that a spout emits (*visits*), so that they
hold at any rate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import ACKER, Component, Topology
from slotwise.models.values import short_text

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

Key = TypeVar("Key", int, str)

NEEDED = "is needed for a prediction; give it in the instance, or a default with --assume"
MOST_TRIED_CYCLES = 1000
"""Cycles that are looked at to name one that multiplies tuples."""
MOST_LOOPED_GROUPS = 200
"""Groups on a cycle with a stream that stays in its worker: their visits are solved for exactly."""
MOST_WAYS = 10_000
"""Groups of a spout times groups of its topology, up to which each can have a route."""


def needed(field: str) -> InputError:
    """Return the error for a value that a prediction needs and the instance does not have."""
    return InputError(NEEDED, field=field, has_value=False)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Placed tasks that differ in nothing: same component, same worker.

    The task that receives a ``global`` stream alone is a group of its own. Ascending by component,
    then worker.

    Parameters
    ----------
    component
        [G] index into `Flows.components`.
    worker, node, rack
        [G] where it is; workers are numbered over the whole cluster.
    size
        [G] number of its tasks, 1 or more.
    first
        [G] whether it is the task that receives the ``global`` streams of its component.
    of_task
        [T] group of each task of the instance, in canonical order; `UNPLACED` where it has no
        place.
    """

    component: IntArray
    worker: IntArray
    node: IntArray
    rack: IntArray
    size: IntArray
    first: BoolArray
    of_task: IntArray


@dataclass(frozen=True, slots=True)
class PlacedComponent:
    """A component that has tasks: its noun, its topology's index, and its path in the file."""

    noun: Component
    topology: int
    path: str
    groups: range

    @property
    def tasks(self) -> int:
        """Number of its tasks."""
        return self.noun.parallelism


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A stream from the tasks of one component to those of another.

    Parameters
    ----------
    source, target
        Indices into `Flows.components`.
    grouping
        Of `GROUPINGS`.
    selectivity
        Tuples sent per tuple that the sender receives (of a spout: emits); ``None`` for the
        messages from an acker to a spout, one for each tuple that the spout emits.
    tuple_bytes
        Bytes of a tuple; ``None`` = not known.
    path
        Of the noun in the instance, and of the key that says the bytes.
    acks
        Whether it carries messages to or from ackers, which keep only ackers busy.
    reach
        [S, 4] receivers in the worker of each group of `source`, on its node, in its rack, and in
        all; each counts the ones before.
    stays
        [S] whether the group sends to its own worker only (``local_or_shuffle``).
    """

    source: int
    target: int
    grouping: str
    selectivity: Fraction | None
    tuple_bytes: Decimal | None
    path: str
    bytes_path: str
    acks: bool
    reach: IntArray
    stays: BoolArray

    @property
    def to_all(self) -> bool:
        """Whether every receiver gets a copy of each tuple."""
        return self.grouping == "all"

    def copies(self) -> FloatArray:
        """Return [S, 4] copies of a tuple that reach the sender's worker, node, rack, the rest.

        They add up to 1, or to the number of receivers where each gets a copy. Each level is
        without the narrower ones.
        """
        levels = np.diff(self.reach, axis=1, prepend=0).astype(np.float64)
        if not self.to_all:
            levels /= self.reach[:, 3:]
            levels[self.stays] = (1.0, 0.0, 0.0, 0.0)
        return levels

    def exact_copies(self, row: int) -> tuple[Fraction, ...]:
        """Return the row of `copies` of one group of senders, exactly."""
        if self.stays[row]:
            return (Fraction(1), Fraction(0), Fraction(0), Fraction(0))
        reach = [0, *self.reach[row].tolist()]
        over = 1 if self.to_all else reach[-1]
        return tuple(Fraction(wide - narrow, over) for narrow, wide in pairwise(reach))


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """Where the tuples of a spout go, or those of some of its tasks.

    Parameters
    ----------
    spout
        Index into `Flows.components`.
    tasks
        Number of the tasks whose tuples it follows.
    rate
        Tuples per second that these tasks emit together; ``None`` = not given.
    window
        Most tuples of each task in flight; ``None`` = no limit.
    visits
        Component -> tuples that its tasks receive per tuple of this route, not 0; of the spout: 1.
    by_group
        Group -> the same of each group, those of the spout sharing the 1 evenly.
    """

    spout: int
    tasks: int
    rate: Fraction | None
    window: int | None
    visits: Mapping[int, Fraction]
    by_group: Mapping[int, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """All tuples of a placement.

    Parameters
    ----------
    instance, placement
        What it is of.
    groups
        The groups of tasks.
    components
        All components with tasks of placed topologies, ackers included.
    links
        All links between them.
    routes
        One per spout, in order; or more, see `flows`.
    left_out
        Ids of topologies that the placement leaves out.
    """

    instance: Instance
    placement: Placement
    groups: Groups
    components: tuple[PlacedComponent, ...]
    links: tuple[Link, ...]
    routes: tuple[Route, ...]
    left_out: tuple[str, ...]

    def name(self, component: int) -> str:
        """Return ``topology/component``, or the component alone where there is one topology."""
        one = self.components[component]
        several = len(self.instance.topologies) > 1
        prefix = f"{self.instance.topologies[one.topology].id}/" if several else ""
        return prefix + one.noun.id

    def sent(self, route: Route, link: Link) -> list[Fraction]:
        """Return how many tuples each group of the link's senders sends per tuple of the spout.

        A tuple of which every receiver gets a copy counts once.
        """
        senders = self.components[link.source].groups
        visits = (route.by_group.get(group, Fraction(0)) for group in senders)
        if link.selectivity is not None:
            return [one * link.selectivity for one in visits]
        if link.target != route.spout:
            return [Fraction(0)] * len(senders)
        tasks = self.components[link.source].tasks
        return [Fraction(int(self.groups.size[group]), tasks) for group in senders]

    def pairs(self, route: Route) -> Iterator[tuple[int, int, Link, Fraction]]:
        """Yield (sender, receiver, link, tuples per tuple of the spout) of each pair of tasks.

        Tasks are those of the instance, in canonical order; pairs without flow are left out. It is
        as long as there are pairs: meant for small instances.
        """
        tasks: dict[int, list[int]] = defaultdict(list)
        for task, group in enumerate(self.groups.of_task.tolist()):
            tasks[group].append(task)
        for link in self.links:
            sent = self.sent(route, link)
            for row, group in enumerate(self.components[link.source].groups):
                if not sent[row]:
                    continue
                each = sent[row] / len(tasks[group])
                targets = [task for other in self.receivers(link, row) for task in tasks[other]]
                share = each if link.to_all else each / len(targets)
                yield from ((a, b, link, share) for a in tasks[group] for b in targets)

    def receivers(self, link: Link, row: int) -> list[int]:
        """Return the groups that a group of the link's senders sends to, evenly by task."""
        groups = self.components[link.target].groups
        if link.grouping == "global":
            return [group for group in groups if self.groups.first[group]]
        if link.stays[row]:
            worker = self.groups.worker[self.components[link.source].groups[row]]
            return [group for group in groups if self.groups.worker[group] == worker]
        return list(groups)


def flows(instance: Instance, placement: Placement, *, apart: bool = False) -> Flows:
    """Return what the tasks of `placement` send each other.

    Every task of a spout emits as many tuples as another. ``shuffle``, ``fields``, ``direct``,
    ``none`` and ``custom`` deal a stream evenly, ``all`` sends a copy to every receiver, ``global``
    all to the first one, and ``local_or_shuffle`` evenly to the receivers in the sender's worker,
    where there are any. What is sent to a component without tasks is dropped. Where tuples are
    acked, a spout tells an acker of each tuple, a bolt of each tuple that it is done with, and the
    acker the spout once.

    Parameters
    ----------
    instance
        What was placed.
    placement
        Of it; topologies may be left out whole.
    apart
        Whether each group of a spout with a window has a route of its own, as its tasks do not wait
        for those of other groups; only where these are few (`MOST_WAYS`).

    Raises
    ------
    InputError
        When a topology is placed in part, a spout receives a stream, a stream has neither a
        selectivity nor a rate that gives it, or tuples multiply on a cycle.
    """
    placed, left_out = _placed_topologies(instance, placement)
    groups, components = _groups(instance, placement, placed)
    links: list[Link] = []
    routes: list[Route] = []
    for t in placed:
        own = {one.noun.id: c for c, one in enumerate(components) if one.topology == t}
        found = _links(t, instance.topologies[t], components, own, groups)
        links += found
        for spout in own.values():
            if components[spout].noun.kind == "spout":
                window = instance.topologies[t].window
                routes += _routes(found, spout, window, components, groups, apart=apart)
    return Flows(instance, placement, groups, components, tuple(links), tuple(routes), left_out)


# Groups: where the tasks are.


def _placed_topologies(
    instance: Instance, placement: Placement
) -> tuple[list[int], tuple[str, ...]]:
    """Return the indices of the placed topologies, and the ids of those left out."""
    placed, left_out, start = [], [], 0
    for t, topology in enumerate(instance.topologies):
        size = sum(one.parallelism for one in topology.placed_components)
        there = sum(node != UNPLACED for node in placement.nodes[start : start + size])
        start += size
        if there == size:
            placed.append(t)
        elif there == 0:
            left_out.append(topology.id)
        else:
            rule = f"must be placed whole or not at all: {there} of {size} tasks have a place"
            raise InputError(rule, field=f"placement.{topology.id}", has_value=False)
    return placed, tuple(left_out)


def _groups(
    instance: Instance, placement: Placement, placed: Sequence[int]
) -> tuple[Groups, tuple[PlacedComponent, ...]]:
    nodes = np.asarray(placement.nodes, dtype=np.int64)
    places = np.stack([nodes, np.asarray(placement.workers, dtype=np.int64)], axis=1)
    worker_of = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1)
    rack_index = {rack: index for index, rack in enumerate(instance.cluster.racks)}
    rack = np.asarray([rack_index[node.rack] for node in instance.cluster.nodes], dtype=np.int64)
    component = np.full(len(nodes), UNPLACED, dtype=np.int64)
    first = np.zeros(len(nodes), dtype=np.bool_)
    nouns: list[tuple[Component, int, str]] = []
    task = 0
    for t, topology in enumerate(instance.topologies):
        alone = {stream.target for stream in topology.streams if stream.grouping == "global"}
        for index, noun in enumerate(topology.placed_components):
            if t in placed and noun.parallelism:
                component[task : task + noun.parallelism] = len(nouns)
                first[task] = noun.id in alone
                own = index < len(topology.components)
                part = f"components[{index}]" if own else "ackers"
                nouns.append((noun, t, f"topologies[{t}].{part}"))
            task += noun.parallelism
    there = np.flatnonzero(component != UNPLACED)
    keys = np.stack([component, worker_of, ~first], axis=1)[there]
    unique, index_of, of_task, size = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    sample = there[index_of]
    groups = np.full(len(nodes), UNPLACED, dtype=np.int64)
    groups[there] = of_task.reshape(-1)
    ends = np.searchsorted(unique[:, 0], np.arange(len(nouns) + 1)).tolist()
    found = Groups(
        component=component[sample],
        worker=worker_of[sample],
        node=nodes[sample],
        rack=rack[nodes[sample]],
        size=size.astype(np.int64),
        first=first[sample],
        of_task=groups,
    )
    components = tuple(
        PlacedComponent(noun, t, path, range(a, b))
        for (noun, t, path), (a, b) in zip(nouns, pairwise(ends), strict=True)
    )
    return found, components


# Links: streams with their selectivity, and what ackers receive and send.


def _links(
    t: int,
    topology: Topology,
    components: Sequence[PlacedComponent],
    own: Mapping[str, int],
    groups: Groups,
) -> list[Link]:
    path = f"topologies[{t}]"
    for j, stream in enumerate(topology.streams):
        if any(one.id == stream.target and one.kind == "spout" for one in topology.components):
            rule = "a spout receives no stream in a prediction; make it a bolt"
            raise InputError(rule, field=f"{path}.streams[{j}].to", value=stream.target)
    known = [
        (j, stream)
        for j, stream in enumerate(topology.streams)
        if stream.source in own and stream.target in own
    ]
    selectivity = _selectivities(path, topology, components, own)
    links = [
        _link(
            components,
            groups,
            (own[stream.source], own[stream.target]),
            stream.grouping,
            selectivity[j],
            (stream.tuple_bytes, f"{path}.streams[{j}]", f"{path}.streams[{j}].tuple_bytes"),
        )
        for j, stream in known
    ]
    if topology.acked is False or ACKER not in own:
        return links
    assert topology.ackers is not None, "its tasks are placed"
    size = (topology.ackers.message_bytes, f"{path}.ackers", f"{path}.ackers.message_bytes")
    for name, c in own.items():
        if name != ACKER and components[c].noun.kind != "system":
            ends = (c, own[ACKER])
            links.append(_link(components, groups, ends, "fields", Fraction(1), size, acks=True))
        if components[c].noun.kind == "spout":
            ends = (own[ACKER], c)
            links.append(_link(components, groups, ends, "direct", None, size, acks=True))
    return links


def _link(
    components: Sequence[PlacedComponent],
    groups: Groups,
    ends: tuple[int, int],
    grouping: str,
    selectivity: Fraction | None,
    size: tuple[Decimal | None, str, str],
    *,
    acks: bool = False,
) -> Link:
    source, target = ends
    senders, receivers = (slice(one.start, one.stop) for one in _ranges(components, ends))
    counts = groups.size[receivers] * (groups.first[receivers] if grouping == "global" else 1)
    levels = [
        np.bincount(place[receivers], counts, place.max() + 1)[place[senders]].astype(np.int64)
        for place in (groups.worker, groups.node, groups.rack)
    ]
    in_all = np.full(len(levels[0]), counts.sum(), dtype=np.int64)
    reach = np.stack([*levels, in_all], axis=1)
    tuple_bytes, path, bytes_path = size
    stays = (reach[:, 0] > 0) & (grouping == "local_or_shuffle")
    return Link(
        source, target, grouping, selectivity, tuple_bytes, path, bytes_path, acks, reach, stays
    )


def _ranges(components: Sequence[PlacedComponent], ends: tuple[int, int]) -> tuple[range, range]:
    return components[ends[0]].groups, components[ends[1]].groups


def _selectivities(
    path: str,
    topology: Topology,
    components: Sequence[PlacedComponent],
    own: Mapping[str, int],
) -> dict[int, Fraction]:
    """Return stream -> tuples sent per tuple that its sender receives.

    Where a stream has a rate in place of it, it is that rate over what the sender receives when the
    other streams carry what they do.
    """
    found = {
        j: Fraction(stream.selectivity)
        for j, stream in enumerate(topology.streams)
        if stream.selectivity is not None
    }
    by_rate = [
        j
        for j, stream in enumerate(topology.streams)
        if j not in found and stream.source in own and stream.target in own
    ]
    if not by_rate:
        return found
    received = _received(path, topology, components, own, found, by_rate)
    for j in by_rate:
        stream = topology.streams[j]
        rate, base = stream.rate, received[stream.source]
        assert rate is not None, "checked before"
        if base == 0 and rate != 0:
            rule = f"{stream.source} sends this though it receives nothing; give `selectivity`"
            raise InputError(rule, field=f"{path}.streams[{j}].rate", value=rate)
        found[j] = Fraction(rate) / base if base else Fraction(0)
    return found


def _received(
    path: str,
    topology: Topology,
    components: Sequence[PlacedComponent],
    own: Mapping[str, int],
    selectivity: Mapping[int, Fraction],
    by_rate: Sequence[int],
) -> dict[str, Fraction]:
    """Return component -> tuples/s that it receives, of a spout emits, at the given rates."""
    given: dict[str, Fraction] = dict.fromkeys(own, Fraction(0))
    gains: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for name, c in own.items():
        noun = components[c].noun
        if noun.kind == "spout" and noun.rate is not None:
            given[name] = Fraction(noun.rate)
    for j, stream in enumerate(topology.streams):
        if stream.source not in own or stream.target not in own:
            continue
        copies = components[own[stream.target]].tasks if stream.grouping == "all" else 1
        source = components[own[stream.source]].noun
        if j in selectivity:
            gains[stream.source, stream.target] += selectivity[j] * copies
        elif stream.rate is None:
            raise needed(f"{path}.streams[{j}].selectivity")
        elif source.kind == "spout" and source.rate is None:
            raise needed(f"{components[own[stream.source]].path}.rate")
        else:
            given[stream.target] += Fraction(stream.rate) * copies
    return _solved(given, gains)


# Visits: how often a tuple comes by, with its descendants.


def _visits(
    links: Sequence[Link], spout: int, components: Sequence[PlacedComponent]
) -> dict[int, Fraction]:
    """Return component -> tuples that it receives per tuple of the spout, the spout's own 1."""
    gains: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    names: dict[int, str] = {}
    for link in links:
        if link.selectivity is not None:
            copies = components[link.target].tasks if link.to_all else 1
            gains[link.source, link.target] += link.selectivity * copies
        names |= {c: components[c].noun.id for c in (link.source, link.target)}
    start = dict.fromkeys((spout, *names), Fraction(0)) | {spout: Fraction(1)}
    solved = _solved(start, gains, names)
    return {c: value for c, value in solved.items() if value}


def _solved(
    given: Mapping[Key, Fraction],
    gains: Mapping[tuple[Key, Key], Fraction],
    names: Mapping[Key, str] | None = None,
) -> dict[Key, Fraction]:
    """Return x with x_b = given_b + sum over a of gain_ab x_a, cycle by cycle.

    Raises `InputError` where tuples multiply on a cycle: there x would be infinite.
    """
    import networkx as nx

    graph: Any = nx.DiGraph()
    graph.add_nodes_from(given)
    graph.add_weighted_edges_from((a, b, gain) for (a, b), gain in gains.items() if gain)
    value = dict(given)
    for part in _in_order(graph):
        loops = {(a, b): graph[a][b]["weight"] for a in part for b in graph[a] if b in part}
        if loops:
            inside = _eliminated(part, {one: value[one] for one in part}, loops)
            if inside is None:
                raise _multiplies(graph.subgraph(part), names or {one: str(one) for one in part})
            value |= inside
        for a in part:
            for b in graph[a]:
                if b not in part:
                    value[b] += graph[a][b]["weight"] * value[a]
    return value


def _in_order(graph: Any) -> list[set[Any]]:
    """Return the vertices of a directed graph, those on a cycle together, senders first."""
    import networkx as nx

    whole = nx.condensation(graph)
    return [whole.nodes[part]["members"] for part in nx.topological_sort(whole)]


def _eliminated(
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


def _multiplies(graph: Any, names: Mapping[Any, str]) -> InputError:
    """Return the error for tuples that multiply on the cycles of a graph."""
    import networkx as nx

    for cycle in islice(nx.simple_cycles(graph), MOST_TRIED_CYCLES):
        gain = Fraction(1)
        for a, b in pairwise([*cycle, cycle[0]]):
            gain *= graph[a][b]["weight"]
        if gain >= 1:
            shown = " -> ".join(names[one] for one in [*cycle, cycle[0]])
            rule = "tuples multiply on this cycle; the product of its selectivities must be below 1"
            return InputError(f"{rule}, and is {short_text(gain)}", field=shown, has_value=False)
    shown = ", ".join(sorted(names[one] for one in graph))
    rule = "tuples multiply on the cycles through these; lower the selectivity of their streams"
    return InputError(rule, field=shown, has_value=False)


def _routes(
    links: Sequence[Link],
    spout: int,
    window: int | None,
    components: Sequence[PlacedComponent],
    groups: Groups,
    *,
    apart: bool,
) -> Iterator[Route]:
    """Yield the routes of a spout."""
    one = components[spout]
    visits = _visits(links, spout, components)
    ways = len(one.groups) * sum(len(components[c].groups) for c in visits)
    each = apart and window is not None and ways <= MOST_WAYS
    for some in [[group] for group in one.groups] if each else [one.groups]:
        tasks = int(groups.size[list(some)].sum())
        rate = None if one.noun.rate is None else Fraction(one.noun.rate) * tasks / one.tasks
        by_group = _by_group(links, _shares(groups, some), visits, components, groups)
        yield Route(spout, tasks, rate, window, visits, by_group)


def _by_group(
    links: Sequence[Link],
    origins: Mapping[int, Fraction],
    visits: Mapping[int, Fraction],
    components: Sequence[PlacedComponent],
    groups: Groups,
) -> dict[int, Fraction]:
    """Return group -> its part of the visits of its component.

    `origins` are the groups of the spout that emit, with their shares.
    """
    import networkx as nx

    into: dict[int, list[Link]] = defaultdict(list)
    for link in links:
        if link.source in visits and link.target in visits and link.selectivity:
            into[link.target].append(link)
    graph = nx.DiGraph((link.source, c) for c, some in into.items() for link in some)
    graph.add_nodes_from(visits)
    found: dict[int, Fraction] = {}
    for part in _in_order(graph):
        given: dict[int, Fraction] = {}
        gains: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for c in part:
            if not into[c]:
                given |= origins
                continue
            if not any(_is_uneven(link) for link in into[c]):
                given |= _spread(visits[c], groups, components[c].groups)
                continue
            shares = _shares(groups, components[c].groups)
            amounts = dict.fromkeys(components[c].groups, Fraction(0))
            for link in into[c]:
                assert link.selectivity is not None
                if not link.stays.any():
                    first = {one: Fraction(int(groups.first[one])) for one in amounts}
                    to = first if link.grouping == "global" else shares
                    total = visits[link.source] * link.selectivity
                    total *= components[c].tasks if link.to_all else 1
                    for group, share in to.items():
                        amounts[group] += total * share
                    continue
                for group, to in _targets(link, components, groups, shares):
                    for other, share in to.items():
                        if link.source in part:
                            gains[group, other] += link.selectivity * share
                        else:
                            sent = found.get(group, Fraction(0)) * link.selectivity
                            amounts[other] += sent * share
            given |= amounts
        found |= _looped(given, gains, components, part) if gains else given
    return {group: value for group, value in found.items() if value}


def _is_uneven(link: Link) -> bool:
    return link.grouping == "global" or bool(link.stays.any())


def _shares(groups: Groups, some: Sequence[int]) -> dict[int, Fraction]:
    """Return group -> its share of the tasks of all these groups."""
    return _spread(Fraction(1), groups, some)


def _spread(amount: Fraction, groups: Groups, some: Sequence[int]) -> dict[int, Fraction]:
    """Return group -> its part of an amount that is spread over all their tasks."""
    sizes = groups.size[list(some)].tolist()
    each = amount / sum(sizes)
    part = {size: each * size for size in set(sizes)}
    return {group: part[size] for group, size in zip(some, sizes, strict=True)}


def _targets(
    link: Link,
    components: Sequence[PlacedComponent],
    groups: Groups,
    shares: dict[int, Fraction],
) -> Iterator[tuple[int, dict[int, Fraction]]]:
    """Yield each group of senders, and group -> share of what it sends there."""
    there: dict[int, list[int]] = defaultdict(list)
    for other in components[link.target].groups:
        there[int(groups.worker[other])].append(other)
    for row, group in enumerate(components[link.source].groups):
        stays = bool(link.stays[row])
        yield group, _shares(groups, there[int(groups.worker[group])]) if stays else shares


def _looped(
    given: Mapping[int, Fraction],
    gains: Mapping[tuple[int, int], Fraction],
    components: Sequence[PlacedComponent],
    part: set[int],
) -> dict[int, Fraction]:
    """Return the visits of groups on a cycle with a stream that may stay in its worker."""
    if len(given) > MOST_LOOPED_GROUPS:
        shown = ", ".join(sorted(components[c].noun.id for c in part))
        rule = (
            f"a cycle with `local_or_shuffle` in more than {MOST_LOOPED_GROUPS} workers is not "
            "predicted; use another grouping"
        )
        raise InputError(rule, field=shown, has_value=False)
    found = _eliminated(set(given), given, gains)
    assert found is not None, "the gains of the components are below 1"
    return found
