"""What holds of every prediction: bounds, symmetry, monotony, exact loads like those in floats."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workloads import bolt, node, spout, stream, topology, workload

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.prediction.flows import flows
from slotwise.models.prediction.loads import loads
from slotwise.models.prediction.prediction import Prediction, predict

GROUPINGS = ("shuffle", "fields", "all", "global", "local_or_shuffle")
TIMES = {
    "delay_ms": {"worker": 0.01, "node": 0.05, "rack": 0.2, "cluster": 1},
    "serialise_ms": {"worker": 0, "node": 0.02, "rack": 0.03, "cluster": 0.05},
}


@dataclass(frozen=True)
class Case:
    """An instance with a workload, and a placement of it."""

    instance: Instance
    placement: Placement

    def predict(self) -> Prediction:
        return predict(self.instance, self.placement)


@st.composite
def topologies(draw: st.DrawFn, name: str, closed: bool | None) -> dict[str, Any]:
    """Draw a topology: a spout, and bolts that each hear one of those before, and may loop."""
    window = draw(st.integers(1, 6)) if closed else None
    rate: dict[str, Any] = {"rate": 10} if window is None or draw(st.booleans()) else {}
    made = [spout("s", draw(st.integers(1, 2)), service_ms=0.1, service_scv=1, **rate)]
    streams: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 3))):
        work = {
            "service_ms": draw(st.sampled_from([0.3, 1, 2.5])),
            "service_scv": draw(st.sampled_from([0, 0.5, 1, 3])),
        }
        sender = draw(st.sampled_from([one["id"] for one in made]))
        flow = {
            "grouping": draw(st.sampled_from(GROUPINGS)),
            "selectivity": draw(st.sampled_from([0.5, 1, 2])),
            "tuple_bytes": draw(st.sampled_from([0, 100, 5000])),
        }
        streams.append(stream(sender, f"b{index}", **flow))
        made.append(bolt(f"b{index}", draw(st.integers(1, 3)), **work))
    if draw(st.booleans()):
        streams.append(stream("b0", "b0", selectivity=0.25))
    ackers = {"count": draw(st.integers(0, 2)), "service_ms": 0.05, "service_scv": 1}
    more = {"ackers": ackers | {"message_bytes": 20}} if draw(st.booleans()) else {}
    limit = {} if window is None else {"window": window}
    return topology(made, streams, name=name, **more, **limit)


@st.composite
def cases(draw: st.DrawFn, closed: bool | None = None) -> Case:
    """Draw a case; `closed` ones have windows, open ones none."""
    cores = draw(st.integers(1, 3))
    nodes = [
        node(
            f"n{index}",
            f"r{index % 2}",
            cores=cores,
            resources={"cpu": draw(st.sampled_from([100, 250])) * cores},
            bandwidth_out_mbit_s=draw(st.sampled_from([10, 1000])),
            bandwidth_in_mbit_s=draw(st.sampled_from([10, 1000])),
        )
        for index in range(draw(st.integers(1, 3)))
    ]
    names = ["t", "u"][: draw(st.integers(1, 2))]
    made = [draw(topologies(name, closed)) for name in names]
    uplinks = dict.fromkeys({one["rack"] for one in nodes}, 100)
    instance = workload(nodes, made, uplink_mbit_s=uplinks, **TIMES)
    where, labels = [], []
    for topology_id, _ in instance.task_names():
        where.append(draw(st.integers(0, len(nodes) - 1)))
        labels.append(2 * names.index(topology_id) + draw(st.integers(0, 1)))
    return Case(instance, Placement(tuple(where), tuple(labels)))


@given(cases(closed=True))
@settings(max_examples=10)
def test_no_prediction_is_better_than_its_bounds(case: Case) -> None:
    prediction = case.predict()
    assert prediction.analysis is not None
    assert prediction.settled
    for one in prediction.spouts:
        assert one.latency is not None
        assert one.rate_at_most is not None
        assert one.latency_at_least is not None
        assert 0 < one.rate <= one.rate_at_most * (1 + 1e-6)
        assert one.latency.mean >= one.latency_at_least * (1 - 1e-6)
    for used in prediction.utilisations:
        if used.resource.kind != "thread":  # of a spout, its tasks together
            assert used.utilisation <= 1 + 1e-6


@given(cases())
def test_exact_loads_are_those_in_floats(case: Case) -> None:
    found = loads(flows(case.instance, case.placement, apart=True))
    for r in range(len(found.flows.routes)):
        rates = [Fraction(int(r == other)) for other in range(len(found.flows.routes))]
        for k in range(len(found.resources)):
            exact = found.exact_utilisation(k, rates)
            assert float(exact) == pytest.approx(found.demand[r, k], rel=1e-9, abs=1e-15)


@given(cases())
def test_pairs_of_tasks_carry_what_components_receive(case: Case) -> None:
    found = flows(case.instance, case.placement)
    for route in found.routes:
        received: dict[int, Fraction] = defaultdict(Fraction)
        for _, receiver, link, amount in found.pairs(route):
            if link.selectivity is not None:
                group = int(found.groups.of_task[receiver])
                received[group] += amount
        spouts = set(found.components[route.spout].groups)
        expected = {group: one for group, one in route.by_group.items() if group not in spouts}
        assert dict(received) == expected


@given(cases(closed=False))
def test_open_rates_are_the_sources(case: Case) -> None:
    prediction = case.predict()
    assert [one.rate for one in prediction.spouts] == [10] * len(prediction.spouts)
    assert prediction.sustainable is not None
    assert prediction.is_sustainable == (prediction.sustainable.multiple > 1)


@given(cases(closed=False), st.integers(0, 2))
def test_a_faster_node_never_lowers_the_sustainable_rate(case: Case, index: int) -> None:
    nodes = list(case.instance.cluster.nodes)
    index %= len(nodes)
    faster = {"cpu": nodes[index].resources["cpu"] * Decimal("1.5")}  # type: ignore[operator]
    nodes[index] = replace(nodes[index], resources=faster)
    cluster = replace(case.instance.cluster, nodes=tuple(nodes))
    before = case.predict().sustainable
    after = predict(replace(case.instance, cluster=cluster), case.placement).sustainable
    assert before is not None
    assert after is not None
    assert after.multiple >= before.multiple


@given(cases() | cases(closed=True))
@settings(max_examples=10)
def test_names_and_order_of_nodes_and_topologies_do_not_matter(case: Case) -> None:
    """Nodes and topologies reversed, and called otherwise."""
    instance, placement = case.instance, case.placement
    last = len(instance.cluster.nodes) - 1
    nodes = tuple(replace(one, id=f"x{one.id}") for one in reversed(instance.cluster.nodes))
    other = replace(
        instance,
        cluster=replace(instance.cluster, nodes=nodes),
        topologies=tuple(replace(one, id=f"x{one.id}") for one in reversed(instance.topologies)),
    )
    places = dict(
        zip(
            instance.task_names(), zip(placement.nodes, placement.workers, strict=True), strict=True
        )
    )
    moved = [places[name[1:], task] for name, task in other.task_names()]
    relabelled = predict(
        other, Placement(tuple(last - at for at, _ in moved), tuple(worker for _, worker in moved))
    )
    prediction = case.predict()
    if prediction.sustainable is None:
        assert relabelled.sustainable is None
    else:
        assert relabelled.sustainable is not None
        assert relabelled.sustainable.multiple == prediction.sustainable.multiple
    by_name = {one.topology[1:]: one for one in relabelled.spouts}
    for one in prediction.spouts:
        same = by_name[one.topology]
        assert same.rate == pytest.approx(one.rate, rel=1e-3)
        assert (same.latency is None) == (one.latency is None)
        if one.latency is not None and same.latency is not None:
            assert same.latency.mean == pytest.approx(one.latency.mean, rel=1e-3)
