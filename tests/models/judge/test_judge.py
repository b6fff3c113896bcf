"""The judge, rule by rule and term by term, with numbers computed by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective, Place, Scheduler
from slotwise.models.instance.placement import UNPLACED, Placement, from_places, to_places
from slotwise.models.instance.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict, Violation
from slotwise.models.problem.compile import compile_problem
from slotwise.testing import instances
from slotwise.testing.random_instances.tiny import tiny_instance

Spots = dict[str, str]
"""Task -> ``node/worker``; ``topology/task`` where there are two topologies."""


def node(key: str, rack: str = "r1", slots: int | None = 4, **resources: str | None) -> Node:
    offered = {k: None if v is None else Decimal(v) for k, v in resources.items()}
    return Node(key, rack, slots=slots, resources=offered)


def component(key: str, parallelism: int = 1, **resources: str) -> Component:
    return Component(key, "bolt", parallelism, {k: Decimal(v) for k, v in resources.items()})


def instance(
    *components: Component,
    nodes: tuple[Node, ...] = (),
    streams: tuple[str, ...] = (),
    terms: tuple[str, ...] = ("overload", "network"),
    soft: dict[str, int] | None = None,
    min_cpu: str = "0",
    **rules: object,
) -> Instance:
    """Return a single topology ``t``; streams are written ``a>b``."""
    edges = tuple(Stream(*edge.split(">")) for edge in streams)
    topology = Topology("t", components, edges, **rules)  # type: ignore[arg-type]
    return Instance(
        "hand",
        Cluster(nodes or (node("n1", cpu=None, memory_mb=None),)),
        (topology,),
        scheduler=Scheduler(Decimal(min_cpu)),
        objective=Objective(terms, soft or {}),
    )


def place(one: Instance, spots: Spots) -> Placement:
    places: dict[str, dict[str, Place]] = {}
    for task, spot in spots.items():
        topology, _, name = task.rpartition("/")
        where, _, label = spot.partition("/")
        places.setdefault(topology or "t", {})[name] = Place(where, int(label))
    return from_places(one, places)


def verdict(one: Instance, spots: Spots) -> Verdict:
    return judge(one, place(one, spots))


def broken(one: Instance, spots: Spots) -> list[str]:
    return [str(violation) for violation in verdict(one, spots).violations]


def values(one: Instance, spots: Spots) -> dict[str, Fraction]:
    answer = verdict(one, spots)
    assert answer.violations == ()
    return {term.term: term.value for term in answer.objective}


# Every task is placed, or its whole topology is left out.


def test_nothing_to_place_is_valid() -> None:
    assert broken(instance(), {}) == []
    assert broken(instance(component("a", 0)), {}) == []


def test_a_missing_task_is_named() -> None:
    one = instance(component("a", 3))
    assert broken(one, {"a[0]": "n1/0"}) == ["placed: topology t, tasks: 3 needed, 1 placed"]
    assert broken(one, {}) == ["placed: topology t, tasks: 3 needed, 0 placed"]


def test_a_topology_may_be_left_out_whole_where_rejected_counts() -> None:
    one = instance(component("a", 3), terms=("rejected",))
    assert broken(one, {}) == []
    assert broken(one, {"a[0]": "n1/0"}) == ["placed: topology t, tasks: 3 needed, 1 placed"]


# Capacity.


def test_capacity_trivial_exact_and_exceeded() -> None:
    one = instance(
        component("a", 3, cpu="10.1"), nodes=(node("n1", cpu="20.2"), node("n2", cpu="99"))
    )
    assert broken(one, {"a[0]": "n2/0", "a[1]": "n2/0", "a[2]": "n2/1"}) == []
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1", "a[2]": "n2/0"}) == []
    answer = verdict(one, {"a[0]": "n1/0", "a[1]": "n1/1", "a[2]": "n1/1"})
    assert answer.violations == (
        Violation("capacity", "node n1", "cpu", Fraction("30.3"), Fraction("20.2")),
    )
    assert str(answer.violations[0]) == "capacity: node n1, cpu: 30.3 needed, 20.2 available"


def test_a_resource_that_a_node_does_not_offer_is_zero() -> None:
    one = instance(component("a", gpu="0.5"), nodes=(node("n1", cpu="1"), node("n2", gpu="1")))
    assert broken(one, {"a[0]": "n2/0"}) == []
    assert broken(one, {"a[0]": "n1/0"}) == ["capacity: node n1, gpu: 0.5 needed, 0 available"]


def test_null_capacity_is_no_limit() -> None:
    one = instance(component("a", 2, cpu="1000000"))
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0"}) == []


def test_heap_and_offheap_memory_load_the_node_together() -> None:
    one = instance(
        component("a", onheap_mb="60", offheap_mb="40"),
        nodes=(node("n1", memory_mb="99"), node("n2", memory_mb="100")),
    )
    assert broken(one, {"a[0]": "n2/0"}) == []
    assert broken(one, {"a[0]": "n1/0"}) == [
        "capacity: node n1, memory_mb: 100 needed, 99 available"
    ]


# Overload.


def test_overload_counts_per_node_and_soft_resource_with_weights() -> None:
    one = instance(
        component("a", 3, cpu="40.5", gpu="1"),
        nodes=(node("n1", cpu="50", gpu="1"), node("n2", cpu="200", gpu="0.5")),
        soft={"cpu": 1, "gpu": 3},
    )
    # n1: cpu 81 - 50 = 31, gpu 2 - 1 = 1 (x3); n2: cpu below, gpu 1 - 0.5 (x3).
    spots = {"a[0]": "n1/0", "a[1]": "n1/0", "a[2]": "n2/0"}
    assert values(one, spots)["overload"] == 31 + 3 + Fraction("1.5")


def test_overload_of_a_weightless_soft_resource_is_free() -> None:
    one = instance(component("a", cpu="9"), nodes=(node("n1", cpu="5"),), soft={"cpu": 0})
    assert values(one, {"a[0]": "n1/0"})["overload"] == 0


# Slots.


def test_slots_exact_and_exceeded() -> None:
    one = instance(component("a", 3), nodes=(node("n1", slots=2), node("n2", slots=None)))
    assert broken(one, {"a[0]": "n1/7", "a[1]": "n1/3", "a[2]": "n1/3"}) == []
    assert broken(one, {"a[0]": "n2/0", "a[1]": "n2/1", "a[2]": "n2/2"}) == []
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1", "a[2]": "n1/2"}) == [
        "slots: node n1, workers: 3 needed, 2 available"
    ]


def test_a_node_without_slots_takes_nothing() -> None:
    one = instance(component("a"), nodes=(node("n1", slots=0),))
    assert broken(one, {"a[0]": "n1/0"}) == ["slots: node n1, workers: 1 needed, 0 available"]


# Two topologies.


def two_topologies(terms: tuple[str, ...] = ("network",), **second: object) -> Instance:
    one = Topology("t", (component("a", cpu="10"),), priority=5)
    two = Topology("u", (component("a", 2, cpu="10"),), **second)  # type: ignore[arg-type]
    cluster = Cluster((node("n1", slots=2, cpu="40"), node("n2", cpu="40")))
    return Instance("two", cluster, (one, two), objective=Objective(terms))


def test_a_worker_has_one_topology() -> None:
    one = two_topologies()
    assert broken(one, {"t/a[0]": "n1/0", "u/a[0]": "n1/1", "u/a[1]": "n1/1"}) == []
    assert broken(one, {"t/a[0]": "n1/0", "u/a[0]": "n2/0", "u/a[1]": "n1/0"}) == [
        "one_topology_per_worker: node n1 worker 0, t and u: 2 needed, 1 available"
    ]


def test_tasks_of_two_topologies_load_a_node_together() -> None:
    one = two_topologies()
    small = replace(one, cluster=Cluster((node("n1", cpu="25"),)))
    assert broken(small, {"t/a[0]": "n1/0", "u/a[0]": "n1/1", "u/a[1]": "n1/1"}) == [
        "capacity: node n1, cpu: 30 needed, 25 available"
    ]


# Heap.


def test_heap_of_a_worker_exact_and_exceeded() -> None:
    one = instance(component("a", 2, onheap_mb="50.5", offheap_mb="900"), worker_max_heap_mb="100")
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1"}) == []
    assert broken(one, {"a[0]": "n1/3", "a[1]": "n1/3"}) == [
        "heap: node n1 worker 3, on-heap memory of t: 101 needed, 100 available"
    ]
    wide = instance(component("a", 2, onheap_mb="50"), worker_max_heap_mb="100")
    assert broken(wide, {"a[0]": "n1/3", "a[1]": "n1/3"}) == []


def test_shared_heap_counts_once_per_worker() -> None:
    region = SharedMemory("cache", "onheap", Decimal(30), ("a", "b"))
    one = instance(
        component("a", 2, onheap_mb="20"),
        component("b", onheap_mb="20"),
        worker_max_heap_mb="89",
        shared_memory=(region,),
    )
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0", "b[0]": "n1/1"}) == []
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0", "b[0]": "n1/0"}) == [
        "heap: node n1 worker 0, on-heap memory of t: 90 needed, 89 available"
    ]


# Shared memory on the node.


@pytest.mark.parametrize(
    ("kind", "in_one_worker", "in_two_workers", "on_two_nodes"),
    [
        ("onheap", (50, 0), (60, 0), (30, 30)),
        ("offheap_worker", (50, 0), (60, 0), (30, 30)),
        ("offheap_node", (50, 0), (50, 0), (30, 30)),
    ],
)
def test_shared_memory_is_counted_per_worker_or_node(
    kind: str,
    in_one_worker: tuple[int, int],
    in_two_workers: tuple[int, int],
    on_two_nodes: tuple[int, int],
) -> None:
    region = SharedMemory("cache", kind, Decimal(10), ("a",))
    one = instance(
        component("a", 2, onheap_mb="20"),
        nodes=(node("n1", memory_mb=None), node("n2", memory_mb=None)),
        shared_memory=(region,),
    )
    cases = {"n1/0": in_one_worker, "n1/1": in_two_workers, "n2/0": on_two_nodes}
    for second, (first_node, second_node) in cases.items():
        loads = verdict(one, {"a[0]": "n1/0", "a[1]": second}).node_loads()
        assert [row["load"]["memory_mb"] for row in loads] == [first_node, second_node]


def test_shared_memory_stays_away_where_no_task_of_its_components_is() -> None:
    region = SharedMemory("cache", "offheap_node", Decimal(10), ("b",))
    one = instance(component("a"), component("b", 0), shared_memory=(region,))
    assert verdict(one, {"a[0]": "n1/0"}).node_loads()[0]["load"]["memory_mb"] == 0


def test_shared_node_memory_breaks_a_capacity() -> None:
    region = SharedMemory("cache", "offheap_node", Decimal("0.5"), ("a",))
    one = instance(
        component("a", 2, onheap_mb="20"),
        nodes=(node("n1", memory_mb="40"),),
        shared_memory=(region,),
    )
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1"}) == [
        "capacity: node n1, memory_mb: 40.5 needed, 40 available"
    ]


def test_each_topology_has_its_own_node_region() -> None:
    shared = (SharedMemory("cache", "offheap_node", Decimal(10), ("a",)),)
    both = tuple(Topology(key, (component("a"),), shared_memory=shared) for key in ("t", "u"))
    one = Instance("two", Cluster((node("n1", memory_mb="19"),)), both)
    assert broken(one, {"t/a[0]": "n1/0", "u/a[0]": "n1/1"}) == [
        "capacity: node n1, memory_mb: 20 needed, 19 available"
    ]


# Least cpu of a worker.


def test_a_worker_bills_the_larger_of_its_sum_and_the_minimum() -> None:
    one = instance(component("a", 3, cpu="10"), nodes=(node("n1", cpu="45"),), min_cpu="25")
    # Two tasks 20 -> 25, one task 10 -> 25; all three in one worker: 30.
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0", "a[2]": "n1/0"}) == []
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0", "a[2]": "n1/1"}) == [
        "capacity: node n1, cpu: 50 needed, 45 available"
    ]


def test_a_minimum_needs_cpu_even_of_tasks_that_need_none() -> None:
    one = instance(component("a"), nodes=(node("n1", memory_mb="1"),), min_cpu="0.5")
    assert broken(one, {"a[0]": "n1/0"}) == ["capacity: node n1, cpu: 0.5 needed, 0 available"]


# Isolation inside a worker.


def test_one_task_per_worker() -> None:
    one = instance(component("a", 2), one_task_per_worker=True, one_component_per_worker=True)
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1"}) == []
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0"}) == [
        "one_task_per_worker: node n1 worker 0, t: 2 needed, 1 available"
    ]


def test_one_component_per_worker() -> None:
    one = instance(component("a", 2), component("b"), one_component_per_worker=True)
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0", "b[0]": "n1/1"}) == []
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1", "b[0]": "n1/1"}) == [
        "one_component_per_worker: node n1 worker 1, t: 2 needed, 1 available"
    ]


def test_incompatible_components() -> None:
    rule = Constraints(incompatible=(("b", "a"),))
    one = instance(component("a", 2), component("b"), component("c"), constraints=rule)
    apart = {"a[0]": "n1/0", "a[1]": "n1/0", "b[0]": "n1/1", "c[0]": "n1/1"}
    assert broken(one, apart) == []
    assert broken(one, apart | {"b[0]": "n1/0"}) == [
        "incompatible: node n1 worker 0, a and b: 2 needed, 1 available"
    ]


def test_incompatible_with_itself() -> None:
    one = instance(component("a", 3), constraints=Constraints(incompatible=(("a", "a"),)))
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1", "a[2]": "n1/2"}) == []
    assert broken(one, {"a[0]": "n1/5", "a[1]": "n1/5", "a[2]": "n1/5"}) == [
        "incompatible: node n1 worker 5, a and a: 3 needed, 1 available"
    ]


def test_incompatible_sees_a_component_whole_whatever_its_classes() -> None:
    """The two tasks differ in where they run now, and are tasks of one component all the same."""
    one = instance(component("a", 2), constraints=Constraints(incompatible=(("a", "a"),)))
    running = {"t": {"a[0]": Place("n1", 0)}}
    split = replace(one, running=running)
    assert len(compile_problem(split).classes) == 2
    assert broken(split, {"a[0]": "n1/0", "a[1]": "n1/0"}) == [
        "incompatible: node n1 worker 0, a and a: 2 needed, 1 available"
    ]


def test_an_empty_component_is_compatible_with_all() -> None:
    rule = Constraints(incompatible=(("a", "b"),), max_per_node={"b": 1})
    one = instance(component("a", 2), component("b", 0), constraints=rule)
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/0"}) == []


def test_most_tasks_per_node() -> None:
    one = instance(
        component("a", 3),
        nodes=(node("n1"), node("n2")),
        constraints=Constraints(max_per_node={"a": 2}),
    )
    assert broken(one, {"a[0]": "n1/0", "a[1]": "n1/1", "a[2]": "n2/0"}) == []
    assert broken(one, {"a[0]": "n2/0", "a[1]": "n2/1", "a[2]": "n2/1"}) == [
        "max_per_node: node n2, a: 3 needed, 2 available"
    ]


def test_ackers_load_their_node_and_must_be_placed() -> None:
    ackers = Ackers(2, resources={"cpu": Decimal(5)})
    one = instance(component("a", cpu="10"), nodes=(node("n1", cpu="15"),), ackers=ackers)
    assert one.task_names() == (("t", "a[0]"), ("t", "__acker[0]"), ("t", "__acker[1]"))
    spots = {"a[0]": "n1/0", "__acker[0]": "n1/0"}
    assert broken(one, spots) == ["placed: topology t, tasks: 3 needed, 2 placed"]
    assert broken(one, spots | {"__acker[1]": "n1/0"}) == [
        "capacity: node n1, cpu: 20 needed, 15 available"
    ]


# Network.

FOUR_PLACES = (node("n1", "r1"), node("n2", "r1"), node("n3", "r2"))


def test_pairs_by_level_and_their_distances() -> None:
    one = instance(component("a"), component("b", 4), nodes=FOUR_PLACES, streams=("a>b",))
    answer = verdict(
        one, {"a[0]": "n1/0", "b[0]": "n1/0", "b[1]": "n1/1", "b[2]": "n2/0", "b[3]": "n3/0"}
    )
    assert answer.flow_by_level == (1, 1, 1, 1)
    assert answer.parts["network"] == 0 + 1 + 2 + 3
    cluster = replace(
        one.cluster, distance=Distance(Decimal("0.5"), Decimal(1), Decimal("1.25"), 7)
    )
    spots = {f"b[{i}]": spot for i, spot in enumerate(("n1/0", "n1/1", "n2/0", "n3/0"))}
    far = values(replace(one, cluster=cluster), {"a[0]": "n1/0"} | spots)
    assert far["network"] == Fraction("9.75")


def test_parallel_and_self_streams_and_both_directions() -> None:
    one = instance(
        component("a", 2),
        component("b", 2),
        nodes=FOUR_PLACES,
        streams=("a>b", "a>b", "a>a", "b>a"),
    )
    # 4 pairs forth and 4 back, all between racks; the self stream does not count.
    spots = {"a[0]": "n1/0", "a[1]": "n1/0", "b[0]": "n3/0", "b[1]": "n3/0"}
    assert values(one, spots)["network"] == 8 * 3


def test_matrix_is_paid_in_the_streams_direction_and_on_the_diagonal() -> None:
    rows = ((Decimal("0.5"), Decimal(7), 1), (2, 0, 1), (1, 1, 0))
    one = instance(component("a"), component("b", 3), nodes=FOUR_PLACES, streams=("a>b",))
    one = replace(one, cluster=replace(one.cluster, matrix=rows))
    # From n1: to n1 in another worker 0.5, to n2 7, to n2 7.
    spots = {"a[0]": "n1/0", "b[0]": "n1/1", "b[1]": "n2/0", "b[2]": "n2/1"}
    assert values(one, spots)["network"] == Fraction("14.5")
    back = replace(one, topologies=(replace(one.topologies[0], streams=(Stream("b", "a"),)),))
    assert values(back, spots)["network"] == Fraction("0.5") + 2 + 2


def rated(*streams: Stream, sources: int = 2, targets: int = 3) -> Instance:
    one = instance(component("a", sources), component("b", targets), nodes=FOUR_PLACES)
    return replace(one, topologies=(replace(one.topologies[0], streams=streams),), flow="rates")


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        ("shuffle", 12 * 3),  # spread over all pairs, all across racks
        ("local_or_shuffle", 12 * 3),
        ("fields", 12 * 3),
        ("all", 12 * 3 * 3),  # each of three targets receives all
        ("global", 12 * 3),  # the first target alone
    ],
)
def test_rates_by_grouping(grouping: str, expected: int) -> None:
    one = rated(Stream("a", "b", grouping, Decimal(6), Decimal(2)))
    spots = {f"a[{i}]": "n1/0" for i in range(2)} | {f"b[{i}]": "n3/0" for i in range(3)}
    assert values(one, spots)["network"] == expected


def test_global_grouping_reaches_the_first_task_only() -> None:
    one = rated(Stream("a", "b", "global", Decimal(6)))
    senders = {"a[0]": "n1/0", "a[1]": "n1/0"}
    near = senders | {"b[0]": "n1/0", "b[1]": "n3/0", "b[2]": "n3/0"}
    far = senders | {"b[0]": "n3/0", "b[1]": "n1/0", "b[2]": "n1/0"}
    assert values(one, near)["network"] == 0
    assert values(one, far)["network"] == 18


def test_parallel_streams_add_their_rates() -> None:
    one = rated(
        Stream("a", "b", "shuffle", Decimal(1)),
        Stream("a", "b", "fields", Decimal("0.5"), Decimal(4)),
        sources=1,
        targets=1,
    )
    assert values(one, {"a[0]": "n1/0", "b[0]": "n2/0"})["network"] == (1 + 2) * 2


def test_rates_that_do_not_divide_are_rounded_to_six_digits() -> None:
    one = rated(Stream("a", "b", "shuffle", Decimal(1)), sources=1, targets=3)
    spots = {"a[0]": "n1/0", "b[0]": "n1/1", "b[1]": "n1/1", "b[2]": "n1/1"}
    assert values(one, spots)["network"] == 3 * Fraction("0.333333")


# Other terms.


def test_rejected_weights_rise_with_priority() -> None:
    one = two_topologies(("rejected",), priority=2)
    # t has priority 5 (the lowest): 1; u priority 2: 5 - 2 + 1 = 4.
    placed = {"u/a[0]": "n1/0", "u/a[1]": "n1/0"}
    assert values(one, placed) == {"rejected": 1}
    assert values(one, {"t/a[0]": "n1/0"}) == {"rejected": 4}
    assert values(one, {}) == {"rejected": 5}
    assert values(one, placed | {"t/a[0]": "n2/0"}) == {"rejected": 0}


def test_a_topology_without_tasks_is_never_rejected() -> None:
    one = instance(component("a", 0), terms=("rejected",))
    assert values(one, {}) == {"rejected": 0}


def test_nodes_and_workers_in_use() -> None:
    one = two_topologies(("nodes", "workers"))
    spots = {"t/a[0]": "n1/0", "u/a[0]": "n1/1", "u/a[1]": "n1/1"}
    assert values(one, spots) == {"nodes": 1, "workers": 2}
    assert values(one, spots | {"u/a[1]": "n2/1"}) == {"nodes": 2, "workers": 3}


def test_a_worker_of_two_topologies_is_one_worker() -> None:
    """No rule allows it, but what it costs is defined: slots and the term count places."""
    one = two_topologies(("workers", "nodes"))
    shared = {"t/a[0]": "n1/7", "u/a[0]": "n1/7", "u/a[1]": "n1/2"}
    assert [term.value for term in verdict(one, shared).objective] == [2, 1]
    apart = verdict(one, shared | {"u/a[1]": "n2/7"})
    assert [term.value for term in apart.objective] == [2, 2]
    assert [rule.partition(":")[0] for rule in broken(one, shared)] == ["one_topology_per_worker"]
    tight = replace(one, cluster=Cluster((node("n1", slots=1, cpu="40"),)))
    assert [rule.partition(":")[0] for rule in broken(tight, shared)] == [
        "slots",
        "one_topology_per_worker",
    ]


def test_moved_counts_node_and_label_of_running_tasks() -> None:
    base = instance(component("a", 4), nodes=(node("n1"), node("n2")))
    running = {"t": {"a[0]": Place("n1", 5), "a[1]": Place("n1", 5), "a[2]": Place("n2", 0)}}
    one = replace(base, running=running, objective=Objective(("moved",)))
    home = {"a[0]": "n1/5", "a[1]": "n1/5", "a[2]": "n2/0", "a[3]": "n2/3"}
    assert values(one, home) == {"moved": 0}
    assert values(one, home | {"a[0]": "n1/0"}) == {"moved": 1}
    assert values(one, home | {"a[1]": "n2/5", "a[2]": "n1/0"}) == {"moved": 2}


def test_a_running_topology_that_is_rejected_has_moved() -> None:
    running = {"t": {"a[0]": Place("n1", 5)}}
    objective = Objective(("rejected+moved",))
    one = replace(instance(component("a", 2)), running=running, objective=objective)
    assert values(one, {}) == {"rejected+moved": 2}


def test_linear_costs_add_to_the_network_at_the_finer_scale() -> None:
    base = instance(
        component("a"),
        component("b"),
        nodes=FOUR_PLACES,
        streams=("a>b",),
        terms=("network+linear",),
    )
    costs = (LinearCost("a[0]", "n1", Decimal("0.25")), LinearCost("t/b[0]", "n3", Decimal(4)))
    one = replace(base, linear=costs)
    assert values(one, {"a[0]": "n1/0", "b[0]": "n3/0"}) == {"network+linear": Fraction("7.25")}
    assert values(one, {"a[0]": "n2/0", "b[0]": "n2/0"}) == {"network+linear": 0}
    assert verdict(one, {"a[0]": "n1/0", "b[0]": "n3/0"}).scaled == (725,)


def test_parts_outside_the_objective_are_reported_too() -> None:
    one = instance(component("a", 2), terms=("nodes",))
    answer = verdict(one, {"a[0]": "n1/0", "a[1]": "n1/1"})
    assert answer.scaled == (1,)
    assert answer.parts["workers"] == 2


# Shape, and the written verdict.


def test_a_placement_of_another_instance_is_refused() -> None:
    one = instance(component("a", 2))
    with pytest.raises(InputError, match="one entry per task"):
        judge(one, Placement((0,), (0,)))
    with pytest.raises(InputError, match="below the number of nodes"):
        judge(one, Placement((0, 1), (0, 0)))


def test_verdict_document() -> None:
    one = instance(
        component("a", 2, cpu="10", onheap_mb="5"),
        nodes=(node("n1", cpu="15", memory_mb=None),),
        streams=(),
    )
    document = verdict(one, {"a[0]": "n1/0", "a[1]": "n1/3"}).to_document()
    assert document["valid"] is False
    assert document["violations"] == [
        {"rule": "capacity", "place": "node n1", "subject": "cpu", "needed": 20, "available": 15}
    ]
    assert document["objective"] == [
        {"term": "overload", "value": 0},
        {"term": "network", "value": 0},
    ]
    assert document["nodes"][0]["capacity"] == {"cpu": 15, "memory_mb": None}
    assert [row["worker"] for row in document["workers"]] == [0, 3]
    assert document["workers"][0]["onheap_mb"] == 5


# Naive recomputation, task by task, from the instance itself (no classes, no scales).


def random_placement(one: Instance, rng: np.random.Generator) -> Placement:
    tasks = len(one.task_names())
    nodes = rng.integers(0, len(one.cluster.nodes), tasks)
    labels = rng.integers(0, 3, tasks)
    if rng.random() < 0.2:
        nodes[rng.random(tasks) < 0.3] = UNPLACED
        labels[nodes == UNPLACED] = UNPLACED
    return Placement(tuple(nodes.tolist()), tuple(labels.tolist()))


def pair_weight(one: Instance, topology: Topology, source: str, target: str) -> Fraction:
    """Weight from task `source` to task `target`, both written ``component[index]``."""
    a, b = source.split("[")[0], target.split("[")[0]
    streams = [s for s in topology.streams if (s.source, s.target) == (a, b) and a != b]
    if one.flow == "pairs":
        return Fraction(bool(streams))
    size = {c.id: c.parallelism for c in topology.components}
    exact: dict[bool, Fraction] = {}
    for s in streams:
        assert s.rate is not None
        volume = Fraction(s.rate) * Fraction(1 if s.tuple_bytes is None else s.tuple_bytes)
        first = s.grouping == "global"
        spread = 1 if s.grouping in ("all", "global") else size[b]
        exact[first] = exact.get(first, Fraction(0)) + volume / size[a] / spread
    received = [weight for first, weight in exact.items() if not first or target == f"{b}[0]"]
    return sum(map(six_digits, received), Fraction(0))


def six_digits(weight: Fraction) -> Fraction:
    if (weight * 10**6).denominator == 1:
        return weight
    number = float(f"{float(weight):.5e}")
    return Fraction(round(Decimal(repr(number)), 6))


def naive_network(one: Instance, places: dict[tuple[str, str], Place]) -> Fraction:
    cluster = one.cluster
    index = {n.id: i for i, n in enumerate(cluster.nodes)}
    rack = {n.id: n.rack for n in cluster.nodes}
    total = Fraction(0)
    for (t, source), (u, target) in itertools.permutations(places, 2):
        if t != u:
            continue
        here, there = places[t, source], places[u, target]
        worker, same_node, same_rack, far = cluster.distance.levels
        if cluster.matrix is not None:
            distance = cluster.matrix[index[here.node]][index[there.node]]
        elif here == there:
            distance = worker
        elif here.node == there.node:
            distance = same_node
        else:
            distance = same_rack if rack[here.node] == rack[there.node] else far
        topology = next(x for x in one.topologies if x.id == t)
        total += pair_weight(one, topology, source, target) * Fraction(distance)
    return total


def naive_loads(one: Instance, places: dict[tuple[str, str], Place]) -> Counter[tuple[str, str]]:
    """Load by (node, dimension)."""
    in_worker: dict[tuple[str, Place], list[Component]] = {}
    for (t, task), spot in places.items():
        topology = next(x for x in one.topologies if x.id == t)
        kind = next(c for c in topology.placed_components if c.id == task.split("[")[0])
        in_worker.setdefault((t, spot), []).append(kind)
    loads: Counter[tuple[str, str]] = Counter()
    on_node: set[tuple[str, str, str]] = set()
    for (t, spot), kinds in in_worker.items():
        topology = next(x for x in one.topologies if x.id == t)
        cpu = sum((kind.resources.get("cpu", Decimal(0)) for kind in kinds), Decimal(0))
        loads[spot.node, "cpu"] += max(cpu, one.scheduler.worker_min_cpu)  # type: ignore[assignment]
        for kind in kinds:
            for key, amount in kind.resources.items():
                if key != "cpu":
                    dim = "memory_mb" if key.endswith("heap_mb") else key
                    loads[spot.node, dim] += amount  # type: ignore[assignment]
        for region in topology.shared_memory:
            if not {kind.id for kind in kinds} & set(region.components):
                continue
            seen = (t, spot.node, region.id)
            if region.kind != "offheap_node" or seen not in on_node:
                loads[spot.node, "memory_mb"] += region.mb  # type: ignore[assignment]
            on_node.add(seen)
    return loads


def check_against_naive(one: Instance, placement: Placement) -> bool:
    places = {
        (t, task): spot
        for t, tasks in to_places(one, placement).items()
        for task, spot in tasks.items()
    }
    answer = judge(one, placement)
    assert answer.parts["network"] == naive_network(one, places)
    loads = naive_loads(one, places)
    problem = answer.problem
    overload = Fraction(0)
    for n, at in enumerate(one.cluster.nodes):
        for d, name in enumerate(problem.dims):
            load = int(answer.accounting.node_load[n, d]) * problem.units[d]
            assert load == Fraction(loads[at.id, name])
            capacity = at.resources.get(name, Decimal(0))
            over = Fraction(0) if capacity is None else max(Fraction(0), load - Fraction(capacity))
            overload += one.objective.soft.get(name, 0) * over
            hard = name not in one.objective.soft
            said = any(
                v.rule == "capacity" and v.place == f"node {at.id}" and v.subject == name
                for v in answer.violations
            )
            assert said == (hard and over > 0)
    assert answer.parts["overload"] == overload
    return bool(places)


def test_equals_naive_recomputation() -> None:
    rng = np.random.default_rng(5)
    placed = 0
    for _ in range(400):
        one = tiny_instance(rng)
        placed += check_against_naive(one, random_placement(one, rng))
    assert placed >= 300


@pytest.mark.slow
@given(instances(wide_numbers=True), st.integers(0, 10**6))
def test_equals_naive_recomputation_on_any_instance(one: Instance, seed: int) -> None:
    placement = random_placement(one, np.random.default_rng(seed))
    event(f"something placed: {check_against_naive(one, placement)}")


@pytest.mark.slow
@given(instances(wide_numbers=True), st.integers(0, 10**6), st.permutations(range(3)))
def test_worker_labels_are_names_only(one: Instance, seed: int, names: list[int]) -> None:
    """Renaming the workers of a node changes nothing but the part ``moved``, here without limit."""
    one = replace(one, objective=replace(one.objective, limits={}))
    placement = random_placement(one, np.random.default_rng(seed))
    renamed = replace(
        placement, workers=tuple(w if w == UNPLACED else names[w] + 4 for w in placement.workers)
    )
    before, after = judge(one, placement), judge(one, renamed)
    assert before.valid == after.valid
    kept = {part: value for part, value in before.parts.items() if part != "moved"}
    assert kept == {part: value for part, value in after.parts.items() if part != "moved"}
