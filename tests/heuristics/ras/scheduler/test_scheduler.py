"""The outer loop of Storm's Resource Aware Scheduler: attempts, evictions, Storm's own words."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from slotwise.heuristics.ras.scheduler import (
    Decision,
    DecisionOutcome,
    Round,
    RoundLimits,
    double_text,
    schedule_round,
    schedule_rounds,
)
from slotwise.heuristics.ras.strategies.strategy import RasLimits
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.topology import Component, RasSettings, Topology

NOT_ENOUGH = "Not enough resources to schedule after evicting lower priority topologies. "


def topology(key: str, tasks: int, cpu: int, memory: int = 0, **more: Any) -> Topology:
    demand = {"cpu": cpu, "onheap_mb": memory, **more.pop("generic", {})}
    kind = more.pop("kind", "spout")
    return Topology(key, (Component("s", kind, tasks, demand),), owner="u", **more)


def instance(nodes: int, *topologies: Topology, **more: Any) -> Instance:
    offered = {"cpu": Decimal(100), "memory_mb": Decimal(1000), **more.pop("generic", {})}
    made = tuple(Node(f"n{i}", "r", slots=4, resources=offered) for i in range(nodes))
    return Instance("test", Cluster(made), topologies, objective=Objective(("rejected",)), **more)


def running(*where: tuple[str, list[str]]) -> dict[str, dict[str, Place]]:
    """Return the tasks of each topology on these nodes, one worker on each."""
    return {
        key: {f"s[{i}]": Place(node, worker) for i, node in enumerate(nodes)}
        for worker, (key, nodes) in enumerate(where, start=1)
    }


def last(done: Round) -> Decision:
    return done.of(len(done.instance.topologies) - 1)


def test_what_runs_is_left_alone() -> None:
    made = instance(2, topology("a", 1, 50), running=running(("a", ["n1"])))
    done = schedule_round(made)
    assert [(d.outcome, d.message) for d in done.decisions] == [
        (DecisionOutcome.RUNNING, "Fully Scheduled")
    ]
    assert (done.placement.nodes, done.placement.workers) == ((1,), (1,))


def test_scheduled_in_the_strategys_words() -> None:
    done = schedule_round(instance(2, topology("a", 2, 50)))
    assert last(done).message == (
        "Running - Fully Scheduled by DefaultResourceAwareStrategy "
        "(2 states traversed, backtracked 0 times)"
    )
    assert (last(done).states, last(done).attempts) == (2, 1)
    done = schedule_round(instance(2, topology("a", 2, 50)), strategy="ras-generic-old")
    assert "GenericResourceAwareStrategyOld" in last(done).message


def test_too_large_without_a_search() -> None:
    done = schedule_round(instance(1, topology("a", 1, 150, 1100)))
    assert last(done).outcome is DecisionOutcome.REFUSED
    assert last(done).message == NOT_ENOUGH + (
        "Additional Memory Required: 1100.0 MB (Available: 1000.0 MB). "
        "Additional CPU Required: 150.0% CPU (Available: 100.0 % CPU)."
    )
    assert (last(done).states, done.refused) == (0, (0,))


def test_too_large_in_a_generic_resource() -> None:
    made = instance(1, topology("a", 1, 0, generic={"gpu": 3}), generic={"gpu": Decimal(2)})
    assert last(schedule_round(made)).message == NOT_ENOUGH + (
        " Additional Topology Required Resources: "
        "Normalized resources: {cpu.pcore.percent=0.0, gpu=3.0}"
        " Cluster Available Resources: "
        "Normalized resources: {cpu.pcore.percent=100.0, gpu=2.0}.  "
    )


def test_enough_in_sum_but_in_fragments() -> None:
    """Nobody can be evicted, so the strategy's own words follow the sums."""
    made = instance(
        3,
        topology("a", 3, 60, priority=0),
        topology("b", 2, 50, priority=1),
        running=running(("a", ["n0", "n1", "n2"])),
    )
    assert last(schedule_round(made)).message == NOT_ENOUGH + (
        "Additional CPU Required: 100.0% CPU (Available: 120.0 % CPU)."
        "Cannot schedule by DefaultResourceAwareStrategy "
        "(0 states traversed, backtracked 0 times, 0 of 2 executors scheduled)"
    )


def test_a_node_without_a_limit_has_a_slot_for_each_task_of_the_instance() -> None:
    """Storm 2.8.3 with five ports on each node, of which one is in use, counts 49 states."""
    made = instance(2, topology("a", 2, 1, priority=0), topology("b", 3, 60, priority=1))
    nodes = tuple(replace(node, slots=None) for node in made.cluster.nodes)
    message = last(schedule_round(replace(made, cluster=Cluster(nodes)))).message
    assert "(49 states traversed, backtracked 49 times, 0 of 3 executors" in message


def test_evicts_until_the_evicted_cover_the_request() -> None:
    """Two of the small ones would be enough with what is free: STORM-3489, kept."""
    made = instance(
        3,
        *(topology(f"t{i}", 1, 25, priority=9) for i in range(4)),
        topology("new", 2, 90, priority=0),
        running=running(*((f"t{i}", [f"n{i % 3}"]) for i in range(4))),
    )
    done = schedule_round(made)
    assert last(done).outcome is DecisionOutcome.SCHEDULED
    assert last(done).evicted == (3, 2, 1, 0)
    assert [one.again for one in done.evicted] == [True] * 4
    assert {one.by for one in done.evicted} == {4}
    assert not done.refused


