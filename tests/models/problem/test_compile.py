"""Compiling: exact scaling, classes of interchangeable tasks, flows, sizes."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import (
    MAX_TASKS,
    Instance,
    LinearCost,
    Objective,
    Place,
    Scheduler,
)
from slotwise.models.instance.topology import Ackers, Component, SharedMemory, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.problem.scaling import Scale
from slotwise.models.values import MAX_VALUE, NO_LIMIT, exact
from slotwise.testing import instances

D = Decimal


def one_topology(
    components: dict[str, int],
    *streams: Stream,
    nodes: int = 2,
    **keys: object,
) -> Instance:
    """Return an instance of topology ``t`` on `nodes` nodes without limits."""
    topology = Topology(
        "t", tuple(Component(key, "bolt", p) for key, p in components.items()), streams
    )
    cluster = Cluster(tuple(Node(f"n{n}", "r") for n in range(nodes)))
    return Instance("one", cluster, (topology,), **keys)  # type: ignore[arg-type]


def resources(capacity: str | None, *demands: str) -> Problem:
    """Compile components that each need `demands` of resource ``x`` on one node of `capacity`."""
    components = tuple(
        Component(f"c{i}", "bolt", 1, {"x": D(demand)}) for i, demand in enumerate(demands)
    )
    node = Node("n", "r", resources={"x": None if capacity is None else D(capacity)})
    return compile_problem(Instance("x", Cluster((node,)), (Topology("t", components),)))


def flows(problem: Problem) -> dict[tuple[str, str], Fraction]:
    """Return the weight of one pair of tasks by the first tasks of the classes."""
    names = [name for _, name in problem.instance.task_names()]
    return {
        (
            names[problem.classes[flow.source].tasks[0]],
            names[problem.classes[flow.target].tasks[0]],
        ): flow.weight * problem.flow_unit
        for flow in problem.flows
    }


# Scaling


def test_a_tenth_and_two_tenths_are_three_tenths() -> None:
    problem = resources("0.3", "0.1", "0.2")
    assert problem.demand.tolist() == [[1], [2]]
    assert problem.capacity.tolist() == [[3]]
    assert problem.units == (Fraction(1, 10),)


def test_a_dimension_is_divided_by_its_gcd() -> None:
    problem = resources("4096", "128", "256")
    assert problem.demand.tolist() == [[1], [2]]
    assert problem.capacity.tolist() == [[32]]
    assert problem.units == (Fraction(128),)


def test_floats_are_read_as_their_shortest_text() -> None:
    assert exact(0.1, "x") + exact(0.2, "x") == D("0.3")
    assert exact(1e15, "x") == MAX_VALUE
    assert str(exact(D("-0"), "x")) == "0"


def test_no_limit_and_not_offered() -> None:
    assert resources(None, "1").capacity.tolist() == [[NO_LIMIT]]
    node = Node("n", "r")
    topology = Topology("t", (Component("c", "bolt", 1, {"x": D(5)}),))
    problem = compile_problem(Instance("x", Cluster((node,)), (topology,)))
    assert problem.capacity.tolist() == [[0]]


@given(st.lists(st.decimals(0, 10**6, places=6), min_size=1, max_size=6))
def test_a_scale_is_exact_and_the_coarsest(values: list[Decimal]) -> None:
    scale = Scale.fitting(values)
    scaled = [scale(value) for value in values]
    assert [number * scale.unit for number in scaled] == [Fraction(value) for value in values]
    if any(scaled):
        divisors = [d for d in range(2, 50) if all(number % d == 0 for number in scaled)]
        assert divisors == []


def test_memory_has_one_scale_with_heap_and_regions() -> None:
    component = Component("c", "bolt", 1, {"onheap_mb": D(100), "offheap_mb": D("0.5")})
    region = SharedMemory("s", "onheap", D(50), ("c",))
    topology = Topology("t", (component,), worker_max_heap_mb=D(200), shared_memory=(region,))
    node = Node("n", "r", resources={"memory_mb": D(1000)})
    problem = compile_problem(Instance("m", Cluster((node,)), (topology,)))
    assert problem.units == (Fraction(1, 2),)
    assert problem.demand.tolist() == [[201]]
    assert problem.heap.tolist() == [200]
    assert problem.rules[0].heap_limit == 400
    assert problem.regions[0].size == 100


def test_the_minimum_of_a_worker_is_a_cpu_number() -> None:
    instance = one_topology({"a": 1}, scheduler=Scheduler(D("12.5")))
    problem = compile_problem(instance)
    assert problem.dims == ("cpu",)
    assert problem.min_worker_cpu * problem.units[0] == Fraction(25, 2)


def test_parts_of_a_sum_share_the_finer_scale() -> None:
    instance = one_topology(
        {"a": 1, "b": 1},
        Stream("a", "b", rate=D("0.5")),
        flow="rates",
        linear=(LinearCost("a[0]", "n0", D("0.125")),),
        objective=Objective(("network + linear",)),
    )
    problem = compile_problem(instance)
    (term,) = problem.terms
    assert term.name == "network+linear"
    assert term.unit == Fraction(1, 1000)
    assert dict(term.parts) == {"network": 100, "linear": 1}


def test_distances_scale_by_themselves() -> None:
    instance = one_topology({"a": 1, "b": 1}, Stream("a", "b"))
    distance = Distance(D(0), D("0.5"), D("1.25"), D(3))
    problem = compile_problem(
        replace(instance, cluster=replace(instance.cluster, distance=distance))
    )
    assert problem.distance.tolist() == [0, 50, 125, 300]
    assert problem.part_units["network"] == Fraction(1, 100)


# Too large


def test_a_resource_whose_sum_leaves_64_bits_is_refused_by_name() -> None:
    components = (Component("c", "bolt", 5000, {"x": D(10**15)}), Component("d", "bolt", 1))
    small = Component("e", "bolt", 1, {"x": D(1)})
    node = Node("n", "r", resources={"x": None})
    instance = Instance("big", Cluster((node,)), (Topology("t", (*components, small)),))
    with pytest.raises(InputError, match=r"^resource x = 5\d+: could reach 2\^62"):
        compile_problem(instance)


def test_capacities_count_too() -> None:
    nodes = tuple(Node(f"n{n}", "r", resources={"x": MAX_VALUE - n % 2}) for n in range(5000))
    with pytest.raises(InputError, match=r"^resource x = .*could reach 2\^62"):
        compile_problem(Instance("big", Cluster(nodes), (Topology("t", ()),)))


def test_a_term_above_the_integers_of_a_double_is_refused_by_name() -> None:
    instance = one_topology({"a": 1, "b": 1}, Stream("a", "b", rate=D(10**15)), flow="rates")
    compile_problem(instance)
    finer = replace(instance, cluster=replace(instance.cluster, distance=Distance(cluster=D(10))))
    with pytest.raises(InputError, match=r"^objective term network = 1\d+: could reach 2\^53"):
        compile_problem(finer)


def test_a_term_that_is_not_asked_for_may_be_large() -> None:
    linear = (LinearCost("a[0]", "n0", D(10**15)), LinearCost("b[0]", "n1", D("0.1")))
    instance = one_topology({"a": 1, "b": 1}, linear=linear)
    compile_problem(instance)
    with pytest.raises(InputError, match="objective term linear"):
        compile_problem(replace(instance, objective=Objective(("linear",))))


def test_too_many_tasks_are_refused_before_they_are_listed() -> None:
    with pytest.raises(InputError, match=r"topologies\[0\]\.components\[1\]\.parallelism"):
        one_topology({"a": 1, "b": MAX_TASKS})


# Classes


def test_a_component_is_one_class() -> None:
    problem = compile_problem(one_topology({"a": 3, "b": 0, "c": 2}))
    assert [one.tasks for one in problem.classes] == [(0, 1, 2), (3, 4)]
    assert problem.task_class.tolist() == [0, 0, 0, 1, 1]
    assert [key for _, key in problem.components] == ["a", "b", "c"]


def test_a_global_stream_sets_the_first_task_apart() -> None:
    streams = (Stream("a", "b", "global", rate=D(6)),)
    problem = compile_problem(one_topology({"a": 2, "b": 3}, *streams, flow="rates"))
    assert [one.tasks for one in problem.classes] == [(0, 1), (2,), (3, 4)]
    pairs = compile_problem(one_topology({"a": 2, "b": 3}, *streams))
    assert [one.tasks for one in pairs.classes] == [(0, 1), (2, 3, 4)]


def test_tasks_with_other_costs_are_other_classes() -> None:
    linear = (LinearCost("a[1]", "n0", D(5)), LinearCost("t/a[2]", "n0", D(5)))
    problem = compile_problem(one_topology({"a": 4}, linear=linear))
    assert [one.tasks for one in problem.classes] == [(0, 3), (1, 2)]
    assert problem.linear is not None
    assert problem.linear.tolist() == [[0, 0], [5, 0]]


def test_a_cost_of_nothing_sets_nobody_apart() -> None:
    problem = compile_problem(one_topology({"a": 2}, linear=(LinearCost("a[1]", "n0", D(0)),)))
    assert len(problem.classes) == 1
    assert problem.linear is None


def test_tasks_that_run_elsewhere_are_other_classes() -> None:
    running = {"t": {"a[0]": Place("n1", 6700), "a[2]": Place("n1", 6700)}}
    problem = compile_problem(one_topology({"a": 4}, running=running))
    assert [(one.tasks, one.home) for one in problem.classes] == [
        ((0, 2), (1, 6700)),
        ((1, 3), None),
    ]


def test_ackers_are_a_class_without_flows() -> None:
    topology = Topology(
        "t",
        (Component("a", "spout", 1), Component("b", "bolt", 1)),
        (Stream("a", "b"),),
        ackers=Ackers(2, resources={"cpu": D(10)}),
    )
    problem = compile_problem(Instance("x", Cluster((Node("n", "r"),)), (topology,)))
    assert problem.classes[2].tasks == (2, 3)
    assert problem.demand.tolist() == [[0], [0], [1]]
    assert flows(problem) == {("a[0]", "b[0]"): 1}


@given(instances(wide_numbers=True))
def test_classes_are_a_partition_in_canonical_order(instance: Instance) -> None:
    problem = compile_problem(instance)
    tasks = sorted(task for one in problem.classes for task in one.tasks)
    assert tasks == list(range(len(instance.task_names())))
    assert [one.tasks[0] for one in problem.classes] == sorted(c.tasks[0] for c in problem.classes)
    for index, one in enumerate(problem.classes):
        assert {problem.task_class[task] for task in one.tasks} == {index}
    for flow in problem.flows:
        assert flow.source != flow.target
        assert flow.weight > 0
    pairs = [(flow.source, flow.target) for flow in problem.flows]
    assert pairs == sorted(set(pairs))


@given(instances(wide_numbers=True))
def test_compiled_numbers_are_the_instances(instance: Instance) -> None:
    problem = compile_problem(instance)
    for n, node in enumerate(instance.cluster.nodes):
        for d, key in enumerate(problem.dims):
            offered = node.resources.get(key, D(0))
            compiled = int(problem.capacity[n, d])
            if offered is None:
                assert compiled == NO_LIMIT
            else:
                assert compiled * problem.units[d] == Fraction(offered)
    assert not problem.capacity.flags.writeable


# Flows


def test_pairs_count_each_ordered_pair_once() -> None:
    streams = (Stream("a", "b", "all"), Stream("a", "b", "global"), Stream("b", "a"))
    problem = compile_problem(one_topology({"a": 2, "b": 3}, *streams))
    assert flows(problem) == {("a[0]", "b[0]"): 1, ("b[0]", "a[0]"): 1}
    assert problem.pair_flows() == {(0, 1): 2}


@pytest.mark.parametrize("flow", ["pairs", "rates"])
def test_self_streams_and_empty_components_have_no_flow(flow: str) -> None:
    streams = (Stream("a", "a"), Stream("a", "b", rate=D(5)), Stream("b", "c", rate=D(5)))
    problem = compile_problem(one_topology({"a": 2, "b": 0, "c": 1}, *streams, flow=flow))
    assert flows(problem) == {}


GROUPED = {
    # 24 tuples a second from 2 tasks to 3, 10 bytes each
    "shuffle": {("a[0]", "b[0]"): 40},
    "fields": {("a[0]", "b[0]"): 40},
    "local_or_shuffle": {("a[0]", "b[0]"): 40},
    "none": {("a[0]", "b[0]"): 40},
    "direct": {("a[0]", "b[0]"): 40},
    "custom": {("a[0]", "b[0]"): 40},
    "all": {("a[0]", "b[0]"): 120},
    "global": {("a[0]", "b[0]"): 120},
}


@pytest.mark.parametrize("grouping", GROUPED)
def test_rates_are_divided_by_grouping(grouping: str) -> None:
    stream = Stream("a", "b", grouping, rate=D(24), tuple_bytes=D(10))
    problem = compile_problem(one_topology({"a": 2, "b": 3}, stream, flow="rates"))
    assert flows(problem) == GROUPED[grouping]


def test_parallel_rates_add_up_also_with_a_global_one() -> None:
    streams = (
        Stream("a", "b", rate=D(24)),
        Stream("a", "b", rate=D("0.6")),
        Stream("a", "b", "global", rate=D(10)),
    )
    problem = compile_problem(one_topology({"a": 2, "b": 3}, *streams, flow="rates"))
    shared = Fraction(246, 60)
    assert flows(problem) == {("a[0]", "b[0]"): shared + 5, ("a[0]", "b[1]"): shared}


def test_a_rate_that_does_not_divide_is_rounded_to_six_digits() -> None:
    stream = Stream("a", "b", rate=D(1000))
    problem = compile_problem(one_topology({"a": 1, "b": 3}, stream, flow="rates"))
    assert flows(problem) == {("a[0]", "b[0]"): Fraction(333333, 1000)}


@pytest.mark.parametrize(
    ("rate", "receivers", "flow"),
    [
        ("100", 6, "16.6667"),
        ("10000003", 3, "3333330"),
        ("0.5", 6, "0.083333"),
        ("0.000001", 3, None),
        ("0.000001", 2, None),  # half to even
        ("0.000003", 2, "0.000002"),
        ("123456789.123456", 2, "61728394.561728"),  # no rounding: six decimals hold it
    ],
)
def test_rounding_as_docs_tell(rate: str, receivers: int, flow: str | None) -> None:
    stream = Stream("a", "b", rate=D(rate))
    problem = compile_problem(one_topology({"a": 1, "b": receivers}, stream, flow="rates"))
    expected = {} if flow is None else {("a[0]", "b[0]"): Fraction(flow)}
    assert {pair: weight for pair, weight in flows(problem).items() if weight} == expected


def test_a_rate_of_nothing_is_no_flow() -> None:
    stream = Stream("a", "b", rate=D(0))
    assert flows(compile_problem(one_topology({"a": 1, "b": 3}, stream, flow="rates"))) == {}


def test_topologies_do_not_mix() -> None:
    first = one_topology({"a": 1, "b": 1}, Stream("a", "b"))
    second = replace(first.topologies[0], id="u", priority=27)
    problem = compile_problem(replace(first, topologies=(*first.topologies, second)))
    assert [(flow.source, flow.target) for flow in problem.flows] == [(0, 1), (2, 3)]
    assert [rule.reject_weight for rule in problem.rules] == [1, 3]


def test_a_rate_that_rounds_to_nothing_is_no_flow() -> None:
    stream = Stream("a", "b", rate=D("0.000001"))
    components = (Component("a", "spout", 1), Component("b", "bolt", 2))
    topology = Topology("t", components, (stream,))
    problem = compile_problem(Instance("x", Cluster((Node("n", "r"),)), (topology,), flow="rates"))
    assert problem.flows == ()
