"""The cheapest repair of tiny instances beside brute force over the same space of repairs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from explained import check_explanation, exists

from slotwise.models.instance.instance import Instance
from slotwise.solver.explain.change import apply_change
from slotwise.solver.explain.constraint import constraints_of
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.levers import Lever, levers
from slotwise.solver.explain.prices import RepairPrices, price_of
from slotwise.testing.random_instances.tiny import tiny_instance

PRICES = RepairPrices()
MOST_STEPS = 150
"""A lever with more steps is not walked through."""


def infeasible_tiny(seed: int, count: int) -> Iterator[Instance]:
    """Yield `count` tiny instances without placement, by exhaustive search."""
    rng = np.random.default_rng(seed)
    while count:
        one = tiny_instance(rng, most_tasks=4, most_nodes=3)
        if not exists(one):
            count -= 1
            yield one


def walked(instance: Instance, lever: Lever) -> Fraction | None:
    """Return the price of the least change that helps, by trying one step after another."""
    for steps in range(1, lever.most + 1):
        change = lever.change(steps)
        if exists(apply_change(instance, change)):
            return Fraction(price_of(change, instance, PRICES))
    return None


def compare(instances: Iterator[Instance]) -> int:
    """Assert that no change is cheaper than the cheapest repair; return how many were compared."""
    compared = 0
    for instance in instances:
        every = levers(instance, constraints_of(instance))
        if any(lever.most > MOST_STEPS for lever in every):
            continue
        prices = [price for lever in every if (price := walked(instance, lever)) is not None]
        found = explain_infeasible(instance)
        check_explanation(instance, found)
        single = [one for one in found.repairs if len(one.changes) == 1]
        if prices:
            compared += 1
            assert min(prices) == single[0].price
        else:
            assert all(len(one.changes[0].topologies) > 1 for one in single), "a set is evicted"
    return compared


def test_the_cheapest_is_what_brute_force_finds() -> None:
    assert compare(infeasible_tiny(4, 6)) >= 2


@pytest.mark.deep
def test_the_cheapest_is_what_brute_force_finds_on_more() -> None:
    assert compare(infeasible_tiny(5, 300)) >= 60
