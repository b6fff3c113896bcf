"""Fewest moves over all best plans: earlier terms are solved without what runs."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from slotwise.benchmarks.experiments.proofs.running_clusters import running_clusters
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.topology import Component, Constraints, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.column_generation.columns.search import usable_contents
from slotwise.solver.column_generation.params import COLUMNS_DEFAULTS
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Result, Status
from slotwise.solver.solve import solve
from slotwise.testing.random_instances.tiny import tiny_instance


def values(result: Result) -> list[object]:
    return [term.value for term in result.objective]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "configurations", "cp-sat"])
def test_equals_exhaustive_search(engine: str) -> None:
    rng = np.random.default_rng(0)
    compared = 0
    while compared < 12:
        instance = tiny_instance(rng)
        earlier = tuple(t for t in instance.objective.terms if "moved" not in t) or ("network",)
        if instance.running is None or instance.cluster.matrix is not None:
            continue
        objective = Objective((*earlier, "moved"), instance.objective.soft)
        try:
            instance = replace(instance, objective=objective)
        except InputError:  # linear costs that no term counts
            continue
        truth = solve(instance, engine="exhaustive", time_limit_s=60)
        found = solve(instance, engine=engine, time_limit_s=60)
        assert (found.status, values(found)) == (truth.status, values(truth))
        assert not found.distrusted
        compared += 1


def test_a_cluster_on_which_a_topology_runs() -> None:
    """Nodes in three racks: the fewest moves took a minute and were not proven before."""
    instance = next(i for i in running_clusters(0) if len(i.cluster.racks) == 3)
    small = replace(instance, topologies=(_smaller(instance.topologies[0]),), running={"t": {}})
    homes = {
        f"{one.id}[{k}]": Place(f"n{k % len(small.cluster.nodes)}", 0)
        for one in small.topologies[0].components
        for k in range(one.parallelism)
    }
    found = solve(replace(small, running={"t": homes}), time_limit_s=60)
    assert found.status is Status.OPTIMAL
    assert {proof.engine for proof in found.proofs} >= {"configurations"}
    kinds = [term.bound_kind for term in found.objective]
    assert kinds[-1] == "exact tables over node configurations"


def _smaller(topology: Topology) -> Topology:
    fewer = (replace(one, parallelism=min(one.parallelism, 3)) for one in topology.components)
    return replace(topology, components=tuple(fewer))


def test_contents_of_isolated_workers_are_usable_worker_by_worker() -> None:
    """One worker alone need not be what the node holds in the end: more are added to it."""
    offered = {"cpu": Decimal(100)}
    nodes = tuple(Node(name, name, slots=3, resources=offered) for name in ("n1", "n2"))
    components = (Component("a", "spout", 2, {"cpu": Decimal(30)}), Component("b", "bolt", 1))
    apart = Constraints(incompatible=(("a", "b"),))
    topology = Topology("t", components, constraints=apart)
    running = {"t": {"a[0]": Place("n2", 1), "a[1]": Place("n2", 2), "b[0]": Place("n1", 1)}}
    objective = Objective(("nodes", "moved"))
    instance = Instance("apart", Cluster(nodes), (topology,), running=running, objective=objective)
    problem = compile_problem(instance)
    usable = usable_contents(problem, (1,), time.perf_counter() + 60, RunToken(), COLUMNS_DEFAULTS)
    assert usable is not None
    assert all([2, 1] in rows.tolist() for rows in usable.values())
    found = solve(instance, engine="configurations", time_limit_s=60)
    assert [int(value) for value in values(found) if value is not None] == [1, 1]
    assert found.status is Status.OPTIMAL


def test_an_engine_does_not_claim_what_it_was_given() -> None:
    instance = next(running_clusters(0))
    found = solve(instance, time_limit_s=60)
    for proof in found.proofs:
        if proof.how.startswith("exact tables") or "CP-SAT" in proof.how:
            assert proof.bounds[0] is None
