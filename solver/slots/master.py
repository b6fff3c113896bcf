"""The restricted master: the LP over the contents found so far, solved by HiGHS.

    min sum_k n_k   s.t.   sum_k x_ki n_k >= w_i for each task i,   count rows,   n >= 0

x_ki is the rate of task i in contents k. Column generation ends when no slot is worth more than 1
at the dual values. Its value is not believed: with V at least the worth of any slot at prices
(y, pi), and pi of the sign of its row, (y w + pi r) / V is a lower bound, in fractions (`Bound`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.column_generation.restricted_master import RestrictedMaster
from slotwise.solver.slots.packing import NONE, Contents, CountRow, Prices
from slotwise.solver.slots.pricing import Pricing
from slotwise.solver.slots.problem import SlotProblem

TOO_MANY = 1000.0
"""Cost of a slot that counts for a row and does nothing else."""
NODES_A_ROUND = 40
MOST_COLUMNS_A_ROUND = 6


@dataclass(frozen=True, slots=True)
class Bound:
    """A lower bound: prices, and `upper` at least the worth of any slot at them, above 0."""

    prices: Prices
    upper: Fraction

    def at(self, problem: SlotProblem) -> Fraction:
        """Return the bound on the slots of a problem with the same options, whatever its rates."""
        return max(Fraction(0), self.prices.worth(problem)) / self.upper


@dataclass(frozen=True, slots=True)
class Relaxed:
    """An LP solution: how often each contents is used, and the bound; `done` if converged."""

    used: tuple[tuple[Contents, float], ...]
    bound: Fraction
    proof: Bound
    done: bool


class Master:
    """Column generation for one problem; keeps its columns from one set of rows to the next."""

    def __init__(self, problem: SlotProblem) -> None:
        self._problem = problem
        self._pricing = Pricing(problem)
        self.columns: dict[Contents, list[float]] = {}
        for contents in _single_bundles(problem):
            self.add(contents)

    def add(self, contents: Contents) -> bool:
        """Add a column; return whether it is new."""
        if contents in self.columns:
            return False
        self.columns[contents] = contents.rates(self._problem)
        return True

    def solve(
        self,
        problem: SlotProblem,
        rows: Sequence[CountRow] = (),
        *,
        token: CancellationToken,
        enough: int | None = None,
    ) -> Relaxed:
        """Generate columns for the rates of `problem`, which has the options of this master.

        Ends early once the bound, rounded up, is `enough`, or where `token` is cancelled.
        """
        best: tuple[Fraction, Bound] | None = None
        lp = _SlotLp(problem, tuple(rows), self.columns)
        while True:
            used, prices = lp.solve()
            priced = self._pricing.best(prices, token=token, most_nodes=NODES_A_ROUND)
            proof = Bound(prices, max(priced.upper, Fraction(1, 10**6)))
            bound = proof.at(problem)
            if best is None or bound > best[0]:
                best = bound, proof
            new = [one for one in priced.columns[:MOST_COLUMNS_A_ROUND] if self.add(one)]
            enough_is_proven = enough is not None and best[0] > enough - 1
            if not new or enough_is_proven or token.is_cancelled:
                return Relaxed(used, *best, not new)
            lp.add({one: self.columns[one] for one in new})


class _SlotLp:
    """The LP of one problem and its rows, over columns that are added.

    Every row is an upper limit: what is wanted at least is negated. Demands are scaled by their
    rate, so that tasks of very different rates are alike.
    """

    def __init__(
        self,
        problem: SlotProblem,
        rows: tuple[CountRow, ...],
        columns: Mapping[Contents, list[float]],
    ) -> None:
        self._rates = tuple(task.rate for task in problem.tasks)
        self._rows = rows
        self._signs = np.array([-1 if row.at_least else 1 for row in rows])
        self._spares, self._columns = len(rows), list[Contents]()
        self._lp = RestrictedMaster()
        limits = [-row.count if row.at_least else row.count for row in rows]
        self._lp.add_rows([*(-1 for _ in self._rates), *limits], limit=True)
        spare = np.hstack((np.zeros((len(rows), len(self._rates))), -np.eye(len(rows))))
        self._lp.add_columns(np.full(len(rows), TOO_MANY), spare)
        self.add(columns)

    def add(self, columns: Mapping[Contents, list[float]]) -> None:
        """Add columns, each with its rates."""
        rates = np.array(list(columns.values())) / np.array([float(rate) for rate in self._rates])
        counted = [[row.holds(one.options) for row in self._rows] for one in columns]
        counts = np.array(counted, dtype=float).reshape(len(columns), len(self._rows))
        self._lp.add_columns(np.ones(len(columns)), np.hstack((-rates, counts * self._signs)))
        self._columns += columns

    def solve(self) -> tuple[tuple[tuple[Contents, float], ...], Prices]:
        """Return how often each contents is used, and the dual values."""
        duals = [Fraction(-dual) for dual in self._lp.duals().tolist()]
        count = len(self._rates)
        rates = tuple(
            max(Fraction(0), dual) / rate
            for dual, rate in zip(duals[:count], self._rates, strict=True)
        )
        worths = tuple(
            max(Fraction(0), dual) if row.at_least else -max(Fraction(0), dual)
            for dual, row in zip(duals[count:], self._rows, strict=True)
        )
        values = self._lp.solution()[self._spares :].tolist()
        used = zip(self._columns, values, strict=True)
        return tuple(pair for pair in used if pair[1] > 1e-9), Prices(rates, self._rows, worths)


def _single_bundles(problem: SlotProblem) -> list[Contents]:
    """One option of each task alone in a slot, the one that carries most: a first solution."""
    contents = []
    for i, task in enumerate(problem.tasks):
        rates = [option.most_rate(scaled=problem.scaled) for option in task.options]
        best = rates.index(max(rates))
        part = float(rates[best] / task.options[best].peak)
        count = len(problem.tasks)
        options = tuple(best if j == i else NONE for j in range(count))
        contents.append(Contents(options, tuple(part if j == i else 0.0 for j in range(count))))
    return contents
