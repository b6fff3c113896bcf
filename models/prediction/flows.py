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
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.tuples import Channel, channels, eliminated, in_order, placeable, received

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

MOST_LOOPED_GROUPS = 200
"""Groups on a cycle with a stream that stays in its worker: their visits are solved for exactly."""
MOST_WAYS = 10_000
"""Groups of a spout times groups of its topology, up to which each can have a route."""


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
    receivers
        Groups of `target` that it goes to: all, or of a spout those whose tuples it acknowledges.
    grouping
        Of `GROUPINGS`.
    selectivity
        Tuples sent per tuple that the sender receives (of a spout: emits); ``None`` for the
        messages from an acker to a spout, one for each tuple that the receivers emit.
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
    receivers: range
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
    origins
        Groups of the spout whose tuples it follows.
    tasks
        Number of their tasks.
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
    origins: range
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

    def is_used(self, route: Route, link: Link) -> bool:
        """Return whether tuples of the route, or messages about them, go over the link."""
        is_of_another = link.selectivity is None and link.receivers != route.origins
        return link.source in route.visits and not is_of_another

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
        if not self.is_used(route, link):
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
        groups = link.receivers
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
        some = channels(t, instance.topologies[t])
        sent = [one for one in some if one.selectivity is not None]
        part_links = [_link(components, groups, own, one) for one in sent]
        links += part_links
        for spout in own.values():
            if components[spout].noun.kind == "spout":
                window = instance.topologies[t].window
                visits = _visits(t, instance.topologies[t], some, components[spout], own)
                of_spout = [
                    *_routes(part_links, spout, window, visits, components, groups, apart=apart)
                ]
                routes += of_spout
                links += (
                    _link(components, groups, own, one, route.origins)
                    for one in some
                    if one.selectivity is None and own[one.target] == spout
                    for route in of_spout
                )
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
    all_groups = Groups(
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
    return all_groups, components


# Links: channels, by groups.


def _link(
    components: Sequence[PlacedComponent],
    groups: Groups,
    own: Mapping[str, int],
    one: Channel,
    to: range | None = None,
) -> Link:
    source, target = own[one.source], own[one.target]
    to = components[target].groups if to is None else to
    senders, receivers = (slice(some.start, some.stop) for some in (components[source].groups, to))
    counts = groups.size[receivers] * (groups.first[receivers] if one.grouping == "global" else 1)
    levels = [
        np.bincount(place[receivers], counts, place.max() + 1)[place[senders]].astype(np.int64)
        for place in (groups.worker, groups.node, groups.rack)
    ]
    in_all = np.full(len(levels[0]), counts.sum(), dtype=np.int64)
    reach = np.stack([*levels, in_all], axis=1)
    stays = (reach[:, 0] > 0) & (one.grouping == "local_or_shuffle")
    return Link(
        source,
        target,
        to,
        one.grouping,
        one.selectivity,
        one.tuple_bytes,
        one.path,
        one.bytes_path,
        one.acks,
        reach,
        stays,
    )


# Visits: how often a tuple comes by, with its descendants.


def _visits(
    t: int,
    topology: Topology,
    some: Sequence[Channel],
    spout: PlacedComponent,
    own: Mapping[str, int],
) -> dict[int, Fraction]:
    """Return component -> tuples that it receives per tuple of the spout, not 0; the spout's 1."""
    visits = received({spout.noun.id: Fraction(1)}, some, placeable(t, topology))
    return {own[name]: value for name, value in visits.items() if value}


def _routes(
    links: Sequence[Link],
    spout: int,
    window: int | None,
    visits: Mapping[int, Fraction],
    components: Sequence[PlacedComponent],
    groups: Groups,
    *,
    apart: bool,
) -> Iterator[Route]:
    """Yield the routes of a spout."""
    one = components[spout]
    ways = len(one.groups) * sum(len(components[c].groups) for c in visits)
    each = apart and window is not None and ways <= MOST_WAYS
    for some in [range(g, g + 1) for g in one.groups] if each else [one.groups]:
        tasks = int(groups.size[list(some)].sum())
        rate = None if one.noun.rate is None else Fraction(one.noun.rate) * tasks / one.tasks
        by_group = _by_group(links, _shares(groups, some), visits, components, groups)
        yield Route(spout, some, tasks, rate, window, visits, by_group)


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
    by_group: dict[int, Fraction] = {}
    for part in in_order(graph):
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
                            sent = by_group.get(group, Fraction(0)) * link.selectivity
                            amounts[other] += sent * share
            given |= amounts
        by_group |= _looped(given, gains, components, part) if gains else given
    return {group: value for group, value in by_group.items() if value}


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
    solution = eliminated(set(given), given, gains)
    assert solution is not None, "the gains of the components are below 1"
    return solution
