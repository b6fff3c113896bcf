"""Subset dynamic programming against exhaustive search, CP-SAT and the published values."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assignments import equally_far

from slotwise.models.cancellation import UNLIMITED
from slotwise.models.importers.matrix_assignment import published_optimum
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import instance_from_data, read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.assignment import subset_fixing
from slotwise.solver.assignment.model import make_assignment
from slotwise.solver.assignment.subset_dp import NO_WAY, SUBSET_DP, fill, make_tables
from slotwise.solver.assignment.subset_fixing import fix_by_reduced_cost
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.memory import MB, RunToken
from slotwise.solver.core.reporter import null_reporter
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

LIMITS = Limits(time_s=600.0)  # a new checkout compiles the loops first


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_equals_exhaustive_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tasks, nodes = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    problem = compile_problem(
        instance_from_data(equally_far(rng, tasks, nodes, alike=bool(seed % 2)))
    )
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    found = SUBSET_DP.run(problem, LIMITS, None)
    assert (found.status, found.values, found.bounds) == (truth.status, truth.values, truth.bounds)
    if found.placement is not None:
        verdict = judge(problem, found.placement)
        assert (verdict.violations, verdict.scaled) == ((), found.values)


def test_random_cases_are_of_both_kinds() -> None:
    statuses = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        tasks, nodes = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        made = equally_far(rng, tasks, nodes, alike=bool(seed % 2))
        statuses.add(SUBSET_DP.run(compile_problem(instance_from_data(made)), LIMITS, None).status)
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_relabelling_leaves_the_optimum() -> None:
    rng = np.random.default_rng(5)
    made = equally_far(rng, 9, 4, alike=False)
    made["capacities"] = [[20, 20][: len(row)] for row in made["capacities"]]
    tasks, nodes = rng.permutation(9), rng.permutation(4)
    moved = dict(made)
    moved["weights"] = [made["weights"][i] for i in tasks]
    moved["capacities"] = [made["capacities"][k] for k in nodes]
    if made["linear"] is not None:
        moved["linear"] = [[made["linear"][i][k] for k in nodes] for i in tasks]
    place = np.argsort(tasks)
    moved["flow"] = [[int(place[i]), int(place[j]), w] for i, j, w in made["flow"]]
    both = [
        SUBSET_DP.run(compile_problem(instance_from_data(d)), LIMITS, None) for d in (made, moved)
    ]
    assert both[0].status is Status.OPTIMAL
    assert both[0].values == both[1].values


@pytest.mark.slow
def test_levels_with_single_workers() -> None:
    """Distances by level are uniform where all nodes stand in one rack."""
    components = tuple(Component(c, "bolt", 3, {"cpu": Decimal(10)}) for c in "abc")
    topology = Topology("t", components, (Stream("a", "b"), Stream("b", "c"), Stream("a", "c")))
    offered = {"cpu": Decimal(40)}
    cluster = Cluster(tuple(Node(f"n{i}", "r", slots=2, resources=offered) for i in range(3)))
    made = Instance("levels", cluster, (topology,))
    problem = compile_problem(made)
    assert SUBSET_DP.supports(problem) is None
    found = SUBSET_DP.run(problem, LIMITS, None)
    assert found.status is Status.OPTIMAL
    assert found.values == CP_SAT.run(problem, LIMITS, None).values
    apart = compile_problem(
        replace(made, cluster=Cluster((*cluster.nodes, Node("far", "q", resources=offered))))
    )
    assert "2 distances apart" in str(SUBSET_DP.supports(apart))


@pytest.mark.parametrize("name", ["tassc1003Ac", "tassc1003Cc"])
def test_equals_cp_sat_and_the_published_optimum(shared: Path, name: str) -> None:
    file = shared / "instances" / "ctap" / f"{name}.json"
    problem = compile_problem(read_instance(file))
    found = SUBSET_DP.run(problem, LIMITS, None)
    assert found.status is Status.OPTIMAL
    assert found.values == CP_SAT.run(problem, LIMITS, None).values
    assert found.values is not None
    published = published_optimum(json.loads(file.read_text()))
    assert found.values[0] * problem.terms[0].unit == published.value


def small() -> Instance:
    return instance_from_data(equally_far(np.random.default_rng(1), 5, 3, alike=False))


def reason(instance: Instance) -> str:
    found = SUBSET_DP.supports(compile_problem(instance))
    assert found is not None
    return found


def test_refuses_with_the_reason() -> None:
    made = small()
    assert SUBSET_DP.supports(compile_problem(made)) is None
    far = replace(made.cluster, matrix=((0, 1, 2), (1, 0, 1), (2, 1, 0)))
    assert "2 distances apart" in reason(replace(made, cluster=far))
    assert "'nodes'" in reason(replace(made, objective=Objective(("network+linear", "nodes"))))
    assert "exactly one term" in reason(replace(made, objective=Objective(("network", "linear"))))
    soft = Objective(("overload", "network+linear"), soft={"w0": 1})
    assert "soft" in reason(replace(made, objective=soft))
    many = instance_from_data(equally_far(np.random.default_rng(1), 30, 3, alike=False))
    assert "30 tasks; about" in reason(many)
    more = instance_from_data(equally_far(np.random.default_rng(1), 63, 3, alike=False))
    assert "63 tasks; sets of at most 62" in reason(more)


def test_refuses_many_tasks_before_it_makes_tables_of_their_pairs() -> None:
    components = tuple(
        Component(f"c{i}", "bolt" if i else "spout", 1_000, {"cpu": Decimal(1)}) for i in range(3)
    )
    nodes = tuple(Node(f"n{i}", "r", resources={"cpu": Decimal(9_000)}) for i in range(4))
    matrix = tuple(tuple(int(i != j) for j in range(4)) for i in range(4))
    topology = Topology("t", components, (Stream("c0", "c1"),), worker_max_heap_mb=None)
    cluster = Cluster(nodes, matrix=matrix)
    instance = Instance("many", cluster, (topology,), objective=Objective(("network",)))
    problem = compile_problem(instance)
    tracemalloc.start()
    try:
        assert "3000 tasks; sets of at most 62" in str(SUBSET_DP.supports(problem))
        assert tracemalloc.get_traced_memory()[1] < MB
    finally:
        tracemalloc.stop()


def test_stops_at_the_limit_with_the_hint() -> None:
    problem = compile_problem(
        instance_from_data(equally_far(np.random.default_rng(3), 16, 4, alike=False))
    )
    best = SUBSET_DP.run(problem, LIMITS, None).placement
    stopped = SUBSET_DP.run(problem, Limits(time_s=1e-9), best)
    assert (stopped.status, stopped.placement, stopped.bounds) == (Status.FEASIBLE, best, (None,))
    nothing = SUBSET_DP.run(problem, Limits(time_s=1e-9), Placement((-1,) * 16, (-1,) * 16))
    assert nothing.status in (Status.UNKNOWN, Status.FEASIBLE)
    assert nothing.bounds == (None,)


def test_reduced_cost_fixing_ends_when_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token is cancelled while the first bound is computed; most rounds are never begun."""
    problem = compile_problem(
        instance_from_data(equally_far(np.random.default_rng(3), 12, 4, alike=False))
    )
    reporter = replace(null_reporter(problem, SUBSET_DP.name), token=RunToken())
    bounds = []

    def bounded(*arguments: Any) -> Any:
        reporter.token.cancel()
        bounds.append(arguments)
        return bound(*arguments)

    bound = subset_fixing._bound
    monkeypatch.setattr(subset_fixing, "_bound", bounded)
    stopped = SUBSET_DP.run(problem, LIMITS, None, reporter)
    assert (stopped.status, stopped.interrupted) == (Status.FEASIBLE, True)
    assert stopped.bounds == (None,)
    assert len(bounds) == 1


