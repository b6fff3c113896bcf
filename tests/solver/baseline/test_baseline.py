"""What is known at once: the bounds hold, and auto falls back on it where no engine gets far."""

from __future__ import annotations

from dataclasses import replace

import pytest
from solved import first_solved

from slotwise.models.cancellation import CancellationToken
from slotwise.models.families.registry import FAMILIES
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.baseline import BASELINE, capacity_bounds, simple_bounds
from slotwise.solver.column_generation.params import (
    ColumnsParams,
    ConfigurationsParams,
    PackingParams,
)
from slotwise.solver.compact.params import CpSatParams
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.solve import solve


@pytest.mark.slow
def test_no_optimum_is_below_its_simple_bound() -> None:
    positive = 0
    for one in first_solved(300):
        problem, truth = one.problem, one.truth
        if truth.values is not None:
            bounds = capacity_bounds(problem, CancellationToken())
            assert all(b <= v for b, v in zip(bounds, truth.values, strict=True))
            positive += any(bounds)
    assert positive >= 20


def test_demand_beyond_all_capacity_is_overload() -> None:
    instance = FAMILIES["rstorm"].make(4, 0)  # star-a: 1920 points of cpu on 12 * 100
    assert instance.name == "star-a"
    assert simple_bounds(compile_problem(instance)) == (720, 0)


def test_auto_falls_back_where_no_engine_takes_the_instance() -> None:
    few = PackingParams(max_configurations=10)
    columns = ColumnsParams(packing=few)
    parameters = {
        "configurations": ConfigurationsParams(10, packing=few, columns=columns),
        "cp-sat": CpSatParams(max_counts=10),
    }
    instance = FAMILIES["rstorm"].make(4, 0)
    result = solve(instance, time_limit_s=2, parameters=parameters)
    assert result.engine == "baseline+local-search+large-neighbourhood"
    assert result.status == Status.FEASIBLE
    assert result.placement is not None
    assert judge(instance, result.placement).valid
    assert result.objective[0].bound == 720


def test_nothing_to_place_is_optimal_at_once() -> None:
    instance = FAMILIES["rstorm"].make(1, 0)
    empty = replace(
        instance.topologies[0],
        components=tuple(replace(c, parallelism=0) for c in instance.topologies[0].components),
    )
    problem = compile_problem(replace(instance, topologies=(empty,)))
    outcome = BASELINE.run(problem, Limits(), None)
    assert outcome.status == Status.OPTIMAL
    assert outcome.values == (0, 0)
