"""Decoded Storm clusters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_storm_cluster import SMALL

from slotwise.heuristics.ras.strategies.strategy import STRATEGIES, Strategy
from slotwise.models.errors import InputError
from slotwise.models.importers.storm_cluster import strategy_name
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_data, read_instance


def changed(**keys: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(SMALL))
    document["topologies"][0].update(keys)
    return document


def test_everything_is_read() -> None:
    instance = instance_from_data(SMALL)
    (topology,) = instance.topologies
    (node,) = instance.cluster.nodes
    assert instance.name == "small"
    assert node.resources == {"cpu": 1100, "memory_mb": 58829, "network.resource.units": 50}
    assert (node.host, node.rack, node.slots) == ("host-000", "rack-000", 12)
    assert (topology.owner, topology.launch_time, topology.workers) == ("user", 0, 3)
    assert topology.strategy == "ras-default"
    assert topology.worker_max_heap_mb == 768
    assert topology.one_component_per_worker
    assert topology.ackers is None
    assert [c.parallelism for c in topology.components] == [0, 3]
    assert [s.grouping for s in topology.streams] == ["custom", "fields"]
    assert instance.scheduler.worker_min_cpu == 100
    assert instance.scheduler.priority_strategy == "fifo"
    assert instance.objective.terms == ("overload", "network")


def test_constraints_bind_components_that_exist() -> None:
    constraints = instance_from_data(SMALL).topologies[0].constraints
    assert constraints.incompatible == (("spout", "count"),)
    assert constraints.max_per_node == {"count": 1}


def test_constraints_in_the_newer_spelling() -> None:
    raw = {"count": {"maxNodeCoLocationCnt": 2, "incompatibleComponents": ["spout", "gone"]}}
    constraints = instance_from_data(changed(ras_constraints_raw=raw)).topologies[0].constraints
    assert constraints.incompatible == (("count", "spout"),)
    assert constraints.max_per_node == {"count": 2}


def test_a_heap_limit_of_its_own() -> None:
    assert (
        instance_from_data(changed(worker_max_heap_mb=2048.0)).topologies[0]
        == (instance_from_data(changed(worker_max_heap_mb=2048)).topologies[0])
    )


@pytest.mark.parametrize(("name", "strategy"), STRATEGIES.items())
def test_the_class_of_each_strategy_has_its_name(name: str, strategy: Strategy) -> None:
    assert strategy_name(strategy.storm_class) == name
    assert strategy_name(f"org.apache.storm.scheduler.{strategy.storm_class}") == name


@pytest.mark.parametrize("name", ["", "x", "ResourceAwareStrategy", "DefaultStrategyOld", "a.b."])
def test_other_classes_are_no_strategies(name: str) -> None:
    with pytest.raises(InputError, match="must be one of Storm's"):
        strategy_name(name)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"strategy": "MyStrategy"}, r"topologies\[0\]\.strategy = 'MyStrategy': must be one of"),
        ({"shared_memory": {"x": 1}}, r"topologies\[0\]\.shared_memory"),
        ({"priority": -1}, r"topologies\[0\]\.priority = -1: must be 0 or more"),
        ({"components": 3}, r"topologies\[0\]\.components = 3: must be a list"),
    ],
)
def test_what_is_not_understood_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        instance_from_data(changed(**keys))


def test_a_stream_from_nobody_is_refused() -> None:
    document = changed()
    document["topologies"][0]["components"][1]["inputs"][0]["from"] = "nobody"
    with pytest.raises(InputError, match="'nobody': must be a component"):
        instance_from_data(document)


def test_one_topology_alone_and_a_minimum() -> None:
    instance = instance_from_data(SMALL, topology="word-count", worker_min_cpu="12.5")
    assert instance.name == "small-word-count"
    assert str(instance.scheduler.worker_min_cpu) == "12.5"


def test_an_unknown_topology_names_close_ones() -> None:
    with pytest.raises(
        InputError, match=r"'word-cound': is not a topology of small; did you mean 'word-count'"
    ):
        instance_from_data(SMALL, topology="word-cound")


@pytest.fixture(scope="module", params=["largeCluster01", "largeCluster03"])
def large(request: pytest.FixtureRequest, shared: Path) -> Instance:
    """A real cluster."""
    return read_instance(shared / "storm" / "clusters" / f"{request.param}.json")


FACTS = {
    # topologies, executors, components, inputs, nodes, racks, slots, cpu demand, memory demand
    "largeCluster01": (40, 24349, 389, 663, 1312, 16, 65600, 3097259, 4067200),
    "largeCluster03": (50, 1221, 743, 1668, 80, 2, 960, 63136, 88000),
}


def test_large_clusters_are_read_whole(large: Instance) -> None:
    components = [c for t in large.topologies for c in t.components]
    facts = (
        len(large.topologies),
        sum(c.parallelism for c in components),
        len(components),
        sum(len(t.streams) for t in large.topologies),
        len(large.cluster.nodes),
        len(large.cluster.racks),
        sum(node.slots or 0 for node in large.cluster.nodes),
        int(sum(c.parallelism * c.resources["cpu"] for c in components)),
        int(sum(node.resources["cpu"] or 0 for node in large.cluster.nodes)),
    )
    assert facts == FACTS[large.name]


def test_each_topology_of_a_large_cluster_stands_alone(shared: Path) -> None:
    path = shared / "storm" / "clusters" / "largeCluster03.json"
    alone = read_instance(path, topology="TopologyName00007", worker_min_cpu=0)
    assert [t.id for t in alone.topologies] == ["TopologyName00007"]
    assert alone.scheduler.worker_min_cpu == 0
    assert len(alone.cluster.nodes) == 80


def test_submitters_own_their_topologies_on_demand() -> None:
    instance = instance_from_data(SMALL, submitters=True)
    assert [topology.owner for topology in instance.topologies] == ["user07"]


def test_submitters_are_for_storm_clusters_only() -> None:
    with pytest.raises(InputError, match="decoded Storm clusters only"):
        instance_from_data({"format": "slotwise.instance/1"}, submitters=True)
