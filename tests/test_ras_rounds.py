"""Rounds of Storm's own tests: who is scheduled, who is not, who is evicted on the way.

The vectors are Apache Storm's assertions as data (see their README); they are no part of the
product.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from slotwise.heuristics.ras_round import Outcome, Round
from slotwise.heuristics.ras_scheduler import schedule_rounds
from slotwise.heuristics.ras_turn import RoundLimits
from slotwise.models.cluster import Cluster, Node
from slotwise.models.compile import compile_problem
from slotwise.models.instance import Instance, Objective, Scheduler
from slotwise.models.judge import judge
from slotwise.models.storm_cluster import PRIORITIES, STRATEGIES
from slotwise.models.topology import Component, SharedMemory, Stream, Topology

EVICTIONS = (
    "after_failed_scheduling",
    "evict_multiple",
    "evict_on_node_shared_memory",
    "evict_over_guarantee",
    "evict_over_guarantee_2",
    "evict_self",
    "gras_eviction_by_gpu",
    "min_cpu_third",
    "multi_users",
    "no_guarantee_user_loses",
    "priority_generic_not_evicting",
    "subscription",
)
KINDS = {
    "on_heap_mb": "onheap",
    "off_heap_worker_mb": "offheap_worker",
    "off_heap_node_mb": "offheap_node",
}


def states(data: Any) -> Iterator[Instance]:
    """Yield the cluster at each round; topologies of a round with "+" join those before."""
    pools = {
        owner: {"memory_mb" if key == "memory" else key: value for key, value in pool.items()}
        for owner, pool in data.get("pools", {}).items()
    }
    strategy = PRIORITIES[data.get("priority_strategy", "DefaultSchedulingPriorityStrategy")]
    least = Decimal(data.get("worker_min_cpu_pct", 0))
    nodes = tuple(
        Node(
            node["id"], node["rack"], node["host"], node["slots"],
            {"cpu": node["cpu_pct"], "memory_mb": node["memory_mb"], **node["generic"]},
        )
        for node in data["nodes"]
    )  # fmt: skip
    topologies: tuple[Topology, ...] = ()
    for written in data["rounds"]:
        found = tuple(topology(one) for one in written if one != "+")
        topologies = (*topologies, *found) if written[0] == "+" else found
        yield Instance(
            "vector", Cluster(nodes), topologies, Scheduler(least, strategy, pools),
            objective=Objective(("rejected",)),
        )  # fmt: skip


def topology(data: Any) -> Topology:
    heap = data["worker_max_heap_mb"]
    regions = [
        SharedMemory(
            name, KINDS[key], mb,
            tuple(c for c, used in data["component_to_shared_memory"].items() if name in used),
        )
        for name, sizes in data.get("shared_memory", {}).items()
        for key, mb in sizes.items()
        if mb
    ]  # fmt: skip
    return Topology(
        id=data["id"],
        components=tuple(
            Component(
                one["id"], one["kind"], one["executors"],
                {"cpu": one["cpu_pct"], "onheap_mb": one["onheap_mb"],
                 "offheap_mb": one["offheap_mb"], **one["generic"]},
            )
            for one in data["components"]
        ),
        streams=tuple(
            Stream(source["from"], one["id"], source["grouping"])
            for one in data["components"]
            for source in one["inputs"]
        ),
        owner=data["submitter"],
        priority=data["priority"],
        launch_time=1000 + data["launch_time"],
        worker_max_heap_mb=None if heap == "inf" else heap,
        shared_memory=tuple(regions),
    )  # fmt: skip


def placed(done: Round) -> set[str]:
    return {
        done.instance.topologies[d.topology].id
        for d in done.decisions
        if d.outcome is not Outcome.REFUSED
    }


@pytest.mark.parametrize("name", EVICTIONS)
def test_rounds_of_storms_tests(name: str, shared: Path) -> None:
    data = json.loads((shared / "storm" / "vectors" / f"{name}.json").read_text("utf-8"))
    expected = data["expected"]
    limits = RoundLimits(attempts=data["instance"].get("max_attempts", 5))
    for java in data["instance"]["strategies"]:
        rounds = list(schedule_rounds(states(data["instance"]), limits, STRATEGIES[java]))
        if "n_scheduled" in expected:
            assert len(placed(rounds[-1])) == expected["n_scheduled"]
        for done, wanted in zip(rounds, expected.get("rounds", ()), strict=False):
            assert placed(done) == set(wanted["scheduled"])
            assert {done.instance.topologies[t].id for t in done.refused} == set(
                wanted["not_scheduled"]
            )
            assert judge(compile_problem(done.instance), done.placement).valid
        if "attempted_evictions_last_round" in expected:
            assert not any(decision.tried for decision in rounds[-1].decisions)