def test_nobody_is_evicted_in_the_end_where_it_did_not_help() -> None:
    made = instance(
        2,
        topology("low", 1, 50, priority=9),
        topology("new", 2, 150, priority=0),
        running=running(("low", ["n0"])),
    )
    done = schedule_round(made)
    assert (last(done).tried, last(done).evicted, done.evicted) == ((0,), (), ())
    assert last(done).outcome is DecisionOutcome.REFUSED
    assert last(done).attempts == 2
    assert done.placement.nodes == (0, -1, -1)


def test_attempts_end() -> None:
    made = instance(
        2,
        topology("low", 1, 50, priority=9),
        topology("new", 2, 60, priority=0),
        running=running(("low", ["n0"])),
    )
    done = schedule_round(made, RoundLimits(attempts=1))
    assert last(done).message == (
        "Failed to make enough resources for new by evicting lower priority topologies "
        "within 1 attempts. Additional CPU Required: 70.0% CPU (Available: 200.0 % CPU)."
    )
    assert schedule_round(made).of(1).outcome is DecisionOutcome.SCHEDULED


def test_failures_that_evict_nobody() -> None:
    low = topology("low", 2, 50, priority=9)
    where = running(("low", ["n0", "n0"]))
    few = topology("new", 2, 10, priority=0, ras=RasSettings(max_states=2))
    done = schedule_round(instance(1, low, few, running=where))
    assert last(done).tried == (0,)  # the sums say no before the strategy is asked
    alone = schedule_round(instance(1, few))
    assert last(alone).message == (
        "Status: FAIL_OTHER error message: "
        "Unassignerd Executor count (2) is greater than searchable state count 2"
    )
    bolts = schedule_round(instance(1, topology("bolts", 1, 10, kind="bolt")))
    message = "Status: FAIL_INVALID_TOPOLOGY error message: Cannot find a Spout!"
    assert last(bolts).message == message


def test_a_strategy_that_is_none_of_the_schedulers() -> None:
    done = schedule_round(instance(1, topology("a", 1, 10, strategy="r-storm")))
    assert last(done).message == (
        "Unsuccessful in scheduling - failed to create instance of topology strategy r-storm. "
        "Please check logs for details"
    )


def test_time_limit() -> None:
    limits = RoundLimits(search=RasLimits(max_seconds=1e-9))
    assert last(schedule_round(instance(1, topology("a", 1, 10)), limits)).message == (
        "Scheduling took too long for a using strategy org.apache.storm.scheduler.resource."
        "strategies.scheduling.DefaultResourceAwareStrategy timeout after 1e-09 seconds using "
        "config scheduling.timeout.seconds.per.topology."
    )


def test_a_lost_task_is_no_success_whatever_storm_says() -> None:
    """Round robin calls it a success where the last executor finds no slot."""
    made = instance(
        2,
        topology("a", 2, 60, priority=0),
        topology("b", 1, 50, priority=1),
        running=running(("a", ["n0", "n1"])),
    )
    done = schedule_round(made, strategy="ras-round-robin")
    assert last(done).message.startswith("Running - Fully Scheduled")
    assert done.refused == (1,)


def test_what_a_failed_strategy_left_counts_as_held() -> None:
    """Round robin gives up with four of six placed; only two are still missing, says Storm."""
    made = instance(
        3,
        topology("a", 1, 10, priority=0),
        topology("b", 6, 45, priority=1),
        running=running(("a", ["n0"])),
    )
    done = schedule_round(made, strategy="ras-round-robin")
    assert last(done).message == NOT_ENOUGH + (
        "Additional CPU Required: 90.0% CPU (Available: 110.0 % CPU)."
        "Cannot schedule by RoundRobinResourceAwareStrategy "
        "(4 states traversed, backtracked 0 times, 4 of 6 executors scheduled)"
    )
    assert done.placement.nodes == (0, *[-1] * 6)


def test_rounds_of_a_changing_cluster() -> None:
    """Nodes are lost: what ran there is placed again if it can, the others stay."""
    first = instance(3, topology("a", 2, 30), topology("b", 1, 60))
    nodes = first.cluster.nodes
    second = replace(first, cluster=Cluster(nodes[1:]))
    third = replace(first, cluster=Cluster(nodes[1:2]))
    ended = replace(third, topologies=first.topologies[1:])
    rounds = list(schedule_rounds([first, second, third, ended]))
    where = [
        [None if n < 0 else one.instance.cluster.nodes[n].id for n in one.placement.nodes]
        for one in rounds
    ]
    assert where == [["n0", "n0", "n1"], ["n2", "n2", "n1"], ["n1", "n1", None], ["n1"]]
    assert [one.refused for one in rounds] == [(), (), (1,), ()]
    assert rounds[1].of(1).outcome is DecisionOutcome.RUNNING
    assert [(e.topology, e.by, e.again) for e in rounds[2].evicted] == [(1, 0, False)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (100.0, "100.0"), (0.1, "0.1"), (0.001, "0.001"), (5e-4, "5.0E-4"),
        (9999999.0, "9999999.0"), (1e7, "1.0E7"), (12345678.5, "1.23456785E7"),
        (float("inf"), "Infinity"), (-2.5e10, "-2.5E10"), (1.25e-9, "1.25E-9"),
    ],
)  # fmt: skip
def test_numbers_as_java_writes_them(value: float, text: str) -> None:
    assert double_text(value) == text
