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

import math

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.connected.content_pricing import (
    ContentPricing,
    shrunk,
)
from slotwise.solver.column_generation.connected.joint_duals import JointDuals
from slotwise.solver.column_generation.connected.partitions import CountRow, Partitions
from slotwise.solver.column_generation.connected.worker_bounds import TOLERANCE_BITS
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import (
    FloatArray,
    RestrictedMaster,
    on_grid,
)

FIRST_STEP, SHORTEST_STEP = 0.5, 0.002
"""Part of the way from proven prices to those of the master: at first, and at least."""

TAIL = 0.05
"""Part of the way to what is enough that is not worth more columns."""

COLUMNS_A_ROUND = 60
EXACT_COUNTS, GROWTH = 128, 1.05
"""Counts up to here have rows of their own; beyond, a row holds counts up to this factor apart."""


def find_count_prices(
    pricing: ContentPricing, start: JointDuals, deadline: float, params: ConnectedParams
) -> JointDuals:
    """Return the prices [K, N + 1] of the least bound found until the deadline, from proven duals.

    The bound is at most theirs.
    """
    master = CountMaster(pricing, pricing.partitions)
    master.add(shrunk(pricing.graphs[0], start.columns))
    return JointDuals(
        lower_prices(master, pricing.prices(start.pi), deadline, params), master.contents()
    )


def lower_prices(
    master: CountMaster,
    proven: IntArray,
    deadline: float,
    params: ConnectedParams,
    enough: int | None = None,
) -> IntArray:
    """Return the prices of the least bound found until the deadline, from proven ones.

    Prices between proven ones and those of the master are asked for (in-out, Ben-Ameur and Neto,
    2007): if no content violates them they are proven, otherwise the violated ones are columns.
    Where too many contents violate them the step is halved. With a bound of at most `enough`, on
    the grid of the pricing, it ends; it also ends when most of the way to it is known to be barred.
    """
    pricing, partitions, step = master.pricing, master.partitions, FIRST_STEP
    least = partitions.total(proven)
    while pricing.token.now() < deadline and step >= SHORTEST_STEP:
        target, optimum = master.prices(deadline)
        if pricing.token.now() > deadline:
            break
        if least // pricing.scale <= optimum // pricing.scale:
            break  # no better bound is left
        if enough is not None and (least <= enough or (least - optimum) < TAIL * (least - enough)):
            break
        trial = np.ceil((1 - step) * proven + step * target).astype(np.int64)
        least_violated = -1 - (1 << TOLERANCE_BITS)
        barred = partitions.barring(trial, 2 * pricing.most)
        if master.add(pricing.traced(barred, least_violated)):
            continue
        try:
            violated = pricing.below(barred, least_violated, params.max_candidates, deadline)
        except TooLongError:
            step /= 2
            continue
        violated = violated[partitions.admits(violated)]
        if len(violated):
            if not master.add(violated[:COLUMNS_A_ROUND]):
                break
            continue
        lifted = trial + (np.arange(trial.shape[1]) << TOLERANCE_BITS)
        total = partitions.total(lifted)
        if total >= least:
            break
        proven, least, step = lifted, total, min(1.0, 1.5 * step)
    return proven