def test_reduced_cost_fixing_keeps_its_bound_when_asked_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = compile_problem(
        instance_from_data(equally_far(np.random.default_rng(3), 12, 4, alike=False))
    )
    tables = make_tables(make_assignment(problem), RunToken())
    token, bound, found = RunToken(), subset_fixing._bound, []

    def bounded(*arguments: Any) -> Any:
        if len(found) == 1:
            token.cancel()
        found.append(bound(*arguments))
        return found[-1]

    monkeypatch.setattr(subset_fixing, "_bound", bounded)
    priced = subset_fixing.price(tables.chosen, problem.task_count, 10**6, token)
    assert len(found) == 1
    assert priced.bound == found[0][0]


def test_reduced_cost_fixing_keeps_the_optimum() -> None:
    """With the optimum as incumbent the sets left hold it; a bound never exceeds it."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        problem = compile_problem(instance_from_data(equally_far(rng, 8, 3, alike=False)))
        tables = make_tables(make_assignment(problem), RunToken())
        list(fill(tables))
        best = int(tables.levels[-1][tables.full])
        if best >= NO_WAY:
            continue
        before = {node: len(sets) for node, (sets, _) in tables.chosen.items()}
        tables.chosen, bound = fix_by_reduced_cost(tables.chosen, 8, best, UNLIMITED)
        assert bound <= best
        assert all(len(sets) <= before[node] for node, (sets, _) in tables.chosen.items())
        tables.levels.clear()
        list(fill(tables))
        assert int(tables.levels[-1][tables.full]) == best


@pytest.mark.deep
def test_reduced_cost_fixing_changes_no_optimum_of_the_public_instances(shared: Path) -> None:
    """The same optimum with the tables alone, every content that fits allowed."""
    for file in sorted((shared / "instances" / "ctap").glob("*.json")):
        problem = compile_problem(read_instance(file))
        found = SUBSET_DP.run(problem, LIMITS, None)
        assert found.status is Status.OPTIMAL
        tables = make_tables(make_assignment(problem), RunToken())
        list(fill(tables))
        assert found.values == (int(tables.levels[-1][tables.full]) + tables.constant,), file.name
