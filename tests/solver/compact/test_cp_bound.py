"""What CP-SAT answers: bounds that it tells as doubles, and models that its presolve rejects."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from ortools.sat.python import cp_model

from slotwise.models.errors import InternalError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import read_instance
from slotwise.solver.compact.cp_sat.run import noise_of, run_cp_sat, whole_bound
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits, Status
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


@pytest.mark.parametrize("presolve", [True, False])
def test_a_valid_model_that_presolve_rejects_is_solved_without(
    monkeypatch: pytest.MonkeyPatch, presolve: bool
) -> None:
    real = cp_model.CpSolver.solve

    def rejects(solver: cp_model.CpSolver, *words: Any) -> cp_model.CpSolverStatus:
        status = real(solver, *words)
        return cp_model.MODEL_INVALID if solver.parameters.cp_model_presolve else status

    monkeypatch.setattr(cp_model.CpSolver, "solve", rejects)
    model = cp_model.CpModel()
    model.minimize(3 * model.new_int_var(2, 1000, "x") + 7)
    answer = run_cp_sat(model, Limits(time_s=30.0, presolve=presolve), RunToken())
    assert (answer.status, round(answer.solver.objective_value)) == (cp_model.OPTIMAL, 13)


def test_an_invalid_model_is_an_error() -> None:
    model = cp_model.CpModel()
    model.minimize(2**62 * model.new_int_var(0, 2**40, "x"))
    with pytest.raises(InternalError, match="MODEL_INVALID"):
        run_cp_sat(model, Limits(time_s=30.0), RunToken())


@pytest.mark.deep
def test_rejections_that_cost_9e15_are_searched() -> None:
    """`make test-deep` found it, instance 340 of family ``mid-size``: an internal error."""
    file = Path(__file__).parent / "cases" / "presolve_makes_the_model_invalid.json"
    found = solve(read_instance(file), engine="configurations", time_limit_s=60.0, seed=340)
    assert (found.status, found.objective[1].value) == (
        Status.OPTIMAL,
        Fraction("4480963895.299673"),
    )
