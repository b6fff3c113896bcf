"""The tables of Storm's documentation, section "Enhancements"."""

from __future__ import annotations

from decimal import Decimal

from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.ras.documented import component_order, sorted_group
from slotwise.heuristics.run import run_method
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Ackers, Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem

RACKS = {
    "rack-3": (100, 200000, 40),
    "rack-2": (0, 80000, 40),
    "rack-4": (6100, 10000, 40),
    "rack-1": (2000, 40000, 40),
    "rack-0": (4000, 80000, 40),
}
NODES = {"node 1": (50, 1024, 20), "node 2": (50, 8192, 40), "node 3": (1000, 0, 0)}


def names(group: dict[str, tuple[int, int, int]], counts: list[int] | None = None) -> list[str]:
    order = sorted_group(list(group), counts or [0] * len(group), list(group.values()))
    return [list(group)[i] for i in order]


def test_the_documented_racks() -> None:
    assert names(RACKS) == ["rack-0", "rack-1", "rack-4", "rack-3", "rack-2"]


def test_the_documented_nodes() -> None:
    # 1 and 2 both have effective resources of 50 / 1100 = 0.045; 2 has more on average.
    assert names(NODES) == ["node 2", "node 1", "node 3"]


def test_tasks_already_there_come_before_resources() -> None:
    assert names(RACKS, [0, 2, 0, 0, 1])[:2] == ["rack-2", "rack-0"]


def test_ids_break_ties() -> None:
    assert names({"b": (1, 1, 1), "a": (1, 1, 1)}) == ["a", "b"]


def test_components_go_by_their_edges() -> None:
    ids = ("spout", "left", "right", "sink")
    hops = [("spout", "left"), ("spout", "right"), ("left", "sink"), ("right", "sink")]
    streams = (
        *(Stream(a, b) for a, b in hops),
        Stream("left", "right"),
        Stream("left", "right"),
        Stream("sink", "sink"),
    )
    components = tuple(Component(c, "spout" if c == "spout" else "bolt", 1) for c in ids)
    topology = Topology("t", components, streams, ackers=Ackers(1))
    assert component_order(topology) == ["left", "right", "spout", "sink", "__acker"]


def test_the_documented_racks_are_filled_in_their_order() -> None:
    nodes = tuple(
        Node(f"{rack} node", rack, slots=40, resources={"cpu": cpu, "memory_mb": memory})
        for rack, (cpu, memory, _) in RACKS.items()
    )
    need = {"cpu": Decimal(2000), "onheap_mb": Decimal(10000)}
    topology = Topology("t", (Component("s", "spout", 4, need),))
    instance = Instance("racks", Cluster(nodes), (topology,))
    found = run_method(compile_problem(instance), HEURISTICS["ras-paper"], 0)
    assert isinstance(found, Placement)
    racks = [instance.cluster.nodes[node].rack for node in found.nodes]
    # 4000 and 80000 hold two; then cpu is used up there, rack-1 is next by its 2000, then rack-4
    # with memory for one.
    assert racks == ["rack-0", "rack-0", "rack-1", "rack-4"]


def test_topologies_go_by_storms_priority() -> None:
    need = {"cpu": Decimal(60), "onheap_mb": Decimal(1)}
    offer = {"cpu": Decimal(100), "memory_mb": Decimal(10)}
    nodes = (Node("n1", "r", slots=1, resources=offer),)
    late, first = (
        Topology(key, (Component("s", "spout", 1, need),), priority=priority)
        for key, priority in (("late", 9), ("first", 0))
    )
    instance = Instance("two", Cluster(nodes), (late, first), objective=Objective(("rejected",)))
    found = run_method(compile_problem(instance), HEURISTICS["ras-paper"], 0)
    assert found == Placement((-1, 0), (-1, 0))
