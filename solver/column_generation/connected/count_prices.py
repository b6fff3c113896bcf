"""Prices of counts: a bound on what all places save that no linear duals give.

With a dual for each task, a fractional solution may use 1.4 places with 500 of 720 tasks each.
Prices P_k(n) of n tasks of a kind in one place do not let it: whatever they are, the tasks of kind
k cost at most F_k, the dearest partition of their number into counts of places, so that

    value of a solution <= sum_k F_k   if   value of y <= sum_k P_k(y_k)   for every content y.

Linear prices are duals of tasks. The best prices are the duals of a linear program whose columns
are contents of places and, for each kind, partitions; a row for each kind and count says that the
contents hold that number of tasks as often as the partition of the kind does (the discretisation of
Vanderbeck, Operations Research 48, 2000). Large counts share rows.
"""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.content_pricing import (
    ContentPricing,
    dearest_partition,
    shrunk,
)
from slotwise.solver.column_generation.connected.joint_duals import JointDuals
from slotwise.solver.column_generation.connected.worker_bounds import TOLERANCE_BITS
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import RestrictedMaster, on_grid

FIRST_STEP, SHORTEST_STEP = 0.5, 0.002
"""Part of the way from proven prices to those of the master: at first, and at least."""

COLUMNS_A_ROUND = 60
EXACT_COUNTS, GROWTH = 128, 1.05
"""Counts up to here have rows of their own; beyond, a row holds counts up to this factor apart."""


def find_count_prices(
    pricing: ContentPricing, start: JointDuals, deadline: float, params: ConnectedParams
) -> JointDuals:
    """Return the prices [K, N + 1] of the least bound found until the deadline, from proven duals.

    The bound is at most theirs. Prices between proven ones and those of the master are asked for
    (in-out, Ben-Ameur and Neto, 2007): if no content violates them they are proven, otherwise the
    violated ones are columns. Where too many contents violate them the step is halved.
    """
    master = CountMaster(pricing)
    master.add(shrunk(pricing.graphs[0], start.columns))
    proven, step = pricing.prices(start.pi), FIRST_STEP
    least = pricing.total(proven)
    while pricing.token.now() < deadline and step >= SHORTEST_STEP:
        target, optimum = master.prices()
        if least // pricing.scale <= optimum // pricing.scale:
            break  # no better bound is left
        trial = np.ceil((1 - step) * proven + step * target).astype(np.int64)
        least_violated = -1 - (1 << TOLERANCE_BITS)
        if master.add(pricing.traced(trial, least_violated)):
            continue
        try:
            violated = pricing.below(trial, least_violated, params.max_candidates, deadline)
        except TooLongError:
            step /= 2
            continue
        if len(violated):
            if not master.add(violated[:COLUMNS_A_ROUND]):
                break
            continue
        lifted = trial + (np.arange(trial.shape[1]) << TOLERANCE_BITS)
        total = pricing.total(lifted)
        if total >= least:
            break
        proven, least, step = lifted, total, min(1.0, 1.5 * step)
    return JointDuals(proven, master.contents())


class CountMaster:
    """The restricted master over contents of places and partitions of kinds."""

    def __init__(self, pricing: ContentPricing) -> None:
        self._pricing = pricing
        self._sizes, self._most = pricing.graphs[0].sizes, pricing.graphs[0].most
        self._row, self._rows = _rows_of_counts(self._most)
        self._known: dict[bytes, IntArray] = {}
        self._partitions: set[tuple[int, bytes]] = set()
        self._lp = RestrictedMaster(maximize=True)
        self._lp.add_rows(self._sizes.tolist())
        self._lp.add_rows([0] * self._rows + [1] * len(self._sizes))
        for k, size in enumerate(self._sizes.tolist()):
            alone = np.zeros(int(self._most[k]) + 1, dtype=np.int64)
            alone[1] = size
            self._add_partition(k, alone)
        self.add(np.eye(len(self._sizes), dtype=np.int64))

    def add(self, contents: IntArray) -> bool:
        """Add contents [Y, K]; return whether one was new."""
        new = np.array([row for row in contents if row.tobytes() not in self._known])
        if not len(new):
            return False
        self._known.update((row.tobytes(), row) for row in new)
        kinds = len(self._sizes)
        entries = np.zeros((len(new), kinds + self._rows), dtype=np.int64)
        entries[:, :kinds] = new
        content, kind = np.nonzero(new)
        entries[content, kinds + self._row[kind, new[content, kind]]] = 1
        self._lp.add_columns(self._pricing.values(new) / self._pricing.scale, entries)
        return True

    def prices(self) -> tuple[IntArray, int]:
        """Return prices [K, N + 1] at the optimum over all partitions, and what all tasks cost."""
        kinds, scale = len(self._sizes), self._pricing.scale
        counts = np.arange(self._row.shape[1], dtype=np.int64)
        while True:
            self._pricing.token.check()
            duals = on_grid(self._lp.duals(), scale, self._pricing.most)
            prices = duals[:kinds, None] * counts + duals[kinds:][self._row]
            prices = np.clip(prices, -self._pricing.most, self._pricing.most)
            prices[:, 0] = 0
            bounds = duals[kinds + self._rows :] + duals[:kinds] * self._sizes
            total, new = 0, False
            for k, size in enumerate(self._sizes.tolist()):
                cost, times = dearest_partition(prices[k, : int(self._most[k]) + 1], size)
                total += cost
                if cost > int(bounds[k]) + (scale >> TOLERANCE_BITS):
                    new |= self._add_partition(k, times)
            if not new:
                return prices, total

    def contents(self) -> IntArray:
        """Return [Y, K] the contents added."""
        return np.array(list(self._known.values()))

    def _add_partition(self, k: int, times: IntArray) -> bool:
        """Add kind k's partition with `times[n]` parts of n tasks; return whether it was new."""
        if (k, times.tobytes()) in self._partitions:
            return False
        self._partitions.add((k, times.tobytes()))
        kinds = len(self._sizes)
        entries = np.zeros((1, 2 * kinds + self._rows), dtype=np.int64)
        for n in np.flatnonzero(times).tolist():
            entries[0, kinds + self._row[k, n]] -= times[n]
        entries[0, kinds + self._rows + k] = 1
        self._lp.add_columns(np.zeros(1), entries)
        return True


def _rows_of_counts(most: IntArray) -> tuple[IntArray, int]:
    """Return [K, N + 1] the row of each count of each kind, and the number of rows."""
    rows = np.zeros((len(most), int(most.max()) + 1), dtype=np.int64)
    number = 0
    for k, largest in enumerate(most.tolist()):
        first = 1
        while first <= largest:
            end = first if first <= EXACT_COUNTS else int(first * GROWTH)
            rows[k, first : end + 1] = number
            number, first = number + 1, end + 1
    return rows, number
