"""Orders that the released Storm showed: of executors by constraints, and of sums of doubles."""

from __future__ import annotations

from decimal import Decimal

import pytest

from slotwise.heuristics.ras.java.iteration_order import string_hash
from slotwise.heuristics.ras.model import ports_of, ras_topology, request_of, slot_order
from slotwise.heuristics.ras.scheduler import schedule_round
from slotwise.heuristics.ras.strategies.executor_order import by_constraint_severity
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import (
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)


def test_a_limit_per_node_counts_all_components_over_it() -> None:
    """Storm 2.8.3 takes ``b`` first: 3 components // 2; the others have no constraint."""
    topology = Topology(
        "t",
        tuple(Component(name, "spout", 2) for name in ("a", "b", "c")),
        constraints=Constraints((), {"b": 2}),
    )
    view = ras_topology(topology, (), java=17)
    order = by_constraint_severity(view, range(6))
    assert [view.components[view.component_of[task]].id for task in order] == list("bbccaa")


def test_sums_are_taken_in_the_order_of_javas_maps() -> None:
    """Storm 2.8.3 writes "Additional CPU Required: 7.300000000000001%" on a node of 1 point.

    One after another the demands come to 7.299999999999999, in the order of the map of executors
    (which the priority strategies take) to 7.3.
    """
    topology = Topology(
        "t",
        (
            Component("s", "spout", 5, {"cpu": Decimal("1.1")}),
            Component("b", "bolt", 6, {"cpu": Decimal("0.3")}),
        ),
    )
    asked = request_of(topology)
    assert asked.approximate.cpu == 7.300000000000001
    assert asked.cpu == 7.3


@pytest.mark.parametrize("slots", [65, 1000, 2**16 + 3])
def test_many_ports_are_listed_as_few_are(slots: int) -> None:
    ports = ports_of({3, 64}, slots)
    many = slot_order("n1", ports, {3, 7})
    assert many == slot_order("n1", list(ports), {3, 7})
    assert sorted(many) == [port for port in range(slots) if port not in (3, 7)]


def test_ports_are_the_labels_of_running_workers_and_the_lowest_others() -> None:
    assert list(ports_of({1}, 3)) == [0, 1, 2]
    assert list(ports_of({1, 7}, 4)) == [0, 1, 2, 7]
    assert list(ports_of({5, 7}, 1)) == [5, 7]
    assert list(ports_of((), 0)) == []


def test_nodes_are_added_up_in_the_order_of_a_copied_map() -> None:
    """Storm 2.8.3 on Java 17 writes "(Available: 7852.520000000001 % CPU)".

    In the order of the file it would be 7852.5199999999995, in that of the map before it is copied
    7852.519999999999.
    """
    cpu = "100 206.22 303.44 405.66 505.88 603.1 706.32 800.54 906.76 1003.98 1105.2 1205.42"
    nodes = tuple(
        Node(f"n{37 * k * k + 11 * k}", "r", resources={"cpu": Decimal(amount), "memory_mb": 1000})
        for k, amount in enumerate(cpu.split())
    )
    too_large = Topology("t", (Component("s", "spout", 1, {"cpu": Decimal(100000)}),))
    one = schedule_round(Instance("i", Cluster(nodes), (too_large,)), strategy="ras-default")
    assert "(Available: 7852.520000000001 % CPU)" in one.decisions[0].message


def test_shares_are_added_in_the_order_of_a_copied_map_of_resources() -> None:
    """Storm 2.8.3 takes n2: in its order the shares of n1 come to a last digit less.

    Cpu and memory are keys of that map, too: the copy of four keys has 8 buckets, and fpga stands
    behind the units of network, which in 16 buckets it does not.
    """
    rest = {"cpu": Decimal(400), "memory_mb": Decimal(4096)}
    nodes = tuple(
        Node(name, "r", resources={**rest, "fpga": fpga, "network.resource.units": units})
        for name, fpga, units in (("n1", Decimal(1), Decimal(2)), ("n2", Decimal(2), Decimal(1)))
    )
    small = Topology("t", (Component("s", "spout", 1, {"cpu": Decimal(10)}),))
    one = schedule_round(Instance("i", Cluster(nodes), (small,)), strategy="ras-default")
    assert one.placement.nodes == (1,)


def test_resources_of_one_bucket_stand_by_name_whatever_the_order_of_the_file() -> None:
    """Storm 2.8.3 writes "a" before "licence", also where a file names licence first."""
    assert string_hash("a") % 16 == string_hash("licence") % 16
    offered = {"licence": 1, "cpu": 100, "memory_mb": 1000, "a": 1}
    asked = Topology("t", (Component("s", "spout", 1, {"a": Decimal(2)}),))
    node = Node("n", "r", resources={key: Decimal(value) for key, value in offered.items()})
    one = schedule_round(Instance("i", Cluster((node,)), (asked,)), strategy="ras-default")
    assert "{a=2.0, licence=0.0," in one.decisions[0].message


def test_a_node_whose_only_worker_grows_comes_last_in_its_bucket() -> None:
    """Storm 2.8.3 misses no memory here: the node dealt to twice is added last.

    It frees a worker to add an executor. Where the node kept its place among the three, whose ids
    have one hash code, 3.552713678800501E-15 MB would be missing.
    """
    shared = ["3.5", "6.1", "7.7", "9.3"]
    need = {"cpu": Decimal(10), "onheap_mb": Decimal(1)}
    dealt = [Component(f"c{i}", "bolt" if i else "spout", 1, need) for i in range(len(shared))]
    topology = Topology(
        "t",
        (*dealt, Component("too-large", "bolt", 2, {"cpu": Decimal(120)})),
        tuple(Stream(f"c{i}", f"c{i + 1}") for i in range(len(shared) - 1)),
        shared_memory=tuple(
            SharedMemory(f"m{i}", "offheap_node", Decimal(mb), (f"c{i}",))
            for i, mb in enumerate(shared)
        ),
    )
    full = {"cpu": Decimal(100), "memory_mb": Decimal(100)}
    nodes = tuple(Node(name, "r", slots=4, resources=full) for name in ("Aa", "BB", "C#"))
    one = schedule_round(Instance("i", Cluster(nodes), (topology,)), strategy="ras-round-robin")
    assert "(4 states traversed" in one.decisions[0].message
    assert "Memory" not in one.decisions[0].message


def test_shared_regions_are_added_in_the_order_of_a_set_filled_component_by_component() -> None:
    """Storm 2.8.3 writes this amount; in the order of the file it would be 1.2999999999999972.

    The set is filled in the order of a set of the components' names: a, split, lines.
    """
    shared = {"lines": "7", "a": "3.8", "split": "7.9"}
    topology = Topology(
        "t",
        tuple(Component(key, "spout", 1, {"cpu": Decimal(1)}) for key in shared),
        shared_memory=tuple(
            SharedMemory(f"m{i}", "offheap_worker", Decimal(mb), (key,))
            for i, (key, mb) in enumerate(shared.items())
        ),
        priority=0,
    )
    large = Topology("large", (Component("s", "spout", 1, {"onheap_mb": Decimal(1000)}),))
    node = Node("n", "r", resources={"cpu": Decimal(100), "memory_mb": Decimal(20)})
    one = schedule_round(Instance("i", Cluster((node,)), (topology, large)))
    assert "(Available: 1.3000000000000007 MB)" in one.decisions[1].message