class CountMaster:
    """The restricted master over contents of places and partitions of kinds.

    Parameters
    ----------
    pricing
        Values contents and finds more.
    partitions
        Those that count; every kind must have one.
    """

    def __init__(self, pricing: ContentPricing, partitions: Partitions) -> None:
        self.pricing = pricing
        self.partitions = partitions
        self._sizes, self._most = pricing.graphs[0].sizes, pricing.graphs[0].most
        self._row, self._rows = _rows_of_counts(self._most)
        self._known: dict[bytes, IntArray] = {}
        self._partitions: dict[tuple[int, bytes], IntArray] = {}
        self._columns: list[IntArray] = []
        self._lp = RestrictedMaster(maximize=True)
        self._lp.add_rows(self._sizes.tolist())
        self._lp.add_rows([0] * self._rows + [1] * len(self._sizes))
        few_parts = -np.ones_like(self._row)
        for k in range(len(self._sizes)):
            found = partitions.dearest(few_parts, k)
            assert found is not None, "every kind has a partition"
            self.add_partition(k, found[1])
            parts = np.flatnonzero(found[1])
            if partitions.barred is not None:
                # Contents of one kind keep the prices of counts that no other content has above 0.
                parts = np.union1d(parts, np.unique(self._row[k, 1:], return_index=True)[1] + 1)
                parts = parts[parts <= self._most[k]]
            self.add(parts[:, None] * (np.arange(len(self._sizes)) == k))

    def add(self, contents: IntArray) -> bool:
        """Add contents [Y, K] of counts that partitions may have; return whether one was new."""
        contents = contents[self.partitions.admits(contents)]
        new = np.array([row for row in contents if row.tobytes() not in self._known])
        if not len(new):
            return False
        self._known.update((row.tobytes(), row) for row in new)
        kinds = len(self._sizes)
        entries = np.zeros((len(new), kinds + self._rows), dtype=np.int64)
        entries[:, :kinds] = new
        content, kind = np.nonzero(new)
        entries[content, kinds + self._row[kind, new[content, kind]]] = 1
        self._lp.add_columns(self.pricing.values(new) / self.pricing.scale, entries)
        self._columns += [*new]
        return True

    def prices(self, deadline: float = math.inf) -> tuple[IntArray, int]:
        """Return prices [K, N + 1] at the optimum over all partitions, and what all tasks cost.

        After the deadline they are those over the partitions known by then.
        """
        kinds, scale, most = len(self._sizes), self.pricing.scale, self.pricing.most
        counts = np.arange(self._row.shape[1], dtype=np.int64)
        while True:
            self.pricing.token.check()
            duals = self._lp.duals()  # only sums of both rows of a count are bounded
            of_counts = duals[:kinds, None] * counts + duals[kinds:][self._row]
            prices = on_grid(of_counts, scale, most)
            prices[:, 0] = 0
            bounds = on_grid(duals[kinds + self._rows :] + duals[:kinds] * self._sizes, scale, most)
            total, new = 0, False
            for k in range(kinds):
                found = self.partitions.dearest(prices, k)
                assert found is not None, "every kind has a partition"
                total += found[0]
                if found[0] > int(bounds[k]) + (scale >> TOLERANCE_BITS):
                    new |= self.add_partition(k, found[1])
            if not new or self.pricing.token.now() > deadline:
                return prices, total

    def contents(self) -> IntArray:
        """Return [Y, K] the contents added."""
        return np.array(list(self._known.values()))

    def known_partitions(self) -> list[tuple[int, IntArray]]:
        """Return the partitions added: kind, and [N_k + 1] how often each count occurs."""
        return [(k, times) for (k, _), times in self._partitions.items()]

    def add_partition(self, k: int, times: IntArray) -> bool:
        """Add kind k's partition with `times[n]` parts of n tasks; return whether it was new."""
        if (k, times.tobytes()) in self._partitions:
            return False
        self._partitions[k, times.tobytes()] = times
        kinds = len(self._sizes)
        entries = np.zeros((1, 2 * kinds + self._rows), dtype=np.int64)
        for n in np.flatnonzero(times).tolist():
            entries[0, kinds + self._row[k, n]] -= times[n]
        entries[0, kinds + self._rows + k] = 1
        self._lp.add_columns(np.zeros(1), entries)
        self._columns.append(np.zeros(kinds, dtype=np.int64))
        return True

    def places(self) -> FloatArray:
        """Return [K, N + 1] how many places hold at least 0, ..., N tasks, in the optimum."""
        used, contents = self._lp.solution(), np.array(self._columns)
        places = np.zeros(self._row.shape)
        for k, counts in enumerate(contents.T):
            np.add.at(places[k], counts, used)
        places[:, 0] = 0
        return np.asarray(places[:, ::-1].cumsum(axis=1)[:, ::-1])

    def value_with(self, row: CountRow) -> float:
        """Return the optimum over all columns where contents keep one more row."""
        held = np.array(self._columns)[:, row.kind] >= row.count
        most = math.inf if row.most == NO_LIMIT else float(row.most)
        return self._lp.value_with(held.astype(np.int64), float(row.least), most)


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
