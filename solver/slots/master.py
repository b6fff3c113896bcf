"""The restricted master: the LP over the contents found so far, in PuLP, solved by HiGHS.

    min sum_k n_k   s.t.   sum_k x_ki n_k >= w_i for each task i,   count rows,   n >= 0

x_ki is the rate of task i in contents k. Column generation ends when no slot is worth more than 1
at the dual values. Its value is not believed: with V at least the worth of any slot at prices
(y, pi), and pi of the sign of its row, (y w + pi r) / V is a lower bound, in fractions (`Bound`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pulp

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.contents import NONE, Contents, CountRow, Prices
from slotwise.solver.slots.pricing import Pricing
from slotwise.solver.slots.problem import WHOLE_SLOT, SlotProblem

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
        while True:
            used, prices = self._solve_lp(problem, tuple(rows))
            priced = self._pricing.best(prices, token=token, most_nodes=NODES_A_ROUND)
            proof = Bound(prices, max(priced.upper, Fraction(1, 10**6)))
            bound = proof.at(problem)
            if best is None or bound > best[0]:
                best = bound, proof
            added = [self.add(one) for one in priced.columns[:MOST_COLUMNS_A_ROUND]]
            done = not any(added)
            if done or (enough is not None and best[0] > enough - 1) or (
                token.is_cancelled
            ):  # fmt: skip
                return Relaxed(used, *best, done)

    def _solve_lp(
        self, problem: SlotProblem, rows: tuple[CountRow, ...]
    ) -> tuple[tuple[tuple[Contents, float], ...], Prices]:
        lp = pulp.LpProblem("slots", pulp.LpMinimize)
        columns = list(self.columns.items())
        counts = [lp.add_variable(f"n{k}", 0) for k in range(len(columns))]
        spare = [lp.add_variable(f"s{k}", 0) for k in range(len(rows))]
        lp.setObjective(pulp.lpSum(counts) + TOO_MANY * pulp.lpSum(spare))
        demands = []
        for i, task in enumerate(problem.tasks):
            # Scaled by the demand, so that tasks of very different rates are alike.
            want = float(task.rate)
            terms = [(n, x[i] / want) for n, (_, x) in zip(counts, columns, strict=True) if x[i]]
            demands.append(pulp.LpAffineExpression(terms) >= 1)
            lp.addConstraint(demands[-1], f"w{i}")
        ties = []
        for extra, row in zip(spare, rows, strict=True):
            held = pulp.lpSum(
                n for n, (one, _) in zip(counts, columns, strict=True) if row.holds(one.options)
            )
            tie = held + extra >= row.count if row.at_least else held - extra <= row.count
            ties.append(tie)
            lp.addConstraint(tie, f"r{len(ties)}")
        lp.solve(pulp.HiGHS(msg=False, threads=1))
        rates = tuple(
            max(Fraction(0), Fraction(one.pi or 0.0)) / task.rate
            for one, task in zip(demands, problem.tasks, strict=True)
        )
        duals = tuple(
            _signed(row, Fraction(one.pi or 0.0)) for row, one in zip(rows, ties, strict=True)
        )
        used = tuple(
            (one, float(n.value()))
            for n, (one, _) in zip(counts, columns, strict=True)
            if n.value() and n.value() > 1e-9
        )
        return used, Prices(rates, rows, duals)


def _signed(row: CountRow, dual: Fraction) -> Fraction:
    """Return a dual value of the sign that makes a bound."""
    return max(Fraction(0), dual) if row.at_least else min(Fraction(0), dual)


def _single_bundles(problem: SlotProblem) -> list[Contents]:
    """One option of each task alone in a slot, the one that carries most: a first solution."""
    found = []
    for i, task in enumerate(problem.tasks):
        carried = []
        for k, option in enumerate(task.options):
            load = Fraction(1)
            if problem.scaled:
                load /= max(Fraction(1), option.cpu / WHOLE_SLOT, option.memory / WHOLE_SLOT)
            carried.append((load * option.peak, -k, float(load)))
        _, k, part = max(carried)
        count = len(problem.tasks)
        options = tuple(-k if j == i else NONE for j in range(count))
        found.append(Contents(options, tuple(part if j == i else 0.0 for j in range(count))))
    return found
