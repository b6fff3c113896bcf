"""The network cost by pairs of tasks: the same optima as by products of counts, tighter bounds."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np
import pytest

from slotwise.models.graph_partition import PartitionProblem, instance_of
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact import formulation
from slotwise.solver.compact.cp_sat.engine import run as run_cp_sat
from slotwise.solver.compact.formulation import counts_pairs
from slotwise.solver.compact.milp.engine import run as run_milp
from slotwise.solver.compact.params import CpSatParams, MilpParams
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing.random_instances.tiny import mixed_instance

LIMITS = Limits(time_s=60.0)


def paired_problems(count: int) -> Iterator[Problem]:
    """Random instances with any rules that the model takes."""
    number = 0
    while count:
        problem = compile_problem(mixed_instance(np.random.default_rng((5, number))))
        number += 1
        if counts_pairs(problem, 40) and "network" in problem.instance.objective.parts:
            count -= 1
            yield problem


@pytest.mark.slow
def test_equals_exhaustive_search_whatever_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulation, "LEAST_NODES", 2)
    statuses = set()
    for problem in paired_problems(12):
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        by_cp_sat = run_cp_sat(problem, LIMITS, None, params=CpSatParams(max_pair_tasks=40))
        by_milp = run_milp(problem, LIMITS, None, params=MilpParams(max_pair_tasks=40))
        for found in (by_cp_sat, by_milp):
            assert (found.status, found.values) == (truth.status, truth.values)
        statuses.add(truth.status)
    assert Status.OPTIMAL in statuses


def quarters(size: int) -> Problem:
    """A grid of that many rows and columns in four equal parts."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(size, size))
    edges = tuple(sorted((min(a, b), max(a, b), 1) for a, b in grid.edges))
    weights = (1,) * size**2
    return compile_problem(instance_of(PartitionProblem(weights, edges, (size**2 // 4,) * 4)))


def test_which_problems_it_takes() -> None:
    problem = quarters(4)
    assert counts_pairs(problem, 16)
    assert not counts_pairs(problem, 15)
    halves = PartitionProblem((1, 1), ((0, 1, 1),), (1, 1))
    assert not counts_pairs(compile_problem(instance_of(halves)), 40)


def test_the_relaxation_bounds_where_that_of_counts_does_not() -> None:
    problem = quarters(4)
    limits = Limits(time_s=60.0, deterministic_work=0.2)
    by_pairs = run_cp_sat(problem, limits, None, params=CpSatParams(max_pair_tasks=16))
    by_counts = run_cp_sat(problem, limits, None)
    assert by_counts.bounds[0] in (None, 0)
    assert by_pairs.bounds[0] in range(4, 9)
