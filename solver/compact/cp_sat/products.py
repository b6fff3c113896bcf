"""Products of counts in CP-SAT's model.

A product is order-encoded: with ``u = sum_i b_i`` (b_i = "u is at least i"), ``u * v = sum_i z_i``
where ``z_i <= v`` and ``z_i = 0`` unless b_i. Only upper bounds on z are needed, for savings are
maximised. Flows that share a class share its product: ``u * (w_1 v_1 + w_2 v_2 + ...)``. Their
weights are divided by their gcd. (To split large weights into digits, each with a product of its
own, is exact too, and keeps coefficients small; searches took up to 10,000 times as long.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from ortools.sat.python import cp_model

from slotwise.solver.compact.cp_sat.builder import Count, CpBuilder
from slotwise.solver.compact.network import NetworkPlace, Product


def products(builder: CpBuilder) -> Product[Count]:
    """Return how the compact model has products of counts."""

    def of(place: NetworkPlace[Count], center: int, leaves: Mapping[int, int]) -> Count:
        builder.token.check()
        return product(builder.model, place.counts, center, leaves)

    return of


def product(
    model: cp_model.CpModel,
    place: Mapping[int, tuple[Count, int]],
    center: int,
    leaves: Mapping[int, int],
) -> Count:
    """Return center * (weighted leaves) in a place, as a sum that is never more than that.

    Parameters
    ----------
    model
        Where to state it.
    place
        Group -> (count there, its upper bound).
    center, leaves
        A group, and group -> weight; those that are not in the place count 0.
    """
    if center not in place:
        return 0
    there = [(weight, *place[leaf]) for leaf, weight in leaves.items() if leaf in place]
    if not there:
        return 0
    u, most_u = place[center]
    steps = [model.new_bool_var("") for _ in range(most_u)]
    model.add(sum(steps) == u)
    for lower, higher in pairwise(steps):
        model.add_implication(higher, lower)
    common = math.gcd(*(weight for weight, _, _ in there))
    v = sum(weight // common * count for weight, count, _ in there)
    most_v = sum(weight // common * most for weight, _, most in there)
    total: Count = 0
    for step in steps:
        z = model.new_int_var(0, most_v, "")
        model.add(z <= v)
        model.add(z <= most_v * step)
        total += z
    return common * total
