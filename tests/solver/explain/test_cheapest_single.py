"""On twenty tasks in several racks no single change is cheaper than the cheapest that is offered.

More of a change never takes a placement away, so that it is enough to ask of each change whether
the most of it that is cheaper suffices; `cp-sat` decides that alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.solver.core.result import Status
from slotwise.solver.explain.change import apply_change
from slotwise.solver.explain.constraint import constraints_of
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.explanation import Repair
from slotwise.solver.explain.feasibility import question
from slotwise.solver.explain.levers import Lever, levers
from slotwise.solver.explain.prices import RepairPrices, price_of
from slotwise.solver.solve import solve

PRICES = RepairPrices()


def in_racks(memory: Sequence[int], *topologies: Topology) -> Instance:
    """Return an instance on nodes in three racks, with more cpu than is needed."""
    nodes = tuple(
        Node(
            f"n{n}", f"r{n % 3}", slots=8,
            resources={"cpu": Decimal(800), "memory_mb": Decimal(have)},
        )
        for n, have in enumerate(memory)
    )  # fmt: skip
    return Instance("racks", Cluster(nodes), topologies)


def part(name: str, tasks: int, memory: int, cpu: int = 20) -> Component:
    """Return a component by what each of its tasks needs."""
    return Component(name, "spout", tasks, {"cpu": Decimal(cpu), "onheap_mb": Decimal(memory)})


def is_feasible(instance: Instance) -> bool:
    """Whether there is a placement, by one engine alone."""
    result = solve(question(instance), engine="cp-sat", time_limit_s=30)
    assert result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return result.status is Status.OPTIMAL


def cheaper_than(lever: Lever, price: Fraction, instance: Instance) -> int:
    """Return the most steps of a lever that cost less than `price`; 0 = none does."""
    low, high = 0, lever.most + 1
    while high - low > 1:
        middle = (low + high) // 2
        if price_of(lever.change(middle), instance, PRICES) < price:
            low = middle
        else:
            high = middle
    return low


def cheapest_single(instance: Instance) -> Repair:
    """Return the cheapest single change that is offered, and assert that none is cheaper."""
    found = explain_infeasible(instance, time_limit_s=30)
    offered = min((one for one in found.repairs if len(one.changes) == 1), key=lambda r: r.price)
    assert judge(offered.instance, offered.placement).valid
    for lever in levers(instance, constraints_of(instance), each_node=True):
        steps = cheaper_than(lever, offered.price, instance)
        if steps:
            assert not is_feasible(apply_change(instance, lever.change(steps))), lever
    return offered


def test_more_memory_of_one_node_is_offered_and_not_only_that_of_a_rack() -> None:
    """Each node holds two large tasks and a small one; only one with 12000 MB holds four."""
    parts = part("large", 7, 3000), part("small", 3, 2000)
    other = part("large", 7, 3000), part("small", 2, 2000)
    instance = in_racks([8000] * 6, Topology("t", parts), Topology("u", other))
    assert not is_feasible(instance)
    best = cheapest_single(instance)
    assert best.price == Fraction(3, 2)
    assert best.changes[0].text == "raise memory_mb of node n0 by 4000, from 8000 to 12000"


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(3))
def test_no_single_change_is_cheaper_on_tasks_of_many_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    memory = [int(rng.choice([4000, 6000, 8000])) for _ in range(6)]
    sizes = [int(size) for size in rng.integers(12, 32, size=8) * 100]
    total = sum(memory)
    counts = [1] * len(sizes)
    while sum(k * size for k, size in zip(counts, sizes, strict=True)) <= total:
        counts[int(rng.integers(len(sizes)))] += 1
    parts = [part(f"c{c}", k, size) for c, (k, size) in enumerate(zip(counts, sizes, strict=True))]
    instance = in_racks(memory, Topology("t", tuple(parts[:4])), Topology("u", tuple(parts[4:])))
    assert not is_feasible(instance)
    cheapest_single(instance)
