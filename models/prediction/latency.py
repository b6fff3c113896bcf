"""How long it takes until a tuple of a spout, and all that follows from it, is processed.

What follows from a tuple is a tree: a bolt may send several tuples for each one that it receives,
and they are under way at the same time. The time below a component is therefore

    T_c = R_c + max over its branches of (network + T of the receiver),

the branches independent of each other, each present with its selectivity or, above 1, that many
times. Times are known by mean and variance; the mean of a maximum is taken as if they had gamma
distributions (exact for exponential and for constant times).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from slotwise.models.prediction.flows import FloatArray, Route
from slotwise.models.prediction.loads import Hop, Loads

STEPS = 64
"""Points at which the distribution of a maximum is taken (Gauss-Legendre)."""
MOST_ROUNDS = 1000
"""Rounds along a cycle of streams until times below its components change no more."""
SETTLED = 1e-13
CONSTANT = 1e-9
"""A squared coefficient of variation below this is none."""


@dataclass(frozen=True, slots=True)
class Time:
    """A random time in seconds, by mean, variance, and what the mean consists of.

    Parameters
    ----------
    variance
        In s^2.
    queueing
        Waiting for threads, for cores in use by others, and for the network.
    service
        Being processed, at the speed of the node's cores.
    serialise
        Being sent, which keeps the sender's thread busy.
    network
        Delay and transmission.
    synchronisation
        What the slowest of several branches takes longer than the one that is longest in the mean.
    """

    variance: float = 0.0
    queueing: float = 0.0
    service: float = 0.0
    serialise: float = 0.0
    network: float = 0.0
    synchronisation: float = 0.0

    @property
    def mean(self) -> float:
        """The mean, which is the sum of its parts."""
        parts = self.queueing + self.service + self.serialise
        return parts + self.network + self.synchronisation

    @property
    def second_moment(self) -> float:
        """Mean of the square."""
        return self.variance + self.mean**2

    def after(self, other: Time) -> Time:
        """Return the sum with an independent time."""
        return Time(
            self.variance + other.variance,
            self.queueing + other.queueing,
            self.service + other.service,
            self.serialise + other.serialise,
            self.network + other.network,
            self.synchronisation + other.synchronisation,
        )

    def scaled(self, factor: float, variance: float, synchronisation: float = 0.0) -> Time:
        """Return the time with its mean times `factor`, another variance, and more of the last."""
        return Time(
            variance,
            self.queueing * factor,
            self.service * factor,
            self.serialise * factor,
            self.network * factor,
            self.synchronisation * factor + synchronisation,
        )


Branches = Sequence[tuple[Time, float]]
"""Time along a branch, and how many such branches there are in the mean."""


Maximum = tuple[float, float]
"""Mean and second moment of the slowest of several branches."""
T = TypeVar("T")
Asking = Generator[Branches, Maximum, T]
"""A computation that yields branches, is sent their maximum, and returns its result in the end."""


def together(computations: Iterable[Asking[T]]) -> list[T]:
    """Return the results of computations whose maxima are taken at once, step by step."""
    running = dict(enumerate(computations))
    results: dict[int, T] = {}
    answers: dict[int, Maximum | None] = dict.fromkeys(running)
    while answers:
        asked: dict[int, Branches] = {}
        for index, answer in answers.items():
            try:
                asked[index] = (
                    next(running[index]) if answer is None else running[index].send(answer)
                )
            except StopIteration as ended:
                results[index] = ended.value
        answers = dict(zip(asked, _maxima(list(asked.values())), strict=True))
    return [results[index] for index in sorted(results)]


def slowest(branches: Branches) -> Asking[Time]:
    """Return the time of the slowest branch: 0 where none is present."""
    present = [one for one in branches if one[1] > 0]
    if not present:
        return Time()
    if len(present) == 1 and present[0][1] <= 1:
        ((time, share),) = present
        return time.scaled(share, share * time.second_moment - (share * time.mean) ** 2)
    longest, many = max(present, key=lambda one: min(one[1], 1.0) * one[0].mean)
    share = min(many, 1.0)
    mean, second = yield present
    main = longest.scaled(share, 0.0).mean
    return longest.scaled(share, max(0.0, second - mean**2), max(0.0, mean - main))


def _maxima(several: Sequence[Branches]) -> list[Maximum]:
    """Return the maximum of each: at once of those that have no constant time."""
    maxima: list[Maximum | None] = [
        _with_constant(one) if any(_is_constant(time) for time, _ in one) else None
        for one in several
    ]
    rest = [at for at, one in enumerate(maxima) if one is None]
    if rest:
        of_rest = _of_random([several[at] for at in rest])
        for at, maximum in zip(rest, of_rest, strict=True):
            maxima[at] = maximum
    return [one for one in maxima if one is not None]


def _highest(branches: Branches) -> float:
    """Return a time that next to none exceeds."""
    return max(
        time.mean + math.sqrt(time.variance) * (12 + 2 * math.log(max(1.0, many)))
        for time, many in branches
    )


def _of_random(several: Sequence[Branches]) -> list[Maximum]:
    """Return the maxima of branches whose times are random."""
    flat = [one for branches in several for one in branches]
    begins = np.cumsum([0, *map(len, several)])
    highest = np.asarray([_highest(one) for one in several])[:, None]
    points, weights = highest * _NODES, highest * _WEIGHTS
    of_branch = np.repeat(points, np.diff(begins), axis=0)
    below = np.multiply.reduceat(_done(flat, of_branch), begins[:-1])
    above = (1 - below) * weights
    return list(
        zip(above.sum(axis=1).tolist(), (2 * (above * points).sum(axis=1)).tolist(), strict=True)
    )


def _with_constant(branches: Branches) -> Maximum:
    """Return the maximum of branches, the times of some of which are constant."""
    highest = _highest(branches)
    if highest == 0.0:
        return 0.0, 0.0
    random = [one for one in branches if not _is_constant(one[0])]
    constant = [one for one in branches if _is_constant(one[0])]
    # Means of constant times must come out exactly: integrate from one of them to the next.
    ends = sorted({0.0, highest, *(time.mean for time, _ in constant)})
    points = np.concatenate([low + (high - low) * _NODES for low, high in pairwise(ends)])
    weights = np.concatenate([(high - low) * _WEIGHTS for low, high in pairwise(ends)])
    below = _done(random, points).prod(axis=0) if random else np.ones(len(points))
    for time, many in constant:
        below *= _all_of((points >= time.mean).astype(np.float64), np.asarray(many))
    above = (1 - below) * weights
    return float(above.sum()), float(2 * (above * points).sum())


def _done(branches: Branches, points: FloatArray) -> FloatArray:
    """Return [B, S] the chance that all of each branch are done, by gamma distributions."""
    from scipy.special import gammainc

    mean = np.asarray([time.mean for time, _ in branches])[:, None]
    variance = np.asarray([time.variance for time, _ in branches])[:, None]
    done = gammainc(mean**2 / variance, points * (mean / variance))
    return _all_of(done, np.asarray([many for _, many in branches])[:, None])


def _all_of(done: FloatArray, many: FloatArray) -> FloatArray:
    """Return the chance that `many` branches are done: a whole number of them, and one at times."""
    whole = np.floor(many)
    chance: FloatArray = done**whole * ((1 - many + whole) + (many - whole) * done)
    return chance


def _is_constant(time: Time) -> bool:
    return time.variance <= CONSTANT * time.mean**2


_POINTS, _HALVES = np.polynomial.legendre.leggauss(STEPS)
_NODES, _WEIGHTS = (_POINTS + 1) / 2, _HALVES / 2
"""Of an integral from 0 to 1."""


# Trees: who sends to whom, by route.


@dataclass(frozen=True, slots=True)
class Branch:
    """What a component sends on by one hop for each tuple that it receives.

    Parameters
    ----------
    hop
        Index of the hop.
    target
        Component that receives.
    copies
        Tuples that are sent, in the mean.
    distinct
        Different threads that they go to, in the mean; fewer than 1 where fewer are sent.
    """

    hop: int
    target: int
    copies: float
    distinct: float

    def at(self, here: Time, after: Time) -> Asking[Time]:
        """Return the time from the arrival at one of these threads until all is processed.

        Tuples that go to the same thread are done one after the other. Either the last of them is
        the latest, or one of them whose further way is longer.

        Parameters
        ----------
        here
            At the receiver, for a tuple in the middle of those that were sent together.
        after
            From there on, of one tuple.
        """
        each = self.copies / self.distinct
        if each <= 1:
            return here.after(after)
        last = (each - 1) / 2 * (here.service + here.serialise)
        slow = yield from slowest([(after, each)])
        if slow.mean >= after.mean + last:
            return here.after(slow)
        return here.after(replace(after, queueing=after.queueing + last))


@dataclass(frozen=True, slots=True)
class Tree:
    """The components that a spout's tuples come by, those that send last first.

    Parameters
    ----------
    route
        Index of the spout's route.
    spout
        Index of its component.
    order
        Components below the spout, in an order in which only cycles refer to later ones; ackers
        left out.
    cyclic
        Whether there are cycles.
    branches
        Component -> its branches.
    acknowledged
        Component -> hop of its messages to the acker; empty where tuples are not acked.
    acker
        Acker and hop of its messages to the spout; ``None`` where tuples are not acked.
    """

    route: int
    spout: int
    order: tuple[int, ...]
    cyclic: bool
    branches: dict[int, list[Branch]]
    acknowledged: dict[int, int]
    acker: tuple[int, int] | None

    def after_emission(self, residence: dict[int, Time], network: Sequence[Time]) -> Asking[Time]:
        """Return the time from a tuple's emission until all that follows from it is processed.

        Without what the spout's thread does.

        Parameters
        ----------
        residence
            Component -> time that a tuple spends at it: waiting and being processed.
        network
            Hop -> time of a copy on the way.
        """
        after: dict[int, Time] = defaultdict(Time)
        acks: dict[int, Time] = {}
        if self.acker is not None:
            acker, back = self.acker
            last = residence[acker].after(network[back])
            acks = {c: network[hop].after(last) for c, hop in self.acknowledged.items()}

        def at(component: int) -> Asking[Time]:
            if component not in self.branches and component not in acks:
                return Time()
            branches = []
            for one in self.branches.get(component, ()):
                time = yield from one.at(residence[one.target], after[one.target])
                branches.append((network[one.hop].after(time), one.distinct))
            # What follows for certain is acknowledged later than the tuple itself.
            if component in acks and all(many < 1 for _, many in branches):
                branches.append((acks[component], 1.0))
            return (yield from slowest(branches))

        for component in self.order:
            after[component] = yield from at(component)
        for _ in range(MOST_ROUNDS - 1 if self.cyclic else 0):
            before = {component: after[component].mean for component in self.order}
            for component in self.order:
                after[component] = yield from at(component)
            change = max(abs(after[c].mean - mean) for c, mean in before.items())
            if change <= SETTLED * max(one.mean for one in after.values()):
                break
        return (yield from at(self.spout))


def trees(loads: Loads, receivers: FloatArray) -> tuple[Tree, ...]:
    """Return the tree of each route.

    `receivers` are, for each hop, the different threads that tuples go to which are sent together.
    """
    hops: dict[int, list[tuple[int, Hop]]] = defaultdict(list)
    for index, hop in enumerate(loads.hops):
        hops[hop.route].append((index, hop))
    return tuple(
        _tree(loads, r, route, hops[r], receivers) for r, route in enumerate(loads.flows.routes)
    )


def _tree(
    loads: Loads,
    index: int,
    route: Route,
    hops: Sequence[tuple[int, Hop]],
    receivers: FloatArray,
) -> Tree:
    import networkx as nx

    branches: dict[int, list[Branch]] = defaultdict(list)
    acknowledged: dict[int, int] = {}
    acker: tuple[int, int] | None = None
    for number, hop in hops:
        link = loads.flows.links[hop.link]
        if not link.acks:
            copies = hop.copies / float(route.visits[link.source])
            distinct = min(copies, float(receivers[number]))
            branches[link.source].append(Branch(number, link.target, copies, distinct))
        elif link.selectivity is None:
            acker = (link.source, number)
        else:
            acknowledged[link.source] = number
    graph = nx.DiGraph((source, one.target) for source, some in branches.items() for one in some)
    graph.add_node(route.spout)
    whole = nx.condensation(graph)
    parts = [whole.nodes[part]["members"] for part in nx.topological_sort(whole)]
    order = [c for part in reversed(parts) for c in sorted(part, reverse=True)]
    return Tree(
        index,
        route.spout,
        tuple(c for c in order if c != route.spout),
        not nx.is_directed_acyclic_graph(graph),
        dict(branches),
        acknowledged,
        acker,
    )
