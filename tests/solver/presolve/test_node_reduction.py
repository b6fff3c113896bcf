"""Leaving out nodes changes no optimum: judged by exhaustive search."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.random import Generator

from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place, parts_of
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.presolve.node_reduction import on_nodes, reduce_nodes
from slotwise.solver.solve import solve
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=60.0)


def roomy(instance: Instance, rng: Generator) -> Instance:
    """Copy one or two nodes of the instance over one or two racks; no matrix, nothing running."""
    kinds = instance.cluster.nodes[: int(rng.integers(1, 3))]
    copies = 4 // len(kinds)
    racks = int(rng.integers(1, 3))
    nodes = tuple(
        replace(node, id=f"{node.id}-{copy}", host="", rack=f"r{copy % racks}")
        for node in kinds
        for copy in range(copies)
    )
    terms = tuple(t for t in instance.objective.terms if "moved" not in parts_of(t))
    return replace(
        instance,
        cluster=Cluster(nodes, instance.cluster.distance),
        topologies=tuple(replace(t, shared_memory=()) for t in instance.topologies),
        running=None,
        linear=(),
        objective=replace(instance.objective, terms=terms or ("network",), limits={}),
    )


def test_reduced_problems_have_the_same_optimum(note: list[str]) -> None:
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for number in range(600):
        problem = compile_problem(roomy(tiny_instance(rng), rng))
        reduction = reduce_nodes(problem)
        if reduction.problem.node_count == problem.node_count:
            continue
        if EXHAUSTIVE.supports(problem) is not None:
            continue
        before = EXHAUSTIVE.run(problem, LIMITS, None)
        after = EXHAUSTIVE.run(reduction.problem, LIMITS, None)
        assert (after.status, after.values) == (before.status, before.values), number
        if after.placement is not None:
            verdict = judge(problem, reduction.restore(after.placement))
            assert verdict.valid
            assert verdict.scaled == before.values
        seen[str(before.status)] += 1
    note.append(f"reductions judged by exhaustive search: {dict(seen)}")
    assert seen[Status.OPTIMAL] >= 50
    assert seen[Status.INFEASIBLE] >= 5


def test_a_small_topology_needs_one_node() -> None:
    instance = FAMILIES["rstorm"].make(1, 0)
    small = replace(
        instance.topologies[0],
        components=tuple(replace(c, parallelism=1) for c in instance.topologies[0].components),
    )
    problem = compile_problem(replace(instance, topologies=(small,)))
    assert reduce_nodes(problem).problem.node_count < problem.node_count


def test_of_nodes_without_slots_one_remains() -> None:
    nodes = (
        Node("small", "r1", slots=0, resources={"cpu": Decimal(20)}),
        Node("large", "r2", slots=0, resources={"cpu": Decimal(40)}),
    )
    topology = Topology("t", (Component("a", "spout", 2, resources={"cpu": Decimal(10)}),))
    objective = Objective(("rejected", "network"))
    instance = Instance("no slots", Cluster(nodes), (topology,), objective=objective)
    assert reduce_nodes(compile_problem(instance)).problem.node_count == 1
    assert solve(instance).status is Status.OPTIMAL


def test_a_hint_on_other_nodes_is_not_lost() -> None:
    instance = FAMILIES["rstorm"].make(1, 0)
    known = solve(instance)
    assert known.placement is not None
    mirrored = replace(known.placement, nodes=tuple(11 - n for n in known.placement.nodes))
    again = solve(instance, hint=mirrored, time_limit_s=1e-3)
    assert again.placement is not None
    assert judge(instance, again.placement).scaled <= judge(instance, mirrored).scaled


def test_homes_follow_their_nodes() -> None:
    nodes = tuple(Node(f"n{i}", "r") for i in range(3))
    topology = Topology("t", (Component("a", "spout", 2),))
    running = {"t": {"a[0]": Place("n0", 4), "a[1]": Place("n2", 1)}}
    objective = Objective(("moved",))
    instance = Instance("home", Cluster(nodes), (topology,), running=running, objective=objective)
    found = on_nodes(compile_problem(instance), [2, 1])
    assert [one.home for one in found.classes] == [None, (0, 1)]
