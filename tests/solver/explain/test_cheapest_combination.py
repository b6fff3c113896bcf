"""The cheapest combination of changes, of any number, beside trying every combination of amounts.

More of a change never takes a placement away: so it is enough that none of the combinations below a
price has a placement to which nothing can be added below it. `exhaustive` decides each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from explained import check_explanation, exists

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place, Scheduler
from slotwise.models.instance.topology import Component, Constraints, SharedMemory, Topology
from slotwise.solver.explain.change import ADD_NODES, Change, apply_change
from slotwise.solver.explain.constraint import constraints_of
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.levers import Lever, levers
from slotwise.solver.explain.prices import RepairPrices, price_of

PRICES = RepairPrices(
    resources={"cpu": Decimal("0.5"), "memory_mb": Decimal("0.5")},
    upgrade=Decimal("0.25"),
    heap=Decimal("0.3"),
    per_node=Decimal("0.7"),
    moved=Decimal("0.6"),
    rule=Decimal("1.1"),
    task=Decimal("1.7"),
    evict=Decimal("3.1"),
)
"""So dear that few combinations cost less than a repair, and no two changes cost the same."""


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


@pytest.mark.parametrize("lost", ["zz", "n-1"])
def test_orphans_do_not_run_on_a_node_that_is_added(lost: str) -> None:
    """Whatever its name was: nodes that are added are called n-1, n-2."""
    node = Node("n", "r", slots=3, resources={"cpu": Decimal(100)})
    bolts = (Component("a", "bolt", 3, {"cpu": Decimal(50)}),)
    made = Instance(
        "lost",
        Cluster((node,)),
        (Topology("t", bolts, constraints=Constraints(max_per_node={"a": 1})),),
        running={"t": {"a[0]": Place("n", 0), "a[1]": Place(lost, 0), "a[2]": Place(lost, 0)}},
        objective=Objective(limits={"moved": 0}),
    )
    best = explain_infeasible(made).repairs[0]
    assert [change.kind for change in best.changes] == [ADD_NODES]


def test_three_changes_are_cheaper_than_any_two() -> None:
    """Each of three shortages is far cheaper to mend alone than by another node or fewer tasks."""
    node = Node("n1", "r1", slots=1, resources={"cpu": Decimal(100), "gpu": Decimal(1)})
    parts = Component("a", "spout", 1, {"cpu": Decimal(80), "gpu": Decimal(2)})
    asked = Instance("three", Cluster((node,)), (Topology("t", (parts,)), one_task("u", 30)))
    found = explain_infeasible(asked)
    check_explanation(asked, found)
    assert found.cheapest_proven
    assert {change.text for change in found.repairs[0].changes} == {
        "give node n1 1 more slot, from 1 to 2",
        "raise cpu of node n1 by 10, from 100 to 110",
        "raise gpu of node n1 by 1, from 1 to 2",
    }


def test_nodes_raised_by_as_much_are_one_change_and_evictions_are_one() -> None:
    nodes = tuple(Node(f"n{n}", "r1", resources={"cpu": Decimal(10)}) for n in range(2))
    asked = Instance("two", Cluster(nodes), (one_task("t", 12), one_task("u", 12)))
    prices = RepairPrices(evict=Decimal(1000), node=Decimal(1000), task=Decimal(1000))
    first = explain_infeasible(asked, prices=prices).repairs[0]
    assert first.text == "raise cpu of node n0 by 14, from 10 to 24", "one upgrade is cheaper"
    prices = RepairPrices(
        evict=Decimal(1000), node=Decimal(1000), task=Decimal(1000), upgrade=Decimal("0.01"),
    )  # fmt: skip
    first = explain_infeasible(asked, prices=prices).repairs[0]
    assert first.text == "raise cpu of every node by 2, from 10 to 12"


def drawn(seed: int, count: int) -> Iterator[Instance]:
    """Yield `count` tiny instances without placement, of every rule, whose amounts are few."""
    rng = np.random.default_rng(seed)
    while count:
        instance = of_every_rule(rng)
        if not exists(instance):
            count -= 1
            yield instance


def of_every_rule(rng: np.random.Generator) -> Instance:
    """Return one or two nodes and topologies; each rule applies to about a third of them."""

    def number(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    def one_in(chances: int) -> bool:
        return not number(0, chances - 1)

    nodes = tuple(
        Node(
            f"n{n}", "r1", slots=number(1, 2),
            resources={"cpu": Decimal(number(1, 3)), "memory_mb": Decimal(number(1, 4))},
        )
        for n in range(number(1, 2))
    )  # fmt: skip
    topologies = []
    for name in ("t", "u")[: number(1, 2)]:
        parts = tuple(
            Component(
                key, "spout", number(1, 2),
                {"cpu": Decimal(number(0, 2)), "onheap_mb": Decimal(number(0, 2))},
            )
            for key in ("a", "b")[: number(1, 2)]
        )  # fmt: skip
        last = parts[-1].id
        topologies.append(
            Topology(
                name,
                parts,
                worker_max_heap_mb=Decimal(number(1, 4)) if one_in(3) else None,
                constraints=Constraints(
                    (("a", last),) if one_in(3) else (), {"a": 1} if one_in(3) else {}
                ),
                one_task_per_worker=one_in(5),
                one_component_per_worker=one_in(5),
                shared_memory=(SharedMemory("m", "offheap_node", Decimal(1), ("a",)),)
                if one_in(4)
                else (),
            )
        )
    instance = Instance(
        "drawn",
        Cluster(nodes),
        tuple(topologies),
        scheduler=Scheduler(worker_min_cpu=Decimal(number(1, 2) if one_in(4) else 0)),
    )
    if not one_in(4):
        return instance
    homes = {t: {"a[0]": Place("n0", 0)} for t in [one.id for one in topologies[:1]]}
    return Instance(
        "moving",
        instance.cluster,
        instance.topologies,
        scheduler=instance.scheduler,
        running=homes,
        objective=Objective(limits={"moved": 0}),
    )


def price(instance: Instance, change: Change) -> Fraction:
    """Return the price of a change."""
    return Fraction(price_of(change, instance, PRICES))


def maximal_below(
    instance: Instance, every: Sequence[Lever], below: Fraction
) -> Iterator[tuple[Change, ...]]:
    """Yield the combinations that cost less than a price, and to which nothing can be added."""

    def choices(number: int, left: Fraction) -> Iterator[tuple[int, ...]]:
        if number == len(every):
            yield ()
            return
        lever = every[number]
        for steps in range(lever.most + 1):
            cost = price(instance, lever.change(steps)) if steps else Fraction(0)
            if cost >= left:
                return
            for rest in choices(number + 1, left - cost):
                yield (steps, *rest)

    def total(amounts: Sequence[int]) -> Fraction:
        pairs = zip(every, amounts, strict=True)
        return sum((price(instance, one.change(k)) for one, k in pairs if k), Fraction(0))

    for amounts in choices(0, below):
        more = (
            (*amounts[:n], amounts[n] + 1, *amounts[n + 1 :])
            for n, lever in enumerate(every)
            if amounts[n] < lever.most
        )
        if all(total(one) >= below for one in more):
            yield tuple(one.change(k) for one, k in zip(every, amounts, strict=True) if k)


def is_repair(instance: Instance, changes: Sequence[Change]) -> bool:
    """Whether there is a placement after the changes; nodes are added first."""
    for change in sorted(changes, key=lambda one: one.kind != ADD_NODES):
        instance = apply_change(instance, change)
    return exists(instance)


def compare(seed: int, count: int) -> list[int]:
    """Assert that nothing is cheaper than the first repair; return its numbers of changes."""
    sizes = []
    for instance in drawn(seed, count):
        found = explain_infeasible(instance, prices=PRICES, time_limit_s=60)
        check_explanation(instance, found)
        assert found.cheapest_proven
        cheapest = found.repairs[0]
        every = levers(instance, constraints_of(instance), each_node=True)
        every = [one for one in every if len(one.base.nodes) < 2]
        for changes in maximal_below(instance, every, cheapest.price):
            assert not is_repair(instance, changes), (instance, cheapest, changes)
        sizes.append(len(cheapest.changes))
    return sizes


def test_no_combination_is_cheaper_than_the_first_repair() -> None:
    assert max(compare(1, 4)) >= 2


@pytest.mark.deep
def test_no_combination_is_cheaper_than_the_first_repair_on_more() -> None:
    sizes = compare(2, 150)
    assert sum(size >= 3 for size in sizes) >= 5
