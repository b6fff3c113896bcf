"""The best part at given duals, and all good ones: dynamic programming along an order of kinds.

Kinds are decided one after the other: how many of its tasks are in the part. What later decisions
depend on is the capacity left, and the counts of the kinds that later ones have flow with, the
frontier. A table per layer holds the best value of what is still to be decided, at most 2^width
states times units for single tasks; width is the vertex separation of the order, small on sparse
graphs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.memory import RunToken

Tables = list[IntArray]
"""[states, units + 1] per layer, and one after the last: the best value of the layers to come."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """The decision on one kind, from M states.

    Parameters
    ----------
    kind, most, weight
        The kind, the most tasks of it in a part, and the units that each takes.
    base, stride
        [M] the state after none of it; what each task of it adds.
    gain
        [M] flow of one of its tasks with those of the state.
    """

    kind: int
    most: int
    weight: int
    base: IntArray
    stride: int
    gain: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """The layers in order, and the units of a part; `token` ends what is computed here."""

    layers: tuple[Layer, ...]
    units: int
    token: RunToken

    @property
    def kind_count(self) -> int:
        """Number of kinds."""
        return len(self.layers)

    def tables(self, scale: int, duals: IntArray) -> Tables:
        """Return the tables of ``scale * flow inside - duals``; those of later layers last."""
        cells = sum(len(layer.base) for layer in self.layers) * (self.units + 1)
        self.token.check_room(8 * cells, "tables of parts along the frontier")
        tables = [np.zeros((1, self.units + 1), dtype=np.int64)]
        for layer in reversed(self.layers):
            self.token.check()
            after = tables[-1]
            here = after[layer.base]
            reward = scale * layer.gain - int(duals[layer.kind])
            for count in range(1, layer.most + 1):
                used = count * layer.weight
                shifted = after[layer.base + count * layer.stride, : self.units + 1 - used]
                np.maximum(here[:, used:], shifted + count * reward[:, None], out=here[:, used:])
            tables.append(here)
        return tables[::-1]

    def best_parts(self, tables: Tables, scale: int, duals: IntArray) -> list[IntArray]:
        """Return [K] the best part with each kind as the first in order; at most one a kind."""
        parts = []
        for first, layer in enumerate(self.layers):
            self.token.check()
            counts = np.zeros(self.kind_count, dtype=np.int64)
            state, left = 0, self.units
            for i in range(first, len(self.layers)):
                current = self.layers[i]
                reward = scale * int(current.gain[state]) - int(duals[current.kind])
                low = 1 if i == first else 0
                ways = [
                    (
                        count * reward + int(tables[i + 1][into, left - count * current.weight]),
                        count,
                    )
                    for count in range(low, current.most + 1)
                    if count * current.weight <= left
                    for into in [int(current.base[state]) + count * current.stride]
                ]
                if not ways:
                    break
                count = max(ways)[1]
                counts[current.kind] = count
                state = int(current.base[state]) + count * current.stride
                left -= count * current.weight
            if counts[layer.kind]:
                parts.append(counts)
        return parts

    def parts_within(
        self, tables: Tables, scale: int, duals: IntArray, least: int, most_parts: int
    ) -> IntArray:
        """Return [Y, K] all parts worth `least` or more, the empty one left out.

        Raises
        ------
        TooLongError
            When there are more than `most_parts`.
        """
        counts = np.zeros((1, self.kind_count), dtype=np.int32)
        state = np.zeros(1, dtype=np.int64)
        left, value = np.full(1, self.units), np.zeros(1, dtype=np.int64)
        for layer, after in zip(self.layers, tables[1:], strict=True):
            self.token.check()
            reward = scale * layer.gain[state] - int(duals[layer.kind])
            chosen = []
            for count in range(layer.most + 1):
                rows = np.flatnonzero(left >= count * layer.weight)
                into = layer.base[state[rows]] + count * layer.stride
                rest = left[rows] - count * layer.weight
                worth = value[rows] + count * reward[rows]
                mask = worth + after[into, rest] >= least  # the table is exact: none is in vain
                tasks_taken = counts[rows[mask]]
                tasks_taken[:, layer.kind] = count
                chosen.append((tasks_taken, into[mask], rest[mask], worth[mask]))
            if sum(len(piece[1]) for piece in chosen) > most_parts:
                raise TooLongError
            counts, state, left, value = (
                np.concatenate(pieces) for pieces in zip(*chosen, strict=True)
            )
        parts = counts.astype(np.int64)
        return parts[parts.any(axis=1)]


def make_frontier(
    order: Sequence[int],
    flow: IntArray,
    most: IntArray,
    weights: IntArray,
    units: int,
    token: RunToken,
) -> Frontier:
    """Return the layers of kinds [K] in this order; flow [K, K] is symmetric, diagonal 0."""
    layers: list[Layer] = []
    frontier: list[int] = []
    left = set(order)
    for kind in order:
        token.check()
        left.discard(kind)
        ahead = [k for k in [*frontier, kind] if flow[k, sorted(left)].any()]
        shape = [int(most[k]) + 1 for k in frontier]
        counts = np.indices(shape).reshape(len(frontier), math.prod(shape))
        stride = _strides(ahead, most)
        base = np.zeros(counts.shape[1], dtype=np.int64)
        gain = np.zeros_like(base)
        for column, k in zip(counts, frontier, strict=True):
            base += column * stride.get(k, 0)
            gain += column * int(flow[k, kind])
        weight = int(weights[kind])
        fits = int(most[kind]) if not weight else min(int(most[kind]), units // weight)
        layers.append(Layer(kind, fits, weight, base, stride.get(kind, 0), gain))
        frontier = ahead
    return Frontier(tuple(layers), units, token)


def _strides(frontier: Sequence[int], most: IntArray) -> dict[int, int]:
    """Return the place value of each kind's count in the index of a state, as `np.indices` does."""
    strides, size = {}, 1
    for k in reversed(frontier):
        strides[k] = size
        size *= int(most[k]) + 1
    return strides


# An order of the kinds in which few of them are open at any time (small vertex separation).
#
# A kind is open while some later kind has flow with it. Greedy: next comes the kind that leaves the
# fewest states open; from several starts, the order with the fewest states in all.
# An order is given up where a layer alone has too many.

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
        order = _from(start, near, bits, math.log2(max_states), rng, token)
        best = min(best, order, key=lambda one: one[1])
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
