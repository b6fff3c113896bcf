"""The inner loops of `piece_tables` and `piece_profile`, plain Python that Numba can compile."""

from __future__ import annotations

from slotwise.models.problem.problem import IntArray

IMPOSSIBLE = -(2**61)
"""Worth of what does not fit."""


def lift(own: IntArray, flow: int, fresh: bool, lifted: IntArray) -> None:
    """Fill ``lifted[x, h] = max_y own[y, h] + flow * x * y``, y = 0 included.

    Parameters
    ----------
    own
        [Y + 1, H + 1] best worth of a subtree with y tasks of its root and at most h units.
    flow
        Worth of a pair of a task of the root and a task of its parent.
    fresh
        Whether the root may have tasks where the parent has none.
    lifted
        [X + 1, H + 1] the same by the number x of tasks of the parent; filled in place.
    """
    for x in range(lifted.shape[0]):
        for h in range(lifted.shape[1]):
            best = own[0, h]
            if x > 0 or fresh:
                for y in range(1, own.shape[0]):
                    worth = own[y, h] + flow * x * y
                    if worth > best:
                        best = worth
            lifted[x, h] = best


def combine(first: IntArray, second: IntArray, both: IntArray) -> None:
    """Fill ``both[x, h] = max_i first[x, h - i] + second[x, i]`` (max-plus convolution).

    All [X + 1, H + 1]; `second` is at least 0 and grows with h, so only its steps are tried.
    """
    most = first.shape[1]
    for x in range(first.shape[0]):
        for h in range(most):
            both[x, h] = first[x, h] + second[x, 0]
        for i in range(1, most):
            if second[x, i] == second[x, i - 1]:
                continue
            for h in range(i, most):
                if first[x, h - i] > IMPOSSIBLE:
                    worth = first[x, h - i] + second[x, i]
                    if worth > both[x, h]:
                        both[x, h] = worth


def combine_exactly(first: IntArray, second: IntArray, both: IntArray) -> None:
    """Fill ``both[x, h] = max_i first[x, h - i] + second[x, i]`` where h units are used exactly.

    All [X + 1, H + 1]; `IMPOSSIBLE` where nothing uses so many units.
    """
    most = first.shape[1]
    for x in range(first.shape[0]):
        for h in range(most):
            both[x, h] = IMPOSSIBLE
        for i in range(most):
            if second[x, i] <= IMPOSSIBLE // 2:
                continue
            for h in range(i, most):
                if first[x, h - i] > IMPOSSIBLE // 2:
                    worth = first[x, h - i] + second[x, i]
                    if worth > both[x, h]:
                        both[x, h] = worth


def add_up(losses: IntArray, least: IntArray) -> None:
    """Fill ``least[w] = min_h losses[h] + least[w - h]``, h from 1 up, with ``least[0] = 0``.

    `losses` [H + 1] by the units of one place, `least` [W + 1] by the units of all.
    """
    least[0] = 0
    for w in range(1, len(least)):
        best = -IMPOSSIBLE
        for h in range(1, min(w, len(losses) - 1) + 1):
            if losses[h] + least[w - h] < best:
                best = losses[h] + least[w - h]
        least[w] = best
