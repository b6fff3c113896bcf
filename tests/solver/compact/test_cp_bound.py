"""Bounds that CP-SAT tells as doubles are rounded down by all that they may be off."""

from __future__ import annotations

from decimal import Decimal

import pytest
from ortools.sat.python import cp_model

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.solver.compact.cp_sat.run import noise_of, whole_bound
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve


def test_large_costs_make_the_bound_noisy() -> None:
    """CP-SAT told of 2000000.0008477431 where the optimum is 2000000."""
    model = cp_model.CpModel()
    near, far = model.new_bool_var("near"), model.new_bool_var("far")
    model.minimize(2_000_000 * near + 9_999_999_999_999 * far)
    assert whole_bound(2000000.0008477431, noise_of(model)) == 2_000_000


def test_whole_bounds_are_kept_where_all_is_small() -> None:
    model = cp_model.CpModel()
    model.minimize(3 * model.new_int_var(0, 1000, "x") + 7)
    assert whole_bound(12.0, noise_of(model)) == 12
    assert whole_bound(11.99, noise_of(model)) == 12
    assert whole_bound(float("-inf"), noise_of(model)) is None


@pytest.mark.parametrize("engine", ["cp-sat", "exhaustive"])
def test_a_bound_from_the_search_is_not_above_the_optimum(engine: str) -> None:
    """`engines_agree` found it: the bound was 2.000001, the optimum is 2."""
    topology = Topology(
        "t0",
        (Component("c0", "bolt", 3), Component("c1", "bolt", 1), Component("c2", "bolt", 1)),
        (
            Stream("c1", "c0", rate=Decimal(10000003)),
            Stream("c1", "c0", rate=Decimal("0.098971")),
            Stream("c0", "c1", "custom", Decimal("149726.1")),
            Stream("c2", "c0", rate=Decimal(3)),
        ),
        one_component_per_worker=True,
    )
    instance = Instance(
        "noisy",
        Cluster((Node("n0", "r0"), Node("n1", "r0", slots=3))),
        (topology,),
        objective=Objective(("network", "linear")),
        linear=(
            LinearCost("t0/c0[0]", "n0", Decimal(2)),
            LinearCost("t0/c0[0]", "n1", Decimal("9999999.999999")),
        ),
        flow="rates",
    )
    result = solve(instance, engine=engine)
    assert result.status == Status.OPTIMAL
    assert [str(float(term.value)) for term in result.objective] == ["10149719.1", "2.0"]
