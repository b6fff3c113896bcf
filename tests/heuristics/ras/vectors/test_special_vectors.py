"""Vectors of Storm's tests that are not plain schedules: orders, steps, whole clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from conftest import DEEP
from ras_expectations import CHECKS, Run, check_all
from ras_vector_cases import pytest_generate_tests
from ras_vectors import Vector, instances_of, nodes_of

from slotwise.heuristics.ras.model import ras_model
from slotwise.heuristics.ras.scheduler import PriorityEntry, priority_order, schedule_rounds
from slotwise.heuristics.ras.state import RasState
from slotwise.heuristics.ras.strategies.executor_order import incompatible
from slotwise.heuristics.ras.strategies.fast_node_sorter import node_sorter
from slotwise.heuristics.ras.strategies.fit import Fit
from slotwise.heuristics.ras.strategies.strategy import STRATEGIES, schedule_topology
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.instance_file import instance_from_data, read_instance
from slotwise.models.judge.judge import judge

__all__ = ["pytest_generate_tests"]


SORT_TYPES = {"COMMON": "common", "GENERIC_RAS": "generic-ras", "DEFAULT_RAS": "default-ras"}


def sorted_racks(
    instance: Instance, kind: str, component: str | None, state: RasState
) -> list[str]:
    """Return the racks in the order in which the nodes of `state` are tried."""
    names = [one.id for one in instance.topologies[0].placed_components]
    fit = Fit(state, 0, constrained=False)
    order = node_sorter(fit, kind).sort(None if component is None else names.index(component))
    nodes = instance.cluster.nodes
    return list(dict.fromkeys(nodes[node].rack for node in order.nodes()))


@pytest.mark.vectors_with("sort_type")
def test_orders_of_racks_and_nodes(vector: Vector) -> None:
    assert vector.given["executor"] is None
    alone = Topology("t", (Component("s", "spout", 1),))
    instance = Instance("order", Cluster(nodes_of(vector.given)), (alone,))
    state = RasState(ras_model(instance))
    kind = SORT_TYPES[vector.given["sort_type"]]
    if "rack_order" in vector.expected:
        assert sorted_racks(instance, kind, None, state) == vector.expected["rack_order"]
    nodes = instance.cluster.nodes
    order = list(node_sorter(Fit(state, 0, constrained=False), kind).sort(None).nodes())
    if "node_order" in vector.expected:
        assert [nodes[node].id for node in order] == vector.expected["node_order"]
    if vector.expected.get("property") == CONTIGUOUS:
        hosts = [nodes[node].host for node in order]
        changes = sum(a != b for a, b in pairwise(hosts))
        assert len(order) == len(nodes)
        assert changes == len(set(hosts)) - 1


CONTIGUOUS = "in the full node order, supervisors of one host are contiguous"


@pytest.mark.vectors_with("rack_order")
def test_generic_resources_turn_the_racks_round(vector: Vector, strategy: str) -> None:
    orders = vector.expected["rack_order"]
    instance = instances_of(vector)[-1]
    last = replace(instance, topologies=instance.topologies[-1:])
    kind = STRATEGIES[strategy].kind
    asking = {bool(one.resources.get("my.gpu")): one.id for one in last.topologies[0].components}
    state = RasState(ras_model(last))
    found = {
        "non-gpu executor": sorted_racks(last, kind, asking[False], state),
        "gpu-bolt executor": sorted_racks(last, kind, asking[True], state),
    }
    assert found == orders


STEPS = [
    "schedule topo-1",
    "assign 8 of topo-2 executors one per new slot on rack-1 hosts",
    "schedule topo-2",
]


@pytest.mark.vectors_with("steps")
def test_a_rack_with_workers_is_preferred(vector: Vector, strategy: str) -> None:
    assert vector.given["steps"] == STEPS
    (instance,) = instances_of(vector)
    model = ras_model(instance)
    state = RasState(model)
    assert schedule_topology(state, 0, strategy).success
    second = [i for i, node in enumerate(instance.cluster.nodes) if node.rack == "rack-001"]
    free = [(node, label) for node in second for label in range(4)]
    for task, slot in enumerate(free[:8]):
        state.assign(1, slot, [task])
    assert schedule_topology(state, 1, strategy).success
    names = tuple(t.id for t in instance.topologies)
    check_all(Run(vector, strategy, model, (state.placement(),), (names,)), set(CHECKS))


@pytest.mark.vectors_with("constraints_raw")
def test_constraints_are_read_from_storms_configuration(vector: Vector) -> None:
    names = vector.given["components"]
    topology = instance_from_data(storm_file(names, vector.given["constraints_raw"])).topologies[0]
    view = ras_model(Instance("raw", Cluster((Node("n", "r"),)), (topology,))).topologies[0]
    apart = {
        names[c]: sorted(names[other] for other in others)
        for c, others in enumerate(incompatible(view))
    }
    for name, others in vector.expected["incompatible"].items():
        assert apart[name] == sorted(others)
    assert topology.constraints.max_per_node == vector.expected["max_node_co_location"]


def storm_file(names: list[str], constraints: object) -> dict[str, object]:
    """Return a decoded cluster of one topology, one executor per component."""
    component = {"parallelism_hint": 1, "cpu_pct": 1, "onheap_mb": 1, "offheap_mb": 0}
    topology = {
        "id": "t",
        "priority": 29,
        "strategy": "ConstraintSolverStrategy",
        "ras_constraints_raw": constraints,
        "components": [{"id": name, "kind": "bolt", **component} for name in names],
    }
    conf = {"priority_strategy": "DefaultSchedulingPriorityStrategy", "worker_min_cpu_pct": 0}
    node = {"id": "n", "host": "h", "rack": "r", "slots": 1, "cpu_pct": 1, "memory_mb": 1}
    spec = {"cluster_conf_from_first_topology": conf, "nodes": [node]}
    return {"cluster": "raw", "topologies": [topology], "cluster_spec": spec}


@pytest.mark.slow
@pytest.mark.vectors_with("data")
def test_real_clusters_are_placed_whole(vector: Vector) -> None:
    instance = read_instance(vector.path.parent / vector.given["data"])
    model = ras_model(instance)
    for strategy in ("ras-default", None) if DEEP else ("ras-default",):
        state = RasState(model)
        results = [
            schedule_topology(state, turn.topology, strategy or own_strategy(instance, turn))
            for turn in priority_order(instance)
        ]
        assert all(result.success and not result.backtracked for result in results)
        assert sum(bool(places) for places in state.places) == vector.expected["n_scheduled"]
        assert not any(state.unassigned(t) for t in range(len(instance.topologies)))
        assert judge(instance, state.placement()).valid
    if not DEEP and vector.expected["n_scheduled"] < 50:
        return  # the rest takes seconds on the larger cluster
    for turn in priority_order(instance):
        state.free(turn.topology)
        assert schedule_topology(state, turn.topology, own_strategy(instance, turn)).success
    assert not any(state.unassigned(t) for t in range(len(instance.topologies)))


def own_strategy(instance: Instance, turn: PriorityEntry) -> str:
    strategy = instance.topologies[turn.topology].strategy
    assert strategy is not None
    return strategy


@pytest.mark.deep
@pytest.mark.vectors_with("topologies_spec")
def test_a_cluster_filled_in_blocks_gets_fragmented(vector: Vector) -> None:
    assert (
        "one spout executor (cpu 10, on-heap 70 MB) named topo_t0-i"
        in vector.given["topologies_spec"]
    )
    cluster = Cluster(nodes_of(vector.given))
    blocks = [Instance("block", cluster, tuple(ones(last))) for last in (50, 450, 500)]
    rounds = list(schedule_rounds(blocks, None, "ras-default"))
    for one in rounds[:2]:
        assert -1 not in one.placement.nodes
    last = rounds[-1].placement
    assert -1 in last.nodes
    assert judge(replace(blocks[-1], objective=Objective(("rejected",))), last).valid


def ones(count: int) -> Iterator[Topology]:
    """Yield two topologies of one executor, 70 and 20 MB, for each number below `count`."""
    for i in range(count):
        for kind, heap in enumerate((70, 20)):
            resources = {"cpu": Decimal(10), "onheap_mb": Decimal(heap)}
            yield Topology(f"topo_t{kind}-{i}", (Component("spout", "spout", 1, resources),))
