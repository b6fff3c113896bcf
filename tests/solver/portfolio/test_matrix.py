"""Which engines ``auto`` picks where distances are a matrix, and that the optimum stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from assignments import equally_far

from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_data
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.assignment.params import SubsetDpParams
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.solve import solve

NO_SUBSETS = {"subset-dp": SubsetDpParams(max_tasks=0, max_contents=0)}


def different_nodes(seed: int) -> Instance:
    """Seven tasks on four nodes of different sizes, all equally far apart."""
    made = equally_far(np.random.default_rng(seed), 7, 4, alike=False)
    room = sum(weight[0] for weight in made["weights"]) // 2
    made["capacities"] = [[room - k] * len(made["weights"][0]) for k in range(4)]
    return instance_from_data({**made, "linear": None})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_column_generation_takes_equal_distances_between_different_nodes(seed: int) -> None:
    instance = different_nodes(seed)
    truth = EXHAUSTIVE.run(compile_problem(instance), Limits(time_s=600), None)
    found = solve(instance, time_limit_s=60, parameters=NO_SUBSETS)
    assert found.status is truth.status
    if found.status is Status.OPTIMAL:
        assert "connected" in found.engine
        assert truth.values is not None
        unit = compile_problem(instance).terms[0].unit
        assert found.objective[0].value == found.objective[0].bound == truth.values[0] * unit


def test_few_kinds_of_tasks_are_solved_by_levels() -> None:
    """Ten equal tasks: the configurations of a node are counted, not sets of tasks."""
    made = equally_far(np.random.default_rng(1), 2, 3, alike=False)
    made |= {"weights": [[1]] * 10, "capacities": [[5], [4], [3]], "linear": None}
    made["flow"] = [[i, j, 3] for i in range(10) for j in range(i)]
    instance = instance_from_data(made)
    found = solve(instance, time_limit_s=60, parameters=NO_SUBSETS)
    assert found.status is Status.OPTIMAL
    assert "dual-ascent" not in found.engine
    with_matrix = solve(instance, time_limit_s=60, engine="subset-dp")
    assert with_matrix.objective[0].value == found.objective[0].value


def test_the_matrix_stays_where_it_says_more() -> None:
    instance = different_nodes(0)
    matrix = np.add.outer(np.arange(4), np.arange(4)) * (1 - np.eye(4, dtype=int))
    rows = tuple(tuple(row) for row in matrix.tolist())
    far = replace(instance, cluster=replace(instance.cluster, matrix=rows))
    found = solve(far, time_limit_s=60)
    assert found.status is Status.OPTIMAL
    assert found.engine == "dual-ascent"
