"""Reduced-cost fixing: which tasks a node can hold in a placement as good as the incumbent.

With the rule that each task is on one node relaxed, any duals pi of it give a Lagrangian bound

    pi 1 + sum over nodes k of min over S of (c_k(S) - pi(S)),    S any set of tasks that fits k,

and the reduced cost of S on k is ``c_k(S) - pi(S)`` less the least such number of the node, 0 or
more. Every placement costs the bound and its reduced costs; so sets whose reduced cost exceeds
incumbent - bound are in nothing as good (docs/design.md, 8.5). The duals come from a subgradient
search; all numbers are whole, so the bound is exact whatever they are.
"""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import IntArray

ROUNDS = 250
PATIENCE = 12
"""Rounds without a better bound before steps are halved."""
SCALE_TO = 2**44
"""Costs are scaled to about this, so that whole duals are fine enough."""

NodeSubsets = dict[int, tuple[IntArray, IntArray]]
"""Node -> sets of tasks that fit it, as bit masks, and their costs there."""


def fix_by_reduced_cost(
    subsets: NodeSubsets, tasks: int, incumbent: int
) -> tuple[NodeSubsets, int]:
    """Return the sets in placements of at most the cost `incumbent`, and a lower bound."""
    greatest = max([abs(incumbent), *(int(abs(c).max()) for _, c in subsets.values() if len(c))])
    scale = max(1, SCALE_TO // max(1, greatest))
    scaled = {k: (sets, costs * scale) for k, (sets, costs) in subsets.items()}
    duals, bound = _search_duals(scaled, tasks, incumbent * scale)
    gap = incumbent * scale - bound
    kept: NodeSubsets = {}
    dual_of_set = _sums(duals)
    for node, (sets, costs) in scaled.items():
        value = costs - dual_of_set[sets]
        near = value - value.min() <= gap
        kept[node] = (sets[near], subsets[node][1][near])
    return kept, -(-bound // scale)


def _sums(duals: IntArray) -> IntArray:
    from slotwise.solver.assignment.subset_kernels import subset_sums

    return np.asarray(subset_sums(duals))


def _search_duals(subsets: NodeSubsets, tasks: int, target: int) -> tuple[IntArray, int]:
    """Return the best duals found and their bound."""
    duals = np.full(tasks, target // max(1, tasks), dtype=np.int64)
    best, bound = duals, _bound(subsets, duals)[0]
    step, waited = 1.0, 0
    for _ in range(ROUNDS):
        value, missing = _bound(subsets, duals)
        if value > bound:
            best, bound, waited = duals, value, 0
        else:
            waited += 1
        if waited >= PATIENCE:
            step, waited, duals = step / 2, 0, best
            value, missing = _bound(subsets, duals)
        length = int((missing**2).sum())
        if not length or bound >= target:
            break
        move = step * max(target - value, 1) / length * missing
        duals = duals + np.rint(move).astype(np.int64)
    return best, bound


def _bound(subsets: NodeSubsets, duals: IntArray) -> tuple[int, IntArray]:
    """Return the bound of these duals and a subgradient: how often each task is missing there."""
    dual_of_set = _sums(duals)
    bound = int(duals.sum())
    missing = np.ones(len(duals), dtype=np.int64)
    for sets, costs in subsets.values():
        value = costs - dual_of_set[sets]
        index = int(value.argmin())
        bound += int(value[index])
        missing -= sets[index] >> np.arange(len(duals)) & 1
    return bound, missing
