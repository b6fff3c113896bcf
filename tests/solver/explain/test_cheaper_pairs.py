"""A pair of changes that is cheaper than every single one, beside trying every pair of amounts."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from explained import check_explanation, exists

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology
from slotwise.solver.explain.change import ADD_NODES, Change, apply_change
from slotwise.solver.explain.constraint import constraints_of
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.prices import RepairPrices, price_of
from slotwise.solver.explain.repairs.levers import Lever, levers


def one_task(name: str, cpu: int) -> Topology:
    """Return a topology of one task."""
    return Topology(name, (Component("a", "spout", 1, {"cpu": Decimal(cpu)}),))


def test_a_slot_and_some_cpu_are_cheaper_than_a_node() -> None:
    node = Node("n1", "r1", slots=1, resources={"cpu": Decimal(100)})
    asked = Instance("slot", Cluster((node,)), (one_task("big", 80), one_task("small", 30)))
    found = explain_infeasible(asked)
    check_explanation(asked, found)
    assert {change.text for change in found.repairs[0].changes} == {
        "give node n1 1 more slot, from 1 to 2",
        "raise cpu of node n1 by 10, from 100 to 110",
    }
    assert found.repairs[0].price == Fraction(85, 100)


def few(seed: int, count: int) -> Iterator[Instance]:
    """Yield `count` tiny instances without placement whose amounts are few."""
    rng = np.random.default_rng(seed)
    while count:
        nodes = tuple(
            Node(
                f"n{n}", "r1", slots=int(rng.integers(1, 3)),
                resources={"cpu": Decimal(int(rng.integers(1, 4))), "gpu": Decimal(1)},
            )
            for n in range(int(rng.integers(1, 3)))
        )  # fmt: skip
        topologies = tuple(
            Topology(
                f"t{t}",
                (
                    Component(
                        "a", "spout", int(rng.integers(1, 3)),
                        {"cpu": Decimal(int(rng.integers(1, 4))),
                         "gpu": Decimal(int(rng.integers(0, 2)))},
                    ),
                ),
            )
            for t in range(int(rng.integers(1, 4)))
        )  # fmt: skip
        asked = Instance("few", Cluster(nodes), topologies)
        if not exists(asked):
            count -= 1
            yield asked


PRICES = RepairPrices()


def price(asked: Instance, changes: tuple[Change, ...]) -> Fraction:
    """Return the price of changes."""
    return sum((Fraction(price_of(one, asked, PRICES)) for one in changes), Fraction(0))


def cheaper_by_force(asked: Instance, below: Fraction) -> Fraction | None:
    """Return the price of the cheapest pair below a price, by trying all, cheapest first."""

    def steps(lever: Lever) -> Iterator[Change]:
        for count in range(1, lever.most + 1):
            change = lever.change(count)
            if price(asked, (change,)) >= below:
                return
            yield change

    every = levers(asked, constraints_of(asked))
    made = [
        (price(asked, (one, other)), one, other)
        for first, second in combinations(every, 2)
        for one in steps(first)
        for other in steps(second)
    ]
    for cost, one, other in sorted(made, key=lambda row: row[0]):
        if cost >= below:
            return None
        ordered = sorted((one, other), key=lambda change: change.kind != ADD_NODES)
        changed = apply_change(apply_change(asked, ordered[0]), ordered[1])
        if exists(changed):
            return cost
    return None


def compare(seed: int, count: int) -> int:
    """Assert that no pair is cheaper than the cheapest repair; return how many pairs are."""
    pairs = 0
    for asked in few(seed, count):
        found = explain_infeasible(asked, time_limit_s=60)
        check_explanation(asked, found)
        cheapest = found.repairs[0]
        assert cheaper_by_force(asked, cheapest.price) is None, (asked, cheapest)
        pairs += len(cheapest.changes) == 2
    return pairs


def test_no_pair_is_cheaper_than_the_cheapest_repair() -> None:
    assert compare(1, 6) >= 1


@pytest.mark.deep
def test_no_pair_is_cheaper_than_the_cheapest_repair_on_more() -> None:
    assert compare(2, 150) >= 20
