"""Which node contents can be in a placement as good as the incumbent (docs/design.md, 8.5).

With a price p_i per task, a content T of node k loses

    l_k(T) = c_k(T) - p(T) - min over T' of (c_k(T') - p(T')) >= 0,

and every placement costs ``sum of p + sum over k of min + all its losses``. So contents that lose
more than the incumbent is above the first two sums are in nothing as good. The prices come from a
subgradient search; whatever they are, the sums are whole numbers and exact.
"""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import IntArray

ROUNDS = 250
PATIENCE = 12
"""Rounds without a better bound before steps are halved."""
SCALE_TO = 2**44
"""Costs are scaled to about this, so that whole prices are fine enough."""

Contents = dict[int, tuple[IntArray, IntArray]]
"""Node -> sets of tasks that fit it, and their costs there."""


def narrow(contents: Contents, tasks: int, incumbent: int) -> tuple[Contents, int]:
    """Return the contents of placements of at most the cost `incumbent`, and a lower bound."""
    greatest = max([abs(incumbent), *(int(abs(c).max()) for _, c in contents.values() if len(c))])
    scale = max(1, SCALE_TO // max(1, greatest))
    scaled = {k: (sets, costs * scale) for k, (sets, costs) in contents.items()}
    prices, bound = _search_prices(scaled, tasks, incumbent * scale)
    slack = incumbent * scale - bound
    kept: Contents = {}
    of_set = _sums(prices)
    for node, (sets, costs) in scaled.items():
        value = costs - of_set[sets]
        near = value - value.min() <= slack
        kept[node] = (sets[near], contents[node][1][near])
    return kept, -(-bound // scale)


def _sums(prices: IntArray) -> IntArray:
    from slotwise.solver.assignment.subset_kernels import subset_sums

    return np.asarray(subset_sums(prices))


def _search_prices(contents: Contents, tasks: int, target: int) -> tuple[IntArray, int]:
    """Return the best prices found and their bound."""
    prices = np.full(tasks, target // max(1, tasks), dtype=np.int64)
    best, bound = prices, _bound(contents, prices)[0]
    step, waited = 1.0, 0
    for _ in range(ROUNDS):
        value, missing = _bound(contents, prices)
        if value > bound:
            best, bound, waited = prices, value, 0
        else:
            waited += 1
        if waited >= PATIENCE:
            step, waited, prices = step / 2, 0, best
            value, missing = _bound(contents, prices)
        length = int((missing**2).sum())
        if not length or bound >= target:
            break
        move = step * max(target - value, 1) / length * missing
        prices = prices + np.rint(move).astype(np.int64)
    return best, bound


def _bound(contents: Contents, prices: IntArray) -> tuple[int, IntArray]:
    """Return the bound that the prices prove, and how often each task is missing in its optimum."""
    of_set = _sums(prices)
    bound = int(prices.sum())
    missing = np.ones(len(prices), dtype=np.int64)
    for sets, costs in contents.values():
        value = costs - of_set[sets]
        index = int(value.argmin())
        bound += int(value[index])
        missing -= sets[index] >> np.arange(len(prices)) & 1
    return bound, missing
