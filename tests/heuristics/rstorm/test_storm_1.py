"""``r-storm-1.0``: the figures on the authors' topologies, the oddities, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from slotwise.heuristics.rstorm.storm_1.method import R_STORM_1_0, supports
from slotwise.heuristics.rstorm.storm_1.scheduler import schedule_storm_1
from slotwise.heuristics.run import run_method
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place, Scheduler
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.instance.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem

NODES_AND_NETWORK = {
    "linear-a": (8, 884),
    "linear-b": (7, 52),
    "diamond-a": (12, 728),
    "diamond-b": (7, 164),
    "star-c": (5, 60),
    "page-load": (6, 46),
    "processing": (9, 314),
}
"""What Storm 1.0.6 itself makes of them (`make storm-1-peer`)."""


def need(cpu: int, onheap: int = 10, offheap: int = 0) -> dict[str, Decimal]:
    return {"cpu": Decimal(cpu), "onheap_mb": Decimal(onheap), "offheap_mb": Decimal(offheap)}


def node(name: str, cpu: int, memory: int = 1000, **given: object) -> Node:
    capacity = {"cpu": Decimal(cpu), "memory_mb": Decimal(memory)}
    return Node(name, **{"rack": "r", "slots": 2, "resources": capacity, **given})


def topology(*components: Component, **given: object) -> Topology:
    return Topology(**{"id": "t", "components": components, **given})


def spout(count: int, resources: dict[str, Decimal]) -> Component:
    return Component("s", "spout", count, resources)


def homes(instance: Instance) -> list[str | None]:
    """Return the node of each task."""
    ids = [one.id for one in instance.cluster.nodes]
    placed = schedule_storm_1(instance).placement.nodes
    return [None if index == UNPLACED else ids[index] for index in placed]


def status(instance: Instance) -> str:
    return schedule_storm_1(instance).outcomes["t"].status


@pytest.mark.parametrize("instance", list(FAMILIES["rstorm"].generate()), ids=lambda one: one.name)
def test_the_authors_topologies(instance):
    problem = compile_problem(instance)
    answer = run_method(problem, R_STORM_1_0, 0)
    if instance.name in NODES_AND_NETWORK:
        assert isinstance(answer, Placement)
        verdict = judge(problem, answer)
        overload, network = (int(term.value) for term in verdict.objective)
        assert verdict.valid
        assert overload == 0
        assert (len(set(answer.nodes)), network) == NODES_AND_NETWORK[instance.name]
    else:
        assert isinstance(answer, Refusal)
        assert "Not enough resources to schedule - 0/" in answer.reason


def test_the_first_executor_goes_to_the_rack_with_most_or_nowhere():
    """It fits only in the other rack; the second is placed, and the first tried again."""
    nodes = (node("a", 60), node("b", 60), node("c", 100, rack="other"))
    components = (spout(1, need(90)), Component("b", "bolt", 1, need(50)))
    one = topology(*components, streams=(Stream("s", "b"),))
    assert homes(Instance("i", Cluster(nodes), (one,))) == ["c", "b"]
    alone = topology(spout(1, need(90)))
    assert homes(Instance("i", Cluster(nodes), (alone,))) == [None]


def test_of_nodes_at_equal_distance_the_last_is_taken():
    nodes = tuple(node(name, 100) for name in "abc")
    one = topology(spout(1, need(10)))
    assert homes(Instance("i", Cluster(nodes), (one,))) == ["c"]


def test_a_worker_counts_off_heap_memory_against_its_heap_limit():
    one = topology(spout(2, need(10, 50, 60)), worker_max_heap_mb=Decimal(150))
    found = schedule_storm_1(Instance("i", Cluster((node("a", 100),)), (one,)))
    assert set(found.placement.workers) == {0, 1}


def test_of_several_nodes_on_a_host_one_is_used():
    nodes = (node("a", 100, host="h"), node("b", 100, host="h"))
    one = Instance("i", Cluster(nodes), (topology(spout(2, need(60))),))
    assert homes(one) == [None, None]
    apart = Instance("i", Cluster((node("a", 100), node("b", 100))), one.topologies)
    assert set(homes(apart)) == {"a", "b"}


def test_ackers_come_last():
    """First, the acker would take the smaller node: it is the nearer one."""
    acked = topology(spout(2, need(40)), ackers=Ackers(1, 1, need(60)))
    nodes = (node("a", 100), node("b", 70))
    assert homes(Instance("i", Cluster(nodes), (acked,))) == ["b", "a", "a"]


def test_workers_from_before_are_not_joined():
    one = topology(spout(2, need(10)))
    running = {"t": {"s[0]": Place("a", 1)}}
    instance = Instance("i", Cluster((node("a", 100),)), (one,), running=running)
    assert schedule_storm_1(instance).placement.workers == (1, 0)


def test_a_topology_without_spout_is_invalid():
    one = topology(Component("b", "bolt", 1, need(10)))
    instance = Instance("i", Cluster((node("a", 100),)), (one,))
    assert status(instance) == "Scheduling Attempted but topology is invalid"


def two(pools: dict[str, dict[str, Decimal]]) -> Instance:
    """Return a topology that runs and a more important one that needs its place."""
    old = topology(spout(1, need(60)), id="old", owner="u", priority=20)
    new = topology(spout(1, need(60)), owner="u", priority=10)
    return Instance(
        "i",
        Cluster((node("a", 100),)),
        (old, new),
        Scheduler(pools=pools),
        running={"old": {"s[0]": Place("a", 0)}},
        objective=Objective(("rejected", "network")),
    )


def test_an_owner_with_a_guarantee_evicts_the_less_important():
    pool = {"cpu": Decimal(100), "memory_mb": Decimal(100)}
    assert homes(two({"u": pool})) == [None, "a"]


def test_an_owner_without_a_guarantee_evicts_nobody():
    instance = two({})
    assert homes(instance) == ["a", None]
    answer = run_method(compile_problem(instance), R_STORM_1_0, 0)
    assert isinstance(answer, Placement)
    whole = replace(instance, objective=Objective())
    refused = run_method(compile_problem(whole), R_STORM_1_0, 0)
    assert refused == Refusal(
        "topology t: Not enough resources to schedule - 0/1 executors scheduled"
    )


def test_a_sum_of_doubles_above_a_capacity_makes_storm_fail():
    """What runs fills the node exactly; in doubles 0.3 - 0.1 - 0.1 is less than 0.1."""
    one = topology(spout(3, {"cpu": Decimal("0.1")}))
    running = {"t": {f"s[{i}]": Place("a", 0) for i in range(3)}}
    full = node("a", 0, resources={"cpu": Decimal("0.3"), "memory_mb": Decimal(9)})
    problem = compile_problem(Instance("i", Cluster((full,)), (one,), running=running))
    assert run_method(problem, R_STORM_1_0, 0) == Refusal(
        "Storm's scheduler fails: Attempting to consume more CPU than available"
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scheduler": Scheduler(worker_min_cpu=Decimal(10))}, "least cpu"),
        ({"scheduler": Scheduler(priority_strategy="fifo")}, "only the default one"),
        ({"objective": Objective(limits={"moved": 1})}, "moved tasks is limited"),
    ],
)
def test_what_its_scheduler_lacks(change, reason):
    instance = Instance("i", Cluster((node("a", 100),)), (topology(spout(1, need(1))),), running={})
    assert supports(compile_problem(instance)) is None
    assert reason in str(supports(compile_problem(replace(instance, **change))))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"constraints": Constraints(max_per_node={"s": 1})}, "has constraints"),
        ({"one_task_per_worker": True}, "one_task_per_worker"),
        ({"one_component_per_worker": True}, "one_component_per_worker"),
        (
            {"shared_memory": (SharedMemory("m", "onheap", Decimal(1), ("s",)),)},
            "has shared memory",
        ),
        ({"components": (spout(1, {"gpu": Decimal(1)}),)}, "asks for gpu"),
        ({"components": (Component("s", "system", 1),)}, "has a system component s"),
    ],
)
def test_what_its_topologies_lack(change, reason):
    one = replace(topology(spout(1, need(1))), **change)
    instance = Instance("i", Cluster((node("a", 100),)), (one,))
    assert "topology t " in str(supports(compile_problem(instance)))
    assert reason in str(supports(compile_problem(instance)))
