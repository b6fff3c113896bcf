"""Reduced-cost fixing: which tasks a node can hold in a placement as good as the incumbent.

With the rule that each task is on one node relaxed, any duals pi of it give a Lagrangian bound

    pi 1 + sum over nodes k of min over S of (c_k(S) - pi(S)),    S any set of tasks that fits k,

and the reduced cost of S on k is ``c_k(S) - pi(S)`` less the least such number of the node, 0 or
more. Every placement costs the bound and its reduced costs; so sets whose reduced cost exceeds
incumbent - bound are in nothing as good (docs/design.md, 8.5). The duals come from a subgradient
search; all numbers are whole, so the bound is exact whatever they are.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.problem.problem import IntArray

ROUNDS = 250
PATIENCE = 12
"""Rounds without a better bound before steps are halved."""
SCALE_TO = 2**44
"""Costs are scaled to about this, so that whole duals are fine enough."""

ROUNDS_TO_FIX = 20
"""Rounds after which sets beyond the gap are dropped."""
TABLE_BITS = 12
"""Tasks whose sums of duals are looked up at once."""

NodeSubsets = dict[int, tuple[IntArray, IntArray]]
"""Node -> sets of tasks that fit it, as bit masks, and their costs there."""


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """The sets of tasks of each node that placements as good as the incumbent can have.

    Every such placement costs ``(bound + the losses of its sets) / scale``.

    Parameters
    ----------
    sets, costs, losses
        Per node: bit masks, their costs, and their scaled reduced costs, 0 or more.
    scale
        Bound and losses are that many times the true costs.
    bound
        Scaled Lagrangian bound.
    gap
        Scaled incumbent less the bound; below 0 there is no placement as good.
    """

    sets: dict[int, IntArray]
    costs: dict[int, IntArray]
    losses: dict[int, IntArray]
    scale: int
    bound: int
    gap: int

    @property
    def least_cost(self) -> int:
        """The bound in steps of the costs, rounded up."""
        return -(-self.bound // self.scale)


def fix_by_reduced_cost(
    subsets: NodeSubsets, tasks: int, incumbent: int, token: CancellationToken
) -> tuple[NodeSubsets, int]:
    """Return the sets in placements of at most the cost `incumbent`, and a lower bound."""
    priced = price(subsets, tasks, incumbent, token)
    return {k: (priced.sets[k], priced.costs[k]) for k in priced.sets}, priced.least_cost


def price(subsets: NodeSubsets, tasks: int, incumbent: int, token: CancellationToken) -> Priced:
    """Search good duals, and price the sets in placements of at most the cost `incumbent`."""
    greatest = max([abs(incumbent), *(int(abs(c).max()) for _, c in subsets.values() if len(c))])
    scale = max(1, SCALE_TO // max(1, greatest))
    scaled = {k: (sets, costs * scale) for k, (sets, costs) in subsets.items()}
    scaled, duals, bound = _search_duals(scaled, tasks, incumbent * scale, token)
    gap = incumbent * scale - bound
    near = _near(scaled, duals, max(0, gap))
    return Priced(
        sets={k: sets for k, (sets, _) in near.items()},
        costs={k: costs // scale for k, (_, costs) in near.items()},
        losses={k: _losses(sets, costs, duals) for k, (sets, costs) in near.items()},
        scale=scale,
        bound=bound,
        gap=gap,
    )


def _losses(sets: IntArray, costs: IntArray, duals: IntArray) -> IntArray:
    value = costs - _dual_of(sets, duals)
    return np.asarray(value - value.min())


def _near(subsets: NodeSubsets, duals: IntArray, gap: int) -> NodeSubsets:
    """Return the sets whose reduced cost is at most `gap`."""
    near: NodeSubsets = {}
    for node, (sets, costs) in subsets.items():
        is_near = _losses(sets, costs, duals) <= gap
        near[node] = (sets[is_near], costs[is_near])
    return near


def _dual_of(sets: IntArray, duals: IntArray) -> IntArray:
    """Return the sum of the duals of each set of tasks, by tables of `TABLE_BITS` tasks each."""
    from slotwise.solver.assignment.subset_kernels import subset_sums

    total = np.zeros(len(sets), dtype=np.int64)
    for low in range(0, len(duals), TABLE_BITS):
        sums = np.asarray(subset_sums(duals[low : low + TABLE_BITS]))
        total += sums[sets >> low & len(sums) - 1]
    return total


def _search_duals(
    subsets: NodeSubsets, tasks: int, target: int, token: CancellationToken
) -> tuple[NodeSubsets, IntArray, int]:
    """Return the sets that matter, the best duals found and their bound on the cost.

    Whatever is dropped is in no placement as good as `target`, so the bound holds up to it. When
    the token is cancelled the search ends with what it has; before the first bound it raises.
    """
    duals = np.full(tasks, target // max(1, tasks), dtype=np.int64)
    best, bound = duals, _bound(subsets, duals, token)[0]
    step, waited = 1.0, 0
    with suppress(CancelledError):  # the best bound so far stands
        for turn in range(ROUNDS):
            if turn % ROUNDS_TO_FIX == 0 and bound <= target:
                subsets = _near(subsets, best, target - bound)
            value, missing = _bound(subsets, duals, token)
            if value > bound:
                best, bound, waited = duals, value, 0
            else:
                waited += 1
            if waited >= PATIENCE:
                step, waited, duals = step / 2, 0, best
                value, missing = _bound(subsets, duals, token)
            length = int((missing**2).sum())
            if not length or bound >= target:
                break
            move = step * max(target - value, 1) / length * missing
            duals = duals + np.rint(move).astype(np.int64)
    return subsets, best, bound


def _bound(subsets: NodeSubsets, duals: IntArray, token: CancellationToken) -> tuple[int, IntArray]:
    """Return the bound of these duals and a subgradient: how often each task is missing there."""
    bound = int(duals.sum())
    missing = np.ones(len(duals), dtype=np.int64)
    for sets, costs in subsets.values():
        token.check()
        value = costs - _dual_of(sets, duals)
        index = int(value.argmin())
        bound += int(value[index])
        missing -= sets[index] >> np.arange(len(duals)) & 1
    return bound, missing
