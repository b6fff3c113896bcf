"""Each rule: an instance that keeps it, and one whose only conflict is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from explained import check_explanation

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place, Scheduler
from slotwise.models.instance.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Topology,
)
from slotwise.models.judge.judge import judge
from slotwise.solver.explain.constraint import Constraint
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.explanation import Cause, Feasibility


def instance(*topologies: Topology, nodes: int = 2, **of_node: Any) -> Instance:
    """Return an instance on `nodes` equal nodes of one rack."""
    resources = of_node.pop("resources", {})
    made = tuple(Node(f"n{i}", "r1", resources=resources, **of_node) for i in range(nodes))
    return Instance("rule", Cluster(made), topologies)


def topology(
    parallelism: int = 3, demand: Mapping[str, Any] | None = None, **rules: Any
) -> Topology:
    """Return topology ``t`` of component ``a`` with `parallelism` tasks, and ``b`` with one."""
    id_ = rules.pop("id", "t")
    parts = (Component("a", "spout", parallelism, demand or {}), Component("b", "bolt", 1, {}))
    return Topology(id_, parts, **rules)


def running(tasks: int) -> dict[str, dict[str, Place]]:
    """Return tasks of ``a``, all on the first node."""
    return {"t": {f"a[{i}]": Place("n0", 0) for i in range(tasks)}}


def moving(limit: int) -> Instance:
    """Return three tasks on a node that holds one, of which `limit` may move."""
    base = instance(topology(demand={"cpu": 10}), nodes=3, resources={"cpu": 10})
    return replace(base, running=running(3), objective=Objective(limits={"moved": limit}))


@dataclass(frozen=True)
class Case:
    """An instance without placement, what conflicts, why, the cheapest repair; and a neighbour."""

    infeasible: Instance
    core: set[str]
    cause: Cause
    summary: str
    cheapest: str
    feasible: Instance


FREE = {"memory_mb": None}
A3 = "all 3 tasks of a must be placed (t)"
B1 = "the task of b must be placed (t)"
CASES = {
    "capacity, short": Case(
        instance(topology(demand={"onheap_mb": 500}), resources={"memory_mb": 700}),
        {"memory_mb of each of the 2 nodes", A3},
        Cause.SHORTAGE,
        "These tasks (t: a) need 1500 MB of memory in all, but all nodes together have 1400: "
        "100 short.",
        "raise memory_mb of node n0 by 300, from 700 to 1000",
        instance(topology(demand={"onheap_mb": 500}), resources={"memory_mb": 1000}),
    ),
    "capacity, in pieces": Case(
        instance(topology(demand={"offheap_mb": 512}), resources={"memory_mb": 872}),
        {"memory_mb of each of the 2 nodes", A3},
        Cause.FRAGMENTATION,
        "All nodes together have enough memory_mb, but not in pieces into which the tasks fit. "
        "When all but the last task of a (512 MB of memory) are placed, 720 MB of memory are free "
        "in all, but at most 360 on one node.",
        "raise memory_mb of node n0 by 152, from 872 to 1024",
        instance(topology(demand={"offheap_mb": 512}), resources={"memory_mb": 1024}),
    ),
    "capacity, one task": Case(
        instance(topology(1, demand={"gpu": 2}), resources={"gpu": 1}),
        {"gpu of each of the 2 nodes", "the task of a must be placed (t)"},
        Cause.TASK_TOO_LARGE,
        "A single task of a (t) fits on no node: it needs 2 gpu, the nodes have at most 1.",
        "raise gpu of node n0 by 1, from 1 to 2",
        instance(topology(1, demand={"gpu": 1}), resources={"gpu": 1}),
    ),
    "resource not offered": Case(
        instance(topology(1, demand={"gpu": 1})),
        {"gpu of each of the 2 nodes", "the task of a must be placed (t)"},
        Cause.TASK_TOO_LARGE,
        "A single task of a (t) fits on no node: it needs 1 gpu, the nodes have at most 0.",
        "raise gpu of node n0 by 1, from 0 to 1",
        instance(topology(1), resources={}),
    ),
    "slots": Case(
        instance(topology(id="t"), topology(id="u"), nodes=1, slots=1),
        {"slots of node n0"},
        Cause.SHORTAGE,
        "These tasks (t: a; u: a) need at least 2 workers (t 1, u 1), but all nodes together have "
        "1 slot.",
        "give node n0 1 more slot, from 1 to 2",
        instance(topology(id="t"), topology(id="u"), nodes=1, slots=2),
    ),
    "no slots": Case(
        instance(topology(1), slots=0),
        {"slots of each of the 2 nodes"},
        Cause.TASK_TOO_LARGE,
        "A single task of a (t) fits on no node: the nodes have no slots.",
        "give node n0 1 more slot, from 0 to 1",
        instance(topology(1), slots=1),
    ),
    "heap": Case(
        instance(topology(demand={"onheap_mb": 900}, worker_max_heap_mb=768), resources=FREE),
        {"at most 768 MB of heap in a worker (t)", A3},
        Cause.TASK_TOO_LARGE,
        "One task of a needs 900 MB of heap, but a worker of t may have at most 768 MB.",
        "raise the worker heap of t by 132 MB, from 768 to 900",
        instance(topology(demand={"onheap_mb": 700}, worker_max_heap_mb=768), resources=FREE),
    ),
    "heap and slots": Case(
        instance(
            topology(demand={"onheap_mb": 400}, worker_max_heap_mb=768), resources=FREE, slots=1
        ),
        {"at most 768 MB of heap in a worker (t)", "slots of each of the 2 nodes", A3},
        Cause.SHORTAGE,
        "These tasks (t: a) need at least 3 workers, but all nodes together have 2 slots.",
        "give node n0 1 more slot, from 1 to 2",
        instance(
            topology(demand={"onheap_mb": 400}, worker_max_heap_mb=800), resources=FREE, slots=1
        ),
    ),
    "one task per worker": Case(
        instance(topology(one_task_per_worker=True), nodes=1, slots=3),
        {"slots of node n0", "one task per worker (t)", A3, B1},
        Cause.SHORTAGE,
        "These tasks (t: a, b) need at least 4 workers, but all nodes together have 3 slots.",
        "give node n0 1 more slot, from 3 to 4",
        instance(topology(one_task_per_worker=True), nodes=1, slots=4),
    ),
    "one component per worker": Case(
        instance(topology(one_component_per_worker=True), nodes=1, slots=1),
        {"slots of node n0", "one component per worker (t)", A3, B1},
        Cause.SHORTAGE,
        "These tasks (t: a, b) need at least 2 workers, but all nodes together have 1 slot.",
        "give node n0 1 more slot, from 1 to 2",
        instance(topology(one_component_per_worker=True), nodes=1, slots=2),
    ),
    "incompatible pair": Case(
        instance(topology(constraints=Constraints((("b", "a"),))), nodes=1, slots=1),
        {"slots of node n0", "a and b never in one worker (t)", A3, B1},
        Cause.SHORTAGE,
        "These tasks (t: a, b) need at least 2 workers, but all nodes together have 1 slot.",
        "give node n0 1 more slot, from 1 to 2",
        instance(topology(constraints=Constraints((("b", "a"),))), nodes=1, slots=2),
    ),
    "incompatible with itself": Case(
        instance(topology(constraints=Constraints((("a", "a"),))), nodes=1, slots=2),
        {"slots of node n0", "at most one task of a in a worker (t)", A3},
        Cause.SHORTAGE,
        "These tasks (t: a) need at least 3 workers, but all nodes together have 2 slots.",
        "give node n0 1 more slot, from 2 to 3",
        instance(topology(constraints=Constraints((("a", "a"),))), nodes=1, slots=3),
    ),
    "max per node": Case(
        instance(topology(constraints=Constraints((), {"a": 1}))),
        {"at most 1 task of a on a node (t)", A3},
        Cause.SHORTAGE,
        "3 tasks of a (t), at most 1 on a node, need 3 nodes, but there are 2.",
        "add one node like n0",
        instance(topology(constraints=Constraints((), {"a": 2}))),
    ),
    "max moved": Case(
        moving(1),
        {"at most 1 task may move", "cpu of node n0", A3},
        Cause.COMBINATION,
        "The tasks cannot stay where they run: at least 2 must move, but at most 1 task may move.",
        "raise cpu of node n0 by 10, from 10 to 20",
        moving(2),
    ),
    "worker min cpu": Case(
        replace(
            instance(topology(id="t"), topology(id="u"), nodes=1, resources={"cpu": 50}),
            scheduler=Scheduler(worker_min_cpu=30),  # type: ignore[arg-type]
        ),
        {"cpu of node n0", "each worker is charged at least 30 cpu"},
        Cause.SHORTAGE,
        "These tasks (t: a; u: a) need 60 points of cpu in all, but all nodes together have 50: "
        "10 short.",
        "raise cpu of node n0 by 10, from 50 to 60",
        replace(
            instance(topology(id="t"), topology(id="u"), nodes=1, resources={"cpu": 60}),
            scheduler=Scheduler(worker_min_cpu=30),  # type: ignore[arg-type]
        ),
    ),
    "shared memory": Case(
        instance(
            topology(1, shared_memory=(SharedMemory("m", "offheap_node", 300, ("a",)),)),  # type: ignore[arg-type]
            resources={"memory_mb": 200},
        ),
        {
            "memory_mb of each of the 2 nodes",
            "shared memory m of 300 MB (t)",
            "the task of a must be placed (t)",
        },
        Cause.TASK_TOO_LARGE,
        "A single task of a (t) fits on no node: it needs 300 MB of memory, the nodes have at most "
        "200.",
        "raise memory_mb of node n0 by 100, from 200 to 300",
        instance(
            topology(1, shared_memory=(SharedMemory("m", "offheap_node", 200, ("a",)),)),  # type: ignore[arg-type]
            resources={"memory_mb": 200},
        ),
    ),
    "ackers": Case(
        instance(topology(1, ackers=Ackers(2, 1, {"cpu": 60})), nodes=1, resources={"cpu": 100}),  # type: ignore[dict-item]
        {"cpu of node n0", "both tasks of __acker must be placed (t)"},
        Cause.SHORTAGE,
        "These tasks (t: __acker) need 120 points of cpu in all, but all nodes together have 100: "
        "20 short.",
        "raise cpu of node n0 by 20, from 100 to 120",
        instance(topology(1, ackers=Ackers(2, 1, {"cpu": 50})), nodes=1, resources={"cpu": 100}),  # type: ignore[dict-item]
    ),
}
SOME_TASKS = {"slots", "no slots", "worker min cpu"}
"""Cases where any task of a topology will do: which one is named does not matter."""


@pytest.mark.parametrize("name", CASES)
def test_the_known_conflict_is_found(name: str) -> None:
    case = CASES[name]
    found = explain_infeasible(case.infeasible)
    check_explanation(case.infeasible, found)
    conflict = found.conflicts[0]
    members = conflict.limits if name in SOME_TASKS else conflict.members
    assert {member.constraint.name for member in members} == case.core
    assert (conflict.cause, conflict.summary) == (case.cause, case.summary)
    assert found.repairs[0].text == case.cheapest


@pytest.mark.parametrize("name", CASES)
def test_what_keeps_the_rule_is_feasible(name: str) -> None:
    found = explain_infeasible(CASES[name].feasible)
    assert found.status is Feasibility.FEASIBLE
    assert found.placement is not None
    assert judge(CASES[name].feasible, found.placement).valid
    assert (found.conflicts, found.repairs) == ((), ())


def test_whether_ackers_track_tuples_changes_nothing() -> None:
    large = Ackers(1, 1, {"cpu": 120})  # type: ignore[dict-item]
    found = {}
    for acked in (None, True):
        asked = instance(topology(1, ackers=large, acked=acked), nodes=1, resources={"cpu": 100})
        found[acked] = explain_infeasible(asked)
        check_explanation(asked, found[acked])
    assert found[True].conflicts[0].summary == found[None].conflicts[0].summary
    repairs = [repair.text for repair in found[True].repairs]
    assert "leave out component __acker of t (1 task)" in repairs
    assert repairs == [repair.text for repair in found[None].repairs]


def test_an_instance_without_rules_is_feasible() -> None:
    assert explain_infeasible(instance(topology())).status is Feasibility.FEASIBLE


def test_an_instance_without_tasks_is_feasible() -> None:
    empty = instance(Topology("t", (Component("a", "spout", 0, {}),)), slots=0)
    assert explain_infeasible(empty).status is Feasibility.FEASIBLE


def test_components_that_exclude_each_other_are_counted_together() -> None:
    parts = tuple(Component(name, "bolt", 1, {}) for name in ("a", "b", "c"))
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    asked = instance(Topology("t", parts, constraints=Constraints(pairs, {})), nodes=2, slots=1)
    conflict = explain_infeasible(asked).conflicts[0]
    assert conflict.summary == "a, b and c exclude each other: 3 workers needed, 2 slots."


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (Constraint("max_moved", amount=Decimal(0)), "no task may move"),
        (
            Constraint("tasks", topology="t", subject="a", amount=Decimal(2)),
            "both tasks of a must be placed (t)",
        ),
    ],
)
def test_small_numbers_read_well(constraint: Constraint, text: str) -> None:
    assert constraint.name == text
