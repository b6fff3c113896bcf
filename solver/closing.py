"""Closing the gap: an exact search among the configurations that a good plan can use.

With prices, every configuration has a loss >= 0 and the value of a plan is the cut minus its
losses. So a plan worth at least some value uses only configurations whose loss fits the
difference. `least_loss` searches the residual vector from x down to 0 in order of accumulated
loss (Dijkstra; the next configuration must contain the first kind that is left, which costs no
plan: the nodes of a type are exchangeable). Exhausted within the budget: no such plan exists.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem import IntArray
from slotwise.solver.master import Column, Cut
from slotwise.solver.memory import check_room
from slotwise.solver.stopping import check_stop

CHECK_EVERY = 256

Content = tuple[int, tuple[int, ...]]
"""(type index within the site, counts of the kinds) of one node."""


class TooLongError(Exception):
    """The search passed its limit of states or of time; it proves nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Contents of nodes that add up to x, and their total loss on the cut's scale."""

    loss: int
    contents: tuple[Content, ...]


State = tuple[tuple[int, ...], tuple[int, ...]]
"""What is left of x, and the nodes left of each type; all of them where they cannot run out."""


def least_loss(
    columns: Sequence[Column],
    nodes: Sequence[int],
    cut: Cut,
    x: IntArray,
    budget: int,
    go_on: Callable[[int], bool],
) -> Plan | None:
    """Return the plan of x with the least loss, or ``None`` if all lose more than `budget`.

    Parameters
    ----------
    columns, nodes
        Configurations and number of nodes of each type of the site.
    cut
        A cut of the site, any.
    x
        [K] tasks of each kind to place.
    budget
        Largest loss of interest, on the cut's scale.
    go_on
        Called now and then with the number of states seen; false stops the search.

    Raises
    ------
    TooLongError
        When `go_on` said so.
    """
    search = _Residuals(columns, nodes, cut, x, budget)
    while search.queue:
        loss, state = heapq.heappop(search.queue)
        if not any(state[0]):
            return Plan(loss, search.contents(state))
        if loss > search.best[state]:
            continue  # reached on a cheaper way since it was queued
        search.seen += 1
        if search.seen % CHECK_EVERY == 0 and not go_on(search.seen):
            raise TooLongError
        search.expand(loss, state)
    return None


def loss_of(
    columns: Sequence[Column],
    nodes: Sequence[int],
    cut: Cut,
    x: IntArray,
    contents: Sequence[Content],
) -> int | None:
    """Return the loss of a plan of x; ``None`` where `contents` is none of these columns."""
    left, placed = list(nodes), np.zeros_like(x)
    loss = 0
    for t, counts in contents:
        rows = np.flatnonzero((columns[t].counts == counts).all(axis=1))
        if not len(rows):
            return None
        placed += counts
        left[t] -= 1
        loss += int(cut.losses(t, columns[t])[rows[0]])
    idle = _idle(_idle_losses(columns, cut), left)
    return None if idle is None or min(left) < 0 or (placed != x).any() else loss + idle


class _Residuals:
    """The states reached so far, and the queue of those to look at."""

    def __init__(
        self, columns: Sequence[Column], nodes: Sequence[int], cut: Cut, x: IntArray, budget: int
    ) -> None:
        self._moves = _moves(columns, cut, x, budget)
        self._idle = _idle_losses(columns, cut)
        tasks = int(x.sum())
        self._ample = [
            idle == 0 and count >= tasks for idle, count in zip(self._idle, nodes, strict=True)
        ]
        self._budget = budget
        self._start: State = (tuple(x.tolist()), tuple(nodes))
        self._came: dict[State, tuple[State, Content]] = {}
        self.best: dict[State, int] = {self._start: 0}
        self.queue: list[tuple[int, State]] = []
        self.seen = 0
        first_loss = 0 if x.any() else _idle(self._idle, self._start[1])
        if first_loss is not None and first_loss <= budget:
            self.queue.append((first_loss, self._start))

    def expand(self, loss: int, state: State) -> None:
        """Fill one more node in every way that holds the first kind left."""
        residual, left = state
        first = next(k for k, count in enumerate(residual) if count)
        row = np.array(residual, dtype=np.int64)
        for t, count in enumerate(left):
            if not count:
                continue
            counts, losses = self._moves[t][first]
            within = np.searchsorted(losses, self._budget - loss, side="right")
            rest = left if self._ample[t] else (*left[:t], count - 1, *left[t + 1 :])
            for y in np.flatnonzero((counts[:within] <= row).all(axis=1)).tolist():
                after: State = (tuple((row - counts[y]).tolist()), rest)
                self._reach(after, loss + int(losses[y]), state, (t, tuple(counts[y].tolist())))

    def _reach(self, state: State, loss: int, before: State, content: Content) -> None:
        idle = 0 if any(state[0]) else _idle(self._idle, state[1])
        if idle is None:
            return  # a node that must not stay empty would
        total = loss + idle
        if total <= self._budget and total < self.best.get(state, self._budget + 1):
            check_stop()
            self.best[state] = total
            self._came[state] = (before, content)
            heapq.heappush(self.queue, (total, state))

    def contents(self, state: State) -> tuple[Content, ...]:
        """Return the contents of the nodes filled on the way to a state."""
        contents = []
        while state != self._start:
            state, content = self._came[state]
            contents.append(content)
        return tuple(contents)


def _idle_losses(columns: Sequence[Column], cut: Cut) -> list[int | None]:
    """Return the loss of an empty node of each type; ``None`` where it must not be empty."""
    rows = [column.empty for column in columns]
    return [
        None if row is None else int(cut.losses(t, columns[t])[row]) for t, row in enumerate(rows)
    ]


def _idle(losses: Sequence[int | None], nodes: Sequence[int]) -> int | None:
    """Return the loss of leaving these nodes empty; ``None`` if one of them must not be."""
    total = 0
    for loss, count in zip(losses, nodes, strict=True):
        if count and loss is None:
            return None
        total += count * (loss or 0)
    return total


def _moves(
    columns: Sequence[Column], cut: Cut, x: IntArray, budget: int
) -> list[list[tuple[IntArray, IntArray]]]:
    """Return, per type and kind k, the configurations with k that fit x and the budget, by loss."""
    moves = []
    for t, column in enumerate(columns):
        losses = cut.losses(t, column)
        kept = np.flatnonzero((losses <= budget) & (column.counts <= x).all(axis=1))
        kept = kept[np.argsort(losses[kept], kind="stable")]
        entries = int(np.count_nonzero(column.counts[kept]))
        check_room(8 * (len(kept) + entries) * len(x), f"moves by {len(kept):,} contents")
        counts, losses = column.counts[kept], losses[kept]
        moves.append([(counts[counts[:, k] > 0], losses[counts[:, k] > 0]) for k in range(len(x))])
    return moves
