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
"""What is left of x, and the nodes left of each type."""


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
    moves = _moves(columns, cut, x, budget)
    start: State = (tuple(x.tolist()), tuple(nodes))
    idle_loss = _idle_losses(columns, cut)
    best: dict[State, int] = {start: 0}
    came: dict[State, tuple[State, Content]] = {}
    first_loss = 0 if x.any() else _idle(idle_loss, start[1])
    queue: list[tuple[int, State]] = []
    if first_loss is not None and first_loss <= budget:
        queue.append((first_loss, start))
    seen = 0
    while queue:
        loss, state = heapq.heappop(queue)
        residual, left = state
        if not any(residual):
            return Plan(loss, _trace(came, start, state))
        if loss > best[state]:
            continue  # reached on a cheaper way since it was queued
        seen += 1
        if seen % CHECK_EVERY == 0 and not go_on(seen):
            raise TooLongError
        first = next(k for k, count in enumerate(residual) if count)
        row = np.array(residual, dtype=np.int64)
        for t, count in enumerate(left):
            if not count:
                continue
            counts, losses = moves[t][first]
            within = np.searchsorted(losses, budget - loss, side="right")
            fits = np.flatnonzero((counts[:within] <= row).all(axis=1))
            rest = (*left[:t], count - 1, *left[t + 1 :])
            for y in fits.tolist():
                after: State = (tuple((row - counts[y]).tolist()), rest)
                idle = 0 if any(after[0]) else _idle(idle_loss, rest)
                if idle is None:
                    continue  # a node that must not stay empty would
                total = loss + int(losses[y]) + idle
                if total <= budget and total < best.get(after, budget + 1):
                    best[after] = total
                    came[after] = (state, (t, tuple(counts[y].tolist())))
                    heapq.heappush(queue, (total, after))
    return None


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
        counts, losses = column.counts[kept], losses[kept]
        moves.append([(counts[counts[:, k] > 0], losses[counts[:, k] > 0]) for k in range(len(x))])
    return moves


def _trace(
    came: dict[State, tuple[State, Content]], start: State, end: State
) -> tuple[Content, ...]:
    contents = []
    state = end
    while state != start:
        state, content = came[state]
        contents.append(content)
    return tuple(contents)
