"""Changes of what a place holds: tasks that leave it and join it, and what that costs.

`Changes` of two places merge into those of both together. What has gone from them costs a move
each; what they hold more than now comes from elsewhere and costs a move there. So a change that is
part of a solution has at most K moves of its own and tasks that it still waits for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.few_moves.params import FewMovesParams
from slotwise.solver.structure.dominance import undominated


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Changes of one place.

    Parameters
    ----------
    net
        [S, K] tasks of each kind that it holds more than now; below 0 = fewer.
    moves
        [S] tasks that run there now and no longer stay at home.
    costs
        [S, C] what decides between changes with the same net.
    left, right
        What they were made from, and [S] the rows of it; ``None`` = nothing else.
    """

    net: IntArray
    moves: IntArray
    costs: IntArray
    left: tuple[Changes, IntArray] | None = None
    right: tuple[Changes, IntArray] | None = None

    def where(self, rows: IntArray) -> Changes:
        """Return some of the changes, in this order."""
        if self.left is None:
            return Changes(self.net[rows], self.moves[rows], self.costs[rows], (self, rows))
        left, rows_left = self.left
        right = None if self.right is None else (self.right[0], self.right[1][rows])
        return Changes(
            self.net[rows], self.moves[rows], self.costs[rows], (left, rows_left[rows]), right
        )

    def with_costs(self, costs: IntArray) -> Changes:
        """Return the changes with other costs."""
        left = (self, np.arange(len(self.net))) if self.left is None else self.left
        return Changes(self.net, self.moves, costs, left, self.right)

    def parts(self, row: int) -> Iterator[tuple[Changes, int]]:
        """Yield the changes, and their rows, that one was merged from in the end."""
        if self.left is None:
            yield self, row
        for side in (self.left, self.right):
            if side is not None:
                yield from side[0].parts(int(side[1][row]))


class Merger:
    """Merges changes within a limit of moves, and counts the work."""

    def __init__(self, most: int, params: FewMovesParams, token: RunToken) -> None:
        self.most, self.params, self.token = most, params, token
        self._pairs = 0

    def merged(self, one: Changes, other: Changes) -> Changes:
        """Return every change of both together that a solution can have.

        Raises
        ------
        NotTakenError
            Where they are too many.
        """
        mine = [np.flatnonzero(one.moves == m) for m in range(self.most + 1)]
        yours = [np.flatnonzero(other.moves == m) for m in range(self.most + 1)]
        blocks = [(mine[a], yours[b]) for a, b in self._within()]
        self._check(sum(len(a) * len(b) for a, b in blocks))
        found = [pair for a, b in blocks for pair in self._fitting(one, other, a, b)]
        none = np.empty(0, dtype=np.int64)
        i, j = (np.concatenate([none, *(pair[side] for pair in found)]) for side in (0, 1))
        return Changes(
            one.net[i] + other.net[j],
            one.moves[i] + other.moves[j],
            one.costs[i] + other.costs[j],
            (one, i),
            (other, j),
        )

    def _within(self) -> list[tuple[int, int]]:
        return [(a, b) for a in range(self.most + 1) for b in range(self.most + 1 - a)]

    def _check(self, pairs: int) -> None:
        self._pairs += pairs
        if pairs > self.params.max_pairs or self._pairs > self.params.max_all_pairs:
            raise NotTakenError(f"{self.most} moves can be made in too many ways")

    def _fitting(
        self, one: Changes, other: Changes, mine: IntArray, yours: IntArray
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows of both, paired, that need no more moves than there may be."""
        at_once = max(1, self.params.pairs_at_once // max(1, len(yours)))
        for start in range(0, len(mine), at_once):
            self.token.check()
            rows = mine[start : start + at_once]
            net = one.net[rows][:, None, :] + other.net[yours][None, :, :]
            moves = one.moves[rows][:, None] + other.moves[yours][None, :]
            i, j = np.nonzero(moves + waiting(net) <= self.most)
            yield rows[i], yours[j]


def waiting(net: IntArray) -> IntArray:
    """Return how many tasks come from elsewhere."""
    return np.asarray(np.maximum(net, 0).sum(axis=-1))


def best_of(changes: Changes, criteria: IntArray) -> Changes:
    """Return the changes that no other with the same net beats in moves and all `criteria`.

    Raises
    ------
    NotTakenError
        Where two different nets have the same code, which is next to impossible.
    """
    codes = _codes(changes.net)
    order = np.argsort(codes, kind="stable")
    same = codes[order[1:]] == codes[order[:-1]]
    if (changes.net[order[1:]][same] != changes.net[order[:-1]][same]).any():
        raise NotTakenError("two different changes have the same code")
    kept = undominated(codes[:, None], np.concatenate([changes.moves[:, None], criteria], axis=1))
    return changes.where(kept)


def _codes(net: IntArray) -> IntArray:
    """Return a whole number for each row; equal rows have equal ones."""
    weights = np.random.default_rng(0).integers(1, 2**62, net.shape[1], dtype=np.int64) | 1
    return np.asarray((net * weights).sum(axis=1, dtype=np.int64))
