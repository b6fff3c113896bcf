"""The threads of tasks: spouts, bolts and ackers.

A thread takes one tuple after the other, in the order of their arrival. It processes it and
serialises what follows, on one of its node's cores, and then sends that. A spout emits a tuple
between the two. The tuple of a spout and all that follows from it are one *tree*: it counts what is
still under way, so that it knows when all is processed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from slotwise.models.simulation.network import Network, Way
from slotwise.models.simulation.sharing import SharedServer, after

if TYPE_CHECKING:
    from simpy import Environment

IN_TURN = ("shuffle", "local_or_shuffle", "none", "global")
"""Groupings that deal tuples in turn; the others that do not copy draw a receiver for each.

Predictions have a list of their own: taken from there, a mistake in it would not be seen.
"""


@dataclass(slots=True)
class Completed:
    """What became of the tuples of a spout's component since the last look.

    Parameters
    ----------
    count
        Tuples of which all is processed.
    seconds
        Their times from emission to that, added up.
    """

    count: int = 0
    seconds: float = 0.0


class Tree:
    """A tuple of a spout, and all that follows from it.

    Parameters
    ----------
    spout
        The thread that emits it.
    draw
        Uniform on [0, 1); it chooses the acker of all its tuples.
    """

    __slots__ = ("draw", "emitted", "pending", "spout")

    def __init__(self, spout: Spout, draw: float) -> None:
        self.spout = spout
        self.draw = draw
        self.emitted = 0.0
        self.pending = 0


Receive = Callable[[Tree], None]
Recipient = tuple[Receive, Way]
"""Who receives a tuple, and its way there."""


@dataclass(slots=True, eq=False)
class Outlet:
    """What a thread sends along one link.

    Parameters
    ----------
    grouping
        How the link deals tuples, of `GROUPINGS`.
    acks
        Whether it goes to ackers: that of the tree receives all.
    selectivity
        Tuples sent per tuple that is processed; of a fraction, another one by chance.
    receivers
        Of this sender, in the order of their turns.
    draws
        Uniform on [0, 1).
    """

    grouping: str
    acks: bool
    selectivity: Fraction
    receivers: Sequence[Recipient]
    draws: Iterator[float]
    _whole: int = field(init=False)
    _part: float = field(init=False)
    _turn: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._whole = floor(self.selectivity)
        self._part = float(self.selectivity - self._whole)

    def choose(self, tree: Tree, chosen: list[Recipient]) -> None:
        """Add to `chosen` what follows from a tuple."""
        receivers = self.receivers
        if self.acks:
            chosen.append(receivers[int(tree.draw * len(receivers))])
            return
        for _ in range(self._whole + (self._part > 0 and next(self.draws) < self._part)):
            if self.grouping == "all":
                chosen.extend(receivers)
            elif self.grouping in IN_TURN:
                chosen.append(receivers[self._turn])
                self._turn = (self._turn + 1) % len(receivers)
            else:
                chosen.append(receivers[int(next(self.draws) * len(receivers))])


@dataclass(slots=True, eq=False)
class Thread(ABC):
    """The thread of a task.

    Parameters
    ----------
    env, network
        The simulation's.
    cores
        Those of its node.
    slower
        How much longer work takes on one of them than on a core of 100 points.
    service
        Seconds to process one tuple after the other, on a core of 100 points.
    outlets
        What it sends.
    work
        Seconds that it had a core to itself, or that much of a shared one.
    """

    env: Environment
    network: Network
    cores: SharedServer
    slower: float
    service: Iterator[float]
    outlets: list[Outlet] = field(default_factory=list)
    work: float = 0.0
    _waiting: deque[Tree] = field(default_factory=deque)
    _is_busy: bool = False
    _attained: float | None = None

    def receive(self, tree: Tree) -> None:
        """Take a tuple of the tree, to be processed when it is its turn."""
        self._waiting.append(tree)
        if not self._is_busy:
            self._next()

    def account(self) -> None:
        """Add to `work` what the tuple that is being processed has had of it so far."""
        if self._attained is not None:
            now = self.cores.attained
            self.work += now - self._attained
            self._attained = now

    @abstractmethod
    def _start(self, tree: Tree) -> bool:
        """Process a tuple; return whether it is done with already, as it takes no time."""

    def _next(self) -> None:
        """Take one waiting tuple after the other until one takes time."""
        self._is_busy = True
        while self._waiting:
            if not self._start(self._waiting.popleft()):
                return
        self._is_busy = False

    def _keep_busy(self, seconds: float, then: Callable[[], None]) -> None:
        """Use a core for `seconds` of one of 100 points."""

        def end() -> None:
            self.account()
            self._attained = None
            then()

        self._attained = self.cores.attained
        self.cores.use(seconds * self.slower, end)

    def _occupy(self, seconds: float, finish: Callable[[], None]) -> bool:
        """Finish a tuple after `seconds` of a core; return whether that was at once."""
        if not seconds:
            finish()
            return True

        def end() -> None:
            finish()
            self._next()

        self._keep_busy(seconds, end)
        return False

    def _chosen(self, tree: Tree) -> list[Recipient]:
        chosen: list[Recipient] = []
        for outlet in self.outlets:
            outlet.choose(tree, chosen)
        return chosen

    def _send(self, tree: Tree, chosen: Sequence[Recipient]) -> None:
        for receive, way in chosen:
            self.network.carry(way, lambda receive=receive: receive(tree))  # type: ignore[misc]


def serialisation(chosen: Sequence[Recipient]) -> float:
    """Return the seconds of a core of 100 points that sending takes."""
    return sum(way.serialise for _, way in chosen)


@dataclass(slots=True, eq=False)
class Bolt(Thread):
    """A task that processes tuples and sends others."""

    def _start(self, tree: Tree) -> bool:
        chosen = self._chosen(tree)
        seconds = next(self.service) + serialisation(chosen)
        return self._occupy(seconds, lambda: self._finish(tree, chosen))

    def _finish(self, tree: Tree, chosen: Sequence[Recipient]) -> None:
        tree.pending += len(chosen) - 1
        self._send(tree, chosen)
        if not chosen and not tree.pending:
            tree.spout.complete(tree)


@dataclass(slots=True, eq=False)
class Acker(Thread):
    """A task that hears of each tuple of a tree, and tells its spout when it has heard of all.

    Parameters
    ----------
    back
        Spout's thread -> way there.
    """

    back: dict[Thread, Way] = field(default_factory=dict)

    def _start(self, tree: Tree) -> bool:
        # All messages about a tree come here: nothing else is under way when this one is the last.
        way = self.back[tree.spout] if tree.pending == 1 else None
        seconds = next(self.service) + (0.0 if way is None else way.serialise)
        return self._occupy(seconds, lambda: self._finish(tree, way))

    def _finish(self, tree: Tree, way: Way | None) -> None:
        tree.pending -= 1
        if way is not None:
            self._send(tree, [(tree.spout.complete, way)])


@dataclass(slots=True, eq=False)
class Spout(Thread):
    """A task that emits tuples, from a source or as fast as its window lets it.

    Parameters
    ----------
    rate
        Tuples per second that come to it, as a Poisson process; ``None`` = there is always one.
    window
        Most of its trees in flight; ``None`` = no limit. What comes while it is full is lost.
    draws
        Uniform on [0, 1).
    pauses
        Exponential with mean 1.
    completed
        What is kept, for all tasks of the component.
    """

    rate: float | None = field(kw_only=True)
    window: int | None = field(kw_only=True)
    draws: Iterator[float] = field(kw_only=True)
    pauses: Iterator[float] = field(kw_only=True)
    completed: Completed = field(kw_only=True)
    _in_flight: int = 0

    def begin(self) -> None:
        """Let the first tuples come."""
        if self.rate:
            self._await_next()
        elif self.rate is None:
            assert self.window is not None, "else it would emit for ever at once"
            for _ in range(self.window):
                self.receive(Tree(self, next(self.draws)))

    def complete(self, tree: Tree) -> None:
        """Note that all that follows from a tuple is processed."""
        self.completed.count += 1
        self.completed.seconds += self.env.now - tree.emitted
        self._in_flight -= 1
        if self.rate is None:
            self.receive(Tree(self, next(self.draws)))

    def _await_next(self) -> None:
        assert self.rate is not None
        after(self.env, next(self.pauses) / self.rate, self._arrive)

    def _arrive(self) -> None:
        if self.window is None or self._in_flight < self.window:
            self._in_flight += 1
            self.receive(Tree(self, next(self.draws)))
        self._await_next()

    def _start(self, tree: Tree) -> bool:
        seconds = next(self.service)
        if not seconds:
            return self._emit(tree)

        def end() -> None:
            if self._emit(tree):
                self._next()

        self._keep_busy(seconds, end)
        return False

    def _emit(self, tree: Tree) -> bool:
        """Emit a tuple; return whether it is sent already, as sending takes no time."""
        tree.emitted = self.env.now
        chosen = self._chosen(tree)
        return self._occupy(serialisation(chosen), lambda: self._finish(tree, chosen))

    def _finish(self, tree: Tree, chosen: Sequence[Recipient]) -> None:
        tree.pending = len(chosen)
        self._send(tree, chosen)
        if not chosen:
            self.complete(tree)
