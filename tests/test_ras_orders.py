"""Orders that the released Storm showed: of executors by constraints, and of sums of doubles."""

from __future__ import annotations

from decimal import Decimal

from slotwise.heuristics.ras_executor_order import by_constraint_severity
from slotwise.heuristics.ras_request import request_of
from slotwise.heuristics.ras_topology import ras_topology
from slotwise.models.topology import Component, Constraints, Topology


def test_a_limit_per_node_counts_all_components_over_it() -> None:
    """Storm 2.8.3 takes ``b`` first: 3 components // 2; the others have no constraint."""
    topology = Topology(
        "t",
        tuple(Component(name, "spout", 2) for name in ("a", "b", "c")),
        constraints=Constraints((), {"b": 2}),
    )
    view = ras_topology(topology, (), java=17)
    order = by_constraint_severity(view, range(6))
    assert [view.components[view.component_of[task]].id for task in order] == list("bbccaa")


def test_sums_are_taken_in_the_order_of_javas_maps() -> None:
    """Storm 2.8.3 writes "Additional CPU Required: 7.300000000000001%" on a node of 1 point.

    One after another the demands come to 7.299999999999999, in the order of the map of executors
    (which the priority strategies take) to 7.3.
    """
    topology = Topology(
        "t",
        (
            Component("s", "spout", 5, {"cpu": Decimal("1.1")}),
            Component("b", "bolt", 6, {"cpu": Decimal("0.3")}),
        ),
    )
    asked = request_of(topology)
    assert asked.approximate.cpu == 7.300000000000001
    assert asked.cpu == 7.3
