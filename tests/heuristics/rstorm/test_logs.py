"""The logs that R-Storm's authors left of their runs, replayed: each task on the host it was on.

github.com/jerrypeng/storm-resource-aware-scheduler, results/*Topology/
ResourceAwareScheduler_SchedulingInfo, of 11 December 2014. Topologies are those of that week
(github.com/jerrypeng/storm-resource-aware), tasks 150 MB, hosts 100 points and 20 GB. The logs
name tasks by numbers, which Storm deals in the order of the components' ids.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import permutations

import pytest

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.ras.java.hash_map import java_7_order
from slotwise.heuristics.ras.java.iteration_order import map_order, string_hash
from slotwise.heuristics.rstorm.task_order import input_hash, research_graph
from slotwise.heuristics.run import run_method
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem

SUPERVISORS = {
    "pc207": "06d950d7-3b16-4212-a70c-79bfc4f9e000",
    "pc202": "72f83db3-4ca5-4bce-9f3b-33af6371e84f",
    "pc317": "ee0680ee-d4fa-48d0-a9c7-930c6349f97f",
    "pc256": "8c6e8553-a231-4ed5-bc0b-02d13e8a70fa",
    "pc247": "56f86e30-dc4b-4103-93ab-901661221158",
    "pc203": "76580866-dd0b-4b39-b25d-64ddfdfc02b4",
}
"""Host -> id, in the order of the logs."""

RACK_1 = ("pc207", "pc202", "pc247")
"""Three hosts of six. The logs do not say which; with no others are all five as they are."""

FIRST = "pc203"
"""Where the first task goes in all of them: of equal nodes, the first of a list not in the logs."""

DIAMOND = tuple((f"bolt_{i}", 4, 15) for i in range(1, 5))

TOPOLOGIES: dict[str, tuple[tuple[tuple[str, int, int], ...], str]] = {
    "Linear": (
        (("word", 8, 40), ("exclaim1", 4, 20), ("exclaim2", 4, 20), ("exclaim_output_3", 4, 20)),
        "word>exclaim1 exclaim1>exclaim2 exclaim2>exclaim_output_3",
    ),
    "Diamond": (
        (("spout_head", 4, 50), *DIAMOND, ("bolt_output_3", 4, 15)),
        " ".join(f"spout_head>bolt_{i} bolt_{i}>bolt_output_3" for i in range(1, 5)),
    ),
    "Star": (
        (
            *(("center", 6, 15), ("spout_0", 3, 50), ("spout_1", 3, 50)),
            *(("bolt_output_0", 3, 15), ("bolt_output_1", 3, 15)),
        ),
        "spout_0>center spout_1>center center>bolt_output_0 center>bolt_output_1",
    ),
    "PageLoad": (
        (
            *(("spout_head", 3, 40), ("bolt_transform", 3, 40), ("bolt_filter", 3, 40)),
            *(("bolt_join", 3, 15), ("bolt_filter_2", 3, 20), ("bolt_aggregate", 3, 20)),
            ("bolt_output_sink", 3, 15),
        ),
        "spout_head>bolt_transform bolt_transform>bolt_filter bolt_filter>bolt_join "
        "bolt_join>bolt_filter_2 bolt_filter_2>bolt_aggregate bolt_aggregate>bolt_output_sink",
    ),
    "Processing": (
        (
            *(("spout_head", 2, 30), ("bolt_transform", 4, 30), ("bolt_filter", 4, 30)),
            *(("bolt_join1", 4, 10), ("bolt_output_1", 4, 10), ("bolt_join2", 4, 15)),
            *(("bolt_normalize", 4, 10), ("bolt_output_2", 4, 10)),
        ),
        "spout_head>bolt_transform bolt_transform>bolt_filter bolt_filter>bolt_join1 "
        "bolt_join1>bolt_output_1 bolt_transform>bolt_join2 bolt_join2>bolt_normalize "
        "bolt_normalize>bolt_output_2",
    ),
}
"""Components as (id, executors, points), and streams."""

LOGS = {
    "Linear": {
        "pc207": (0, "exclaim1 exclaim2 exclaim_output_3 word"),
        "pc202": (20, "word word"),
        "pc317": (0, "exclaim1 exclaim2 exclaim_output_3 word"),
        "pc256": (0, "exclaim1 exclaim2 exclaim_output_3 word"),
        "pc247": (20, "word word"),
        "pc203": (0, "exclaim1 exclaim2 exclaim_output_3 word"),
    },
    "Diamond": {
        "pc207": (5, "bolt_1 bolt_4 bolt_output_3 spout_head"),
        "pc202": (5, "bolt_2 bolt_3 bolt_4 spout_head"),
        "pc317": (5, "bolt_1 bolt_3 bolt_output_3 spout_head"),
        "pc256": (10, "bolt_1 bolt_2 bolt_2 bolt_3 bolt_4 bolt_output_3"),
        "pc247": (70, "bolt_1 bolt_output_3"),
        "pc203": (5, "bolt_2 bolt_3 bolt_4 spout_head"),
    },
    "Star": {
        "pc207": (5, "bolt_output_0 bolt_output_1 center spout_1"),
        "pc202": (5, "center center center spout_0"),
        "pc317": (0, "spout_0 spout_1"),
        "pc256": (5, "bolt_output_0 bolt_output_1 center spout_0"),
        "pc247": (100, ""),
        "pc203": (5, "bolt_output_0 bolt_output_1 center spout_1"),
    },
    "PageLoad": {
        "pc207": (5, "bolt_aggregate bolt_filter bolt_filter_2 bolt_output_sink"),
        "pc202": (5, "bolt_join bolt_transform spout_head"),
        "pc317": (5, "bolt_aggregate bolt_filter bolt_filter_2 bolt_output_sink"),
        "pc256": (5, "bolt_join bolt_transform spout_head"),
        "pc247": (5, "bolt_aggregate bolt_filter bolt_filter_2 bolt_output_sink"),
        "pc203": (5, "bolt_join bolt_transform spout_head"),
    },
    "Processing": {
        "pc207": (5, "bolt_filter bolt_join1 bolt_join2 bolt_normalize bolt_transform"),
        "pc202": (5, "bolt_filter bolt_join2 bolt_output_1 bolt_output_2 bolt_transform"),
        "pc317": (5, "bolt_filter bolt_join2 bolt_output_1 bolt_output_2 spout_head"),
        "pc256": (
            0,
            "bolt_filter bolt_join1 bolt_normalize bolt_output_1 bolt_output_2 bolt_transform",
        ),
        "pc247": (60, "bolt_join1 bolt_normalize bolt_output_1 bolt_output_2"),
        "pc203": (5, "bolt_join1 bolt_join2 bolt_normalize bolt_transform spout_head"),
    },
}
"""Host -> points left, and the component of each executor there."""


def topology_of(name: str) -> Topology:
    components, arrows = TOPOLOGIES[name]
    return Topology(
        name,
        tuple(
            Component(
                key,
                "spout" if key.startswith(("spout", "word")) else "bolt",
                count,
                {"cpu": Decimal(cpu), "onheap_mb": Decimal(150)},
            )
            for key, count, cpu in components
        ),
        tuple(Stream(*arrow.split(">")) for arrow in arrows.split()),
    )


def cluster() -> Cluster:
    """Return the six hosts, whose ids stand in the order in which equal ones are taken."""
    hosts = sorted(SUPERVISORS, key=lambda host: host != FIRST)
    resources = {"cpu": Decimal(100), "memory_mb": Decimal(20480)}
    nodes = tuple(
        Node(
            f"{n}-{host}",
            "rack-2" if host in RACK_1 else "rack-1",
            slots=4,
            resources=resources,
        )
        for n, host in enumerate(hosts)
    )
    return Cluster(nodes, Distance(Decimal(0), Decimal(0), Decimal(1), Decimal(2)))


@pytest.mark.parametrize("name", LOGS)
def test_every_task_is_on_the_host_of_the_log(name: str) -> None:
    instance = Instance(name, cluster(), (topology_of(name),), objective=Objective())
    answer = run_method(compile_problem(instance), HEURISTICS["r-storm"], 0)
    assert isinstance(answer, Placement)
    points = {key: cpu for key, _, cpu in TOPOLOGIES[name][0]}
    found: dict[str, Counter[str]] = {host: Counter() for host in SUPERVISORS}
    for node, (_, task) in zip(answer.nodes, instance.task_names(), strict=True):
        found[instance.cluster.nodes[node].id.partition("-")[2]][task.partition("[")[0]] += 1
    left = {
        host: 100 - sum(points[key] * count for key, count in tasks.items())
        for host, tasks in found.items()
    }
    assert {host: (left[host], tasks) for host, tasks in found.items()} == {
        host: (cpu, Counter(tasks.split())) for host, (cpu, tasks) in LOGS[name].items()
    }


def test_the_supervisors_of_the_logs_are_in_the_order_of_java_7() -> None:
    ids = list(SUPERVISORS.values())
    assert java_7_order(reversed(ids), string_hash) == ids  # Two buckets have two of them.
    assert all(map_order(one) != ids for one in permutations(ids))  # Java 8's, however put in.


# The orders themselves


def test_a_table_of_java_7_grows_when_a_key_meets_a_bucket_in_use() -> None:
    hashes = {"a": 1, "b": 17, "c": 2, "d": 3}

    def order(keys: str, least: int) -> str:
        return "".join(java_7_order(keys, lambda key: hashes[key], least))

    # 17 is 16 with the higher bits mixed in: 17 ^ (17 >> 4) = 16; 1, 2 and 3 stay.
    assert order("abcd", 16) == "bacd"
    # Two buckets: a in 1; b (16) in 0: one of two places is used and 0 is free, so it stays 2.
    assert order("ab", 2) == "ba"
    # c meets b in 0: four buckets: b 0, a 1, c 2; d in the free 3: four of four.
    assert order("abcd", 2) == "bacd"


def test_a_bucket_of_java_7_is_a_stack_and_growth_turns_it_round() -> None:
    same = list("abcd")
    assert java_7_order(same, lambda key: 0) == ["d", "c", "b", "a"]
    # Four buckets hold 3. The fourth key doubles them: c, b, a become a, b, c; d comes first.
    assert java_7_order(same, lambda key: 0, 4) == ["d", "a", "b", "c"]


def test_the_first_spout_and_the_neighbours_are_those_of_the_maps() -> None:
    graph = research_graph(topology_of("Star"))
    assert graph.first_spout == "spout_1"
    assert graph.neighbours["center"] == ["bolt_output_0", "bolt_output_1", "spout_0", "spout_1"]
    assert research_graph(topology_of("Processing")).neighbours["bolt_transform"] == [
        *("bolt_join2", "bolt_filter"),
        "spout_head",
    ]
    assert research_graph(topology_of("Diamond")).neighbours["spout_head"] == [
        *("bolt_3", "bolt_2", "bolt_4", "bolt_1"),
    ]


def test_the_hash_of_an_input() -> None:
    # 17 * 37 + 0 = 629; * 37 + 97 ("a") = 23370; * 37 + 0; * 37 + hash of "default".
    assert input_hash("a") == (23370 * 37) * 37 + 1544803905
