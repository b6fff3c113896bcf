"""The highest utilisation of a placement: by hand, and as predictions have it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from workloads import NOTHING, bolt, node, placed, spout, stream, topology, workload

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.prediction.flows import flows
from slotwise.models.prediction.loads import Kind, loads
from slotwise.models.prediction.prediction import predict
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.random_instances.workloads import workload_instance


def counted(instance: Instance, *others: str) -> Instance:
    """Return the instance with the term ``bottleneck``, before others."""
    return replace(instance, objective=Objective(("bottleneck", *others)))


def utilisation(instance: Instance, places: dict[str, Any]) -> Fraction:
    verdict = judge(counted(instance), placed(instance, {"t": places}))
    return verdict.objective[0].value


def chain(
    nodes: int = 2,
    racks: int = 1,
    bolts: int = 1,
    *,
    to: dict[str, Any] | None = None,
    **cluster: Any,
) -> Instance:
    """A spout of 10 tuples/s on nodes of a core each, and a bolt of 20 ms a tuple."""
    machines = [
        node(f"n{n}", f"r{n % racks}", bandwidth_in_mbit_s=2, bandwidth_out_mbit_s=1)
        for n in range(nodes)
    ]
    parts = [spout("s", rate=10), bolt("b", bolts, service_ms=20)]
    return workload(machines, [topology(parts, [stream("s", "b", **(to or {}))])], **cluster)


def test_a_cpu_is_in_use_as_long_as_its_tasks_take() -> None:
    together = {"s": [("n0", 0)], "b": [("n0", 0)]}
    assert utilisation(chain(), together) == Fraction(10 * 20, 1000)
    assert utilisation(chain(bolts=2), {**together, "b": [("n0", 0), ("n1", 0)]}) == Fraction(1, 10)


def test_cpu_points_count_and_cores_do_not() -> None:
    instance = workload(
        [node("n0", resources={"cpu": 400}, cores=cores) for cores in (2,)],
        [topology([spout("s", rate=10, service_ms=20)], [])],
    )
    assert utilisation(instance, {"s": [("n0", 0)]}) == Fraction(1, 20)


def test_an_interface_carries_what_crosses_nodes() -> None:
    instance = chain(to={"tuple_bytes": 5000})
    assert utilisation(instance, {"s": [("n0", 0)], "b": [("n1", 0)]}) == Fraction(4, 10)
    assert utilisation(instance, {"s": [("n0", 0)], "b": [("n0", 1)]}) == Fraction(2, 10)


def test_what_a_node_receives_counts_as_well() -> None:
    machines = [node("n0"), node("n1", bandwidth_in_mbit_s=1)]
    parts = [spout("s", rate=10), bolt("b", service_ms=0)]
    instance = workload(machines, [topology(parts, [stream("s", "b", tuple_bytes=5000)])])
    assert utilisation(instance, {"s": [("n0", 0)], "b": [("n1", 0)]}) == Fraction(4, 10)
    assert utilisation(instance, {"s": [("n1", 0)], "b": [("n0", 0)]}) == Fraction(4, 10**7)


def test_an_uplink_carries_what_crosses_racks() -> None:
    uplinks = {"r0": 0.5, "r1": 8}
    instance = chain(3, 2, to={"tuple_bytes": 5000}, uplink_mbit_s=uplinks)
    assert utilisation(instance, {"s": [("n0", 0)], "b": [("n1", 0)]}) == Fraction(8, 10)
    assert utilisation(instance, {"s": [("n0", 0)], "b": [("n2", 0)]}) == Fraction(4, 10)


def test_sending_keeps_a_cpu_busy_by_level() -> None:
    sending = {"worker": 1, "node": 2, "rack": 30, "cluster": 70}
    instance = chain(3, 2, serialise_ms=sending, uplink_mbit_s={"r0": 1, "r1": 1})
    for place, ms in ((("n0", 0), 20 + 1), (("n0", 1), 20 + 2), (("n2", 0), 30), (("n1", 0), 70)):
        assert utilisation(instance, {"s": [("n0", 0)], "b": [place]}) == Fraction(10 * ms, 1000)


@pytest.mark.parametrize(
    ("grouping", "on_first", "on_second"),
    [
        ("shuffle", Fraction(1, 10), Fraction(1, 10)),
        ("global", Fraction(2, 10), Fraction(0)),
        ("all", Fraction(2, 10), Fraction(2, 10)),
        ("local_or_shuffle", Fraction(2, 10), Fraction(0)),
    ],
)
def test_the_grouping_says_who_works(
    grouping: str, on_first: Fraction, on_second: Fraction
) -> None:
    instance = chain(bolts=2, to={"grouping": grouping})
    apart = {"s": [("n0", 0)], "b": [("n0", 0), ("n1", 0)]}
    assert utilisation(instance, apart) == max(on_first, on_second)
    idle = replace(instance.cluster.nodes[0], resources={"cpu": 10**6})
    fast = replace(
        instance, cluster=replace(instance.cluster, nodes=(idle, instance.cluster.nodes[1]))
    )
    assert utilisation(fast, apart) == max(on_first / 10**4, on_second)


def test_a_local_stream_is_dealt_to_all_where_nobody_is_local() -> None:
    instance = chain(3, bolts=2, to={"grouping": "local_or_shuffle"})
    places = {"s": [("n2", 0)], "b": [("n0", 0), ("n1", 0)]}
    assert utilisation(instance, places) == Fraction(1, 10)


def test_acks_count() -> None:
    ackers = {"count": 1, "service_ms": 7, "message_bytes": 125}
    parts = [spout("s", rate=10), bolt("b", service_ms=0)]
    acked = topology(parts, [stream("s", "b")], ackers=ackers)
    instance = workload([node("n0"), node("n1")], [acked])
    places = {"s": [("n0", 0)], "b": [("n0", 0)], "__acker": [("n1", 0)]}
    assert utilisation(instance, places) == Fraction(2 * 10 * 7, 1000)


def test_a_topology_that_is_left_out_uses_nothing() -> None:
    parts = [spout("s", rate=10, service_ms=20)]
    instance = workload([node("n0")], [topology(parts, [], name) for name in ("t", "u")])
    both = placed(instance, {"t": {"s": [("n0", 0)]}, "u": {"s": [("n0", 1)]}})
    one = placed(instance, {"t": {"s": [("n0", 0)]}})
    problem = compile_problem(counted(instance, "rejected"))
    assert [judge(problem, p).objective[0].value for p in (both, one)] == [
        Fraction(4, 10),
        Fraction(2, 10),
    ]


def test_its_inverse_is_the_highest_sustainable_multiple_of_the_rates() -> None:
    """Where no thread saturates before: here the bolt's has two nodes' time."""
    instance = chain(bolts=3)
    placement = placed(instance, {"t": {"s": [("n1", 0)], "b": [("n0", 0), ("n0", 1), ("n1", 0)]}})
    found = predict(instance, placement).sustainable
    assert found is not None
    assert found.multiple == 1 / judge(counted(instance), placement).objective[0].value
    assert found.resource.kind is Kind.CPU


def test_threads_do_not_count() -> None:
    instance = workload(
        [node("n0", resources={"cpu": 400}, cores=4)],
        [topology([spout("s", rate=10, service_ms=20, service_scv=0)], [])],
    )
    placement = placed(instance, {"t": {"s": [("n0", 0)]}})
    found = predict(instance, placement).sustainable
    assert found is not None
    assert found.resource.kind is Kind.THREAD
    assert judge(counted(instance), placement).objective[0].value == Fraction(1, 20)
    assert found.multiple == 5


def test_it_is_what_predictions_say() -> None:
    """Of random instances with random placements, in every grouping."""
    kinds = set()
    for number in range(120):
        random = np.random.default_rng((11, number))
        instance = workload_instance(random)
        problem = compile_problem(instance)
        nodes = random.integers(0, problem.node_count, problem.task_count).tolist()
        workers = random.integers(0, 2, problem.task_count).tolist()
        placement = Placement(tuple(nodes), tuple(workers))
        found = loads(flows(instance, placement))
        rates = [route.rate for route in found.flows.routes]
        assert None not in rates
        highest = max(
            (
                found.exact_utilisation(k, [rate for rate in rates if rate is not None])
                for k, one in enumerate(found.resources)
                if one.kind is not Kind.THREAD and found.demand[:, k].any()
            ),
            default=Fraction(0),
        )
        verdict = judge(problem, placement)
        assert verdict.parts["bottleneck"] == highest, number
        assert problem.workload is not None
        steps = highest / problem.workload.unit
        assert problem.workload.least <= steps <= problem.workload.largest
        kinds.add(problem.workload.is_linear)
    assert kinds == {True, False}


def test_a_task_without_a_place_is_judged() -> None:
    instance = chain(bolts=3, to={"grouping": "global"})
    verdict = judge(counted(instance), Placement((0, -1, 1, 1), (0, -1, 0, 0)))
    assert not verdict.valid
    assert verdict.objective[0].value == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"parts": [spout("s"), bolt("b")]}, "topologies[0].components[0].rate"),
        (
            {"parts": [spout("s", rate=1), bolt("b", service_ms=None)]},
            "topologies[0].components[1].service_ms",
        ),
        ({"stream": {"selectivity": None}}, "topologies[0].streams[0].selectivity"),
        ({"stream": {"tuple_bytes": None}}, "topologies[0].streams[0].tuple_bytes"),
        ({"node": {"resources": {}}}, "cluster.nodes[1].resources.cpu"),
        ({"node": {"resources": {"cpu": 0}}}, "cluster.nodes[1].resources.cpu"),
        ({"node": {"bandwidth_in_mbit_s": None}}, "cluster.nodes[1].bandwidth_in_mbit_s"),
        ({"node": {"bandwidth_out_mbit_s": None}}, "cluster.nodes[1].bandwidth_out_mbit_s"),
        ({"node": {"rack": "r2"}}, "cluster.uplink_mbit_s.r1"),
        ({"cluster": {"serialise_ms": {**NOTHING, "rack": None}}}, "cluster.serialise_ms.rack"),
        (
            {"parts": [spout("s", rate=1), bolt("b")], "loop": "local_or_shuffle"},
            "topologies[0]",
        ),
    ],
)
def test_what_is_missing_is_named(change: dict[str, Any], field: str) -> None:
    parts = change.get("parts", [spout("s", rate=1), bolt("b")])
    streams = [stream("s", "b", **{"tuple_bytes": 10, **change.get("stream", {})})]
    if "loop" in change:
        streams.append(stream("b", "b", grouping=change["loop"], selectivity=0.5))
    nodes = [node("n0"), node("n1", **change.get("node", {}))]
    instance = workload(nodes, [topology(parts, streams)], **change.get("cluster", {}))
    with pytest.raises(InputError) as error:
        compile_problem(counted(instance))
    assert error.value.field == field
    compile_problem(instance)  # the default objective asks for none of it


def test_it_is_in_no_sum() -> None:
    with pytest.raises(InputError, match="cannot be summed with others"):
        Objective(("network+bottleneck",))


def test_too_many_steps_are_refused() -> None:
    machines = [
        node(f"n{n}", resources={"cpu": cpu})
        for n, cpu in enumerate((99.999989, 99.999971, 99.99983, 7))
    ]
    parts = [spout("s", 7, rate=785.473387, service_ms=1.000003)]
    with pytest.raises(InputError, match="could reach 2"):
        compile_problem(counted(workload(machines, [topology(parts, [])])))
