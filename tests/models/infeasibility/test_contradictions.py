"""Contradictions that are claimed wrongly do not hold."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from slotwise.models.infeasibility.contradictions import (
    Contradiction,
    MustMove,
    ResourceShort,
    TaskTooLarge,
    TooFewBins,
    TooFewPlaces,
    TooFewSlots,
    TooManyTasks,
    TopologyWorkers,
    holds,
)
from slotwise.models.infeasibility.room import COUNTING_RULES, Limits
from slotwise.models.infeasibility.statement import stated
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Constraints, Topology
from slotwise.models.problem.compile import compile_problem

EVERY = Limits(COUNTING_RULES, ("cpu",))
A, B = ("t", "a"), ("t", "b")


def cluster(nodes: int, slots: int, cpu: int) -> Cluster:
    """Return nodes that are alike."""
    return Cluster(
        tuple(
            Node(f"n{n}", "r", slots=slots, resources={"cpu": Decimal(cpu)}) for n in range(nodes)
        )
    )


def nine(nodes: int = 8, **changes: object) -> Instance:
    """Return nine tasks of a component, at most one on a node."""
    parts = (Component("a", "spout", 9, {"cpu": Decimal(10)}), Component("b", "bolt", 2))
    topology = Topology("t", parts, constraints=Constraints(max_per_node={"a": 1}))
    return replace(Instance("nine", cluster(nodes, 4, 100), (topology,)), **changes)


def test_nine_tasks_on_eight_nodes_one_on_each() -> None:
    one = TooManyTasks(A, Limits(("max_per_node",)))
    problem = compile_problem(nine())
    assert holds(problem, one)
    said = stated(problem, one)
    assert (said.rules, said.required, said.available) == (("max_per_node",), 9, 8)
    assert said.text == (
        "9 tasks of a (t), at most 1 on a node: 8 nodes have room for 8, 1 too few."
    )


def test_nine_nodes_are_enough() -> None:
    assert not holds(compile_problem(nine(9)), TooManyTasks(A, EVERY))


def test_topologies_that_may_be_left_out_are_not_demanded() -> None:
    problem = compile_problem(nine(objective=Objective(("rejected",))))
    assert not holds(problem, TooManyTasks(A, EVERY))


def test_a_soft_resource_does_not_bind() -> None:
    short = nine(20, cluster=cluster(20, 4, 1))
    assert holds(compile_problem(short), ResourceShort("cpu"))
    soft = replace(short, objective=Objective(soft={"cpu": 1}))
    assert not holds(compile_problem(soft), ResourceShort("cpu"))


@pytest.mark.parametrize(
    "claim",
    [
        TaskTooLarge(A, EVERY),
        TooManyTasks(B, EVERY),
        TooManyTasks(("t", "nobody"), EVERY),
        TooManyTasks(A, Limits((), ("gpu",))),
        TooFewPlaces((B, B, B), EVERY),
        TooFewSlots((TopologyWorkers("t", ("a", "b")),)),
        TooFewSlots((TopologyWorkers("t", ("a",) * 40),)),
        TooFewSlots((TopologyWorkers("nobody"),)),
        TooFewSlots((), by_cpu=True),
        TooFewSlots((TopologyWorkers("t", (), ((A, 99),)),)),
        ResourceShort("cpu"),
        ResourceShort("gpu"),
        TooFewBins("cpu", ((A, 1), (A, 1), (A, 1)), Limits()),
        TooFewBins("cpu", ((A, -1),), EVERY),
        TooFewBins("cpu", ((A, 7), (B, 3)), Limits()),
        MustMove(EVERY),
    ],
)
def test_a_claim_that_is_wrong_does_not_hold(claim: Contradiction) -> None:
    """Components that do not exclude each other, twice the same one, names that are not there."""
    assert not holds(compile_problem(nine()), claim)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"one_task_per_worker": True}, "one_task_per_worker"),
        ({"one_component_per_worker": True}, "one_component_per_worker"),
        ({"constraints": Constraints(incompatible=(("a", "b"),))}, "incompatible"),
    ],
)
def test_what_keeps_two_tasks_apart_is_named(rules: dict[str, Any], named: str) -> None:
    parts = Component("a", "spout", 1), Component("b", "bolt", 1)
    topology = Topology("t", parts, **rules)
    problem = compile_problem(Instance("two", cluster(1, 1, 100), (topology,)))
    said = stated(problem, TooFewSlots((TopologyWorkers("t", ("a", "b")),)))
    assert said.rules == ("slots", named)
    assert f"t 2 ({named})" in said.text
