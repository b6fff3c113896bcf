"""An order of the kinds in which few of them are open at any time (small vertex separation).

A kind is open while some later kind has flow with it. Greedy: next comes the kind that leaves the
fewest states open; from several starts, the order with the fewest states in all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray

MOST_STARTS = 64


def good_order(
    flow: IntArray, most: IntArray, seed: int, token: CancellationToken
) -> tuple[tuple[int, ...], float]:
    """Return an order of the kinds [K] and the states of its layers; flow is [K, K], symmetric."""
    kinds = range(len(most))
    near = {k: frozenset(np.flatnonzero(flow[k]).tolist()) - {k} for k in kinds}
    bits = [math.log2(int(most[k]) + 1) for k in kinds]
    rng = np.random.default_rng(seed)
    best: tuple[tuple[int, ...], float] = ((), math.inf)
    for start in rng.permutation(len(most))[:MOST_STARTS].tolist():
        token.check()
        best = min(best, _from(start, near, bits, rng), key=lambda found: found[1])
    return best


def _from(
    start: int,
    near: Mapping[int, frozenset[int]],
    bits: list[float],
    rng: np.random.Generator,
) -> tuple[tuple[int, ...], float]:
    left, open_kinds, order, states = set(near), set[int](), list[int](), 0.0
    chosen = start
    while True:
        states += 2.0 ** min(1000.0, sum(bits[k] for k in open_kinds))
        order.append(chosen)
        left.discard(chosen)
        open_kinds = {k for k in open_kinds | {chosen} if near[k] & left}
        if not left:
            return tuple(order), states
        ahead = sorted({k for one in open_kinds for k in near[one] & left} or left)
        costs = [_open_bits(k, open_kinds, left, near, bits) for k in ahead]
        chosen = ahead[min(range(len(ahead)), key=lambda i: (costs[i], rng.random()))]


def _open_bits(
    kind: int,
    open_kinds: set[int],
    left: set[int],
    near: Mapping[int, frozenset[int]],
    bits: list[float],
) -> float:
    """Return the bits of a state after `kind`."""
    rest = left - {kind}
    return sum(bits[k] for k in (*open_kinds, kind) if near[k] & rest)
