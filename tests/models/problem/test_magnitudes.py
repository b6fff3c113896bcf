"""Numbers that would leave 64 bits are refused by name, before NumPy wraps or refuses them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem

TINY, HUGE = Decimal("0.000001"), Decimal(10) ** 15


def instance(cpu: Decimal, capacity: Decimal, **settings: object) -> Instance:
    components = tuple(Component(key, "bolt", 1000, {"cpu": cpu}) for key in ("a", "b"))
    nodes = tuple(Node(f"n{i}", "r", resources={"cpu": capacity}) for i in (1, 2))
    topology = Topology("t", components, (Stream("a", "b"),))
    return Instance("wide", Cluster(nodes), (topology,), **settings)  # type: ignore[arg-type]


ONE = Decimal(1)
PLAIN = instance(ONE, ONE)
NODES_ONLY = Objective(("nodes",))


@pytest.mark.parametrize(
    ("wide", "named"),
    [
        (instance(TINY, HUGE), "resource cpu"),
        (instance(HUGE, TINY), "resource cpu"),
        (
            replace(PLAIN, cluster=replace(PLAIN.cluster, matrix=((HUGE, TINY), (0, 0)))),
            "distance",
        ),
        (
            replace(PLAIN, cluster=replace(PLAIN.cluster, distance=Distance(TINY, 1, 1, HUGE))),
            "distance",
        ),
        (
            replace(
                PLAIN,
                linear=(LinearCost("a[0]", "n1", TINY), LinearCost("a[0]", "n2", HUGE)),
            ),
            "linear",
        ),
    ],
)
def test_numbers_too_far_apart_are_refused_by_name(wide: Instance, named: str) -> None:
    with pytest.raises(InputError, match=r"2\^62") as caught:
        compile_problem(wide)
    assert caught.value.field == named


def test_a_part_outside_the_objective_cannot_wrap_either() -> None:
    """The judge reports every part; a million pairs at 10^15 each wrapped silently."""
    far = replace(PLAIN.cluster, matrix=((Decimal(0), HUGE), (HUGE, Decimal(0))))
    with pytest.raises(InputError) as caught:
        compile_problem(replace(PLAIN, cluster=far, objective=NODES_ONLY))
    assert caught.value.field == "objective part network"
    soft = Objective(("nodes",), {"cpu": 10**15})
    with pytest.raises(InputError) as caught:
        compile_problem(instance(Decimal(1000), ONE, objective=soft))
    assert caught.value.field == "objective part overload"
