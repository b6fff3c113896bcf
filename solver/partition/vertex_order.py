"""An order of the kinds in which few of them are open at any time (small vertex separation).

A kind is open while some later kind has flow with it. Greedy: next comes the kind that leaves the
fewest states open; from several starts, the order with the fewest states in all.
An order is given up where a layer alone has too many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray

MAX_STARTS, MAX_STEPS = 64, 6_000
"""Starts, and starts times kinds."""


def good_order(
    flow: IntArray, most: IntArray, max_states: int, seed: int, token: CancellationToken
) -> tuple[tuple[int, ...], float]:
    """Return an order of the kinds [K] and the states of its layers; infinite = too many.

    `flow` is [K, K], symmetric; no layer has more than `max_states`.
    """
    kinds = range(len(most))
    near = {k: frozenset(np.flatnonzero(flow[k]).tolist()) - {k} for k in kinds}
    bits = [math.log2(int(most[k]) + 1) for k in kinds]
    rng = np.random.default_rng(seed)
    best: tuple[tuple[int, ...], float] = ((), math.inf)
    starts = max(1, min(MAX_STARTS, MAX_STEPS // len(most)))
    for start in rng.permutation(len(most))[:starts].tolist():
        found = _from(start, near, bits, math.log2(max_states), rng, token)
        best = min(best, found, key=lambda one: one[1])
    return best


def _from(
    start: int,
    near: Mapping[int, frozenset[int]],
    bits: list[float],
    max_bits: float,
    rng: np.random.Generator,
    token: CancellationToken,
) -> tuple[tuple[int, ...], float]:
    left, open_kinds, order, states = set(near), set[int](), list[int](), 0.0
    chosen = start
    while True:
        token.check()
        open_bits = sum(bits[k] for k in open_kinds)
        if open_bits > max_bits:
            return (), math.inf
        states += 2.0**open_bits
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
