"""Predictions of queues that have a formula, to 1e-9."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import factorial
from typing import Any

import pytest
from workloads import apart, bolt, node, placed, spout, stream, topology, workload

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.prediction.prediction import PredictedSpout, predict

EXACT = 1e-9


def nodes(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [node(f"n{index}", **changes) for index in range(count)]


def only(instance: Instance, placement: Placement) -> PredictedSpout:
    """Return the one spout of the prediction, which must have a latency."""
    (found,) = predict(instance, placement).spouts
    return found


def mean_ms(instance: Instance, placement: Placement) -> float:
    latency = only(instance, placement).latency
    assert latency is not None
    return latency.mean


def chain(services: Sequence[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """Return a spout of 500 tuples/s and bolts one after the other."""
    bolts = [bolt(f"b{index}", **one) for index, one in enumerate(services)]
    names = ["s", *(one["id"] for one in bolts)]
    streams = [stream(a, b) for a, b in pairwise(names)]
    rate = {} if "window" in changes else {"rate": 500}
    return topology([spout("s", **rate), *bolts], streams, **changes)


def test_m_m_1() -> None:
    instance = workload(nodes(2), [chain([{}])])
    assert mean_ms(instance, apart(instance)) == pytest.approx(1 / (1 - 0.5), rel=EXACT)


def test_m_d_1_by_pollaczek_and_khinchine() -> None:
    instance = workload(nodes(2), [chain([{"service_ms": 1.5, "service_scv": 0}])])
    load = 0.75
    waiting = load * 1.5 / (2 * (1 - load))
    assert mean_ms(instance, apart(instance)) == pytest.approx(1.5 + waiting, rel=EXACT)


def test_m_g_1_with_very_variable_service() -> None:
    instance = workload(nodes(2), [chain([{"service_ms": 0.4, "service_scv": 4}])])
    load = 0.2
    waiting = load * 0.4 * (1 + 4) / (2 * (1 - load))
    assert mean_ms(instance, apart(instance)) == pytest.approx(0.4 + waiting, rel=EXACT)


def test_tandem() -> None:
    instance = workload(nodes(4), [chain([{"service_ms": one} for one in (1, 0.5, 1.6)])])
    expected = sum(one / (1 - 0.5 * one) for one in (1, 0.5, 1.6))
    assert mean_ms(instance, apart(instance)) == pytest.approx(expected, rel=EXACT)


def test_equal_threads_on_one_core_are_one_queue() -> None:
    """A tuple stays s / (1 - load of the core) at each of them, whoever is served first."""
    made = chain([{"service_ms": 0.4}] * 4)
    instance = workload([node("spout"), node("n")], [made])
    places = {"s": [("spout", 0)], **{f"b{i}": [("n", i)] for i in range(4)}}
    placement = placed(instance, {"t": places})
    assert mean_ms(instance, placement) == pytest.approx(4 * 0.4 / (1 - 0.8), rel=EXACT)


def test_threads_with_a_core_each_do_not_slow_each_other_down() -> None:
    made = chain([{"service_ms": 1.6}] * 4)
    machine = node("n", cores=4, resources={"cpu": 400})
    instance = workload([node("spout"), machine], [made])
    places = {"s": [("spout", 0)], **{f"b{i}": [("n", i)] for i in range(4)}}
    placement = placed(instance, {"t": places})
    assert mean_ms(instance, placement) == pytest.approx(4 * 1.6 / (1 - 0.8), rel=EXACT)


def test_network_interfaces_are_processor_sharing() -> None:
    """1000 bytes are 0.8 ms on 10 Mbit/s, at 500 tuples/s a load of 0.4; 2 ms are the delay."""
    made = topology(
        [spout("s", rate=500), bolt("b", service_ms=0)], [stream("s", "b", tuple_bytes=1000)]
    )
    slow = [node("n0", bandwidth_out_mbit_s=10), node("n1", bandwidth_in_mbit_s=20)]
    instance = workload(slow, [made], delay_ms={"rack": 2})
    expected = 2 + 0.8 / (1 - 0.4) + 0.4 / (1 - 0.2)
    assert mean_ms(instance, apart(instance)) == pytest.approx(expected, rel=EXACT)


@pytest.mark.parametrize("window", [1, 2, 7, 40])
def test_machine_repairman(window: int) -> None:
    """`window` machines run for 3 ms each, then wait for one repairman, who takes 1 ms."""
    two = [node("n0"), node("n1", rack="r2")]
    instance = workload(two, [chain([{}], window=window)], delay_ms={"cluster": 3})
    broken = [factorial(window) / factorial(window - n) / 3**n for n in range(window + 1)]
    busy = 1 - broken[0] / sum(broken)
    found = only(instance, apart(instance))
    assert found.rate == pytest.approx(1000 * busy, rel=EXACT)
    assert found.latency is not None
    assert found.latency.mean == pytest.approx(window / busy, rel=EXACT)


@pytest.mark.parametrize("windows", [(1, 1), (3, 2), (6, 4)])
def test_two_classes_share_a_network_interface(windows: tuple[int, int]) -> None:
    """Product form: states weighed by the multinomials of the stations, summed one by one."""
    size, delay, service = (1000, 4000), 2.0, (1.0, 0.25)
    made = [
        topology(
            [spout("s"), bolt("b", service_ms=service[c])],
            [stream("s", "b", tuple_bytes=size[c])],
            name=f"t{c}",
            window=windows[c],
        )
        for c in range(2)
    ]
    machines = [node("n0", bandwidth_out_mbit_s=16), node("n1"), node("n2")]
    fast = [one | {"bandwidth_in_mbit_s": 10**15} for one in machines]
    instance = workload(fast, made, delay_ms={"rack": delay})
    placement = placed(
        instance,
        {f"t{c}": {"s": [("n0", c)], "b": [(f"n{1 + c}", 0)]} for c in range(2)},
    )
    link = [size[c] * 8 / 16_000 for c in range(2)]

    def weight(now: tuple[int, int]) -> float:
        """Return the sum over the states with `now` tuples: on the link, at the bolt, delayed."""
        total = 0.0
        for a, b in product(range(now[0] + 1), range(now[1] + 1)):
            on_link = factorial(a + b) / factorial(a) / factorial(b) * link[0] ** a * link[1] ** b
            rest = 1.0
            for c, left in enumerate((now[0] - a, now[1] - b)):
                rest *= sum(
                    service[c] ** k * delay ** (left - k) / factorial(left - k)
                    for k in range(left + 1)
                )
            total += on_link * rest
        return total

    whole = weight(windows)
    found = predict(instance, placement).spouts
    for c, one in enumerate(found):
        without = (windows[0] - (c == 0), windows[1] - (c == 1))
        assert one.rate == pytest.approx(1000 * weight(without) / whole, rel=EXACT)


def test_a_spout_with_a_rate_and_a_window_is_a_cycle_of_two_queues() -> None:
    """M/M/1/K: what comes while the window is full does not come."""
    made = chain([{}], window=4)
    made["components"][0]["rate"] = 800
    instance = workload(nodes(2), [made])
    states = [0.8**n for n in range(5)]
    expected = 1000 * (1 - states[0] / sum(states))
    assert only(instance, apart(instance)).rate == pytest.approx(expected, rel=EXACT)


def test_the_slowest_of_two_exponential_branches() -> None:
    """Two M/M/1 queues with 1 ms: the mean of the maximum of two exponential times of 2 ms."""
    made = topology(
        [spout("s", rate=500), bolt("a"), bolt("b")], [stream("s", "a"), stream("s", "b")]
    )
    instance = workload(nodes(3), [made])
    found = only(instance, apart(instance)).latency
    assert found is not None
    assert found.mean == pytest.approx(3, rel=1e-4)
    assert found.synchronisation == pytest.approx(1, rel=1e-3)


def test_the_highest_multiple_is_exact() -> None:
    """3 tuples per tuple at 0.7 ms: 500 tuples/s keep the bolt busy for 1.05 s in a second."""
    made = topology(
        [spout("s", rate=500), bolt("b", service_ms=0.7)], [stream("s", "b", selectivity=3)]
    )
    instance = workload(nodes(2), [made])
    prediction = predict(instance, apart(instance))
    assert prediction.sustainable is not None
    assert prediction.sustainable.multiple == Fraction(1000, 1050)
    assert str(prediction.sustainable.resource) == "thread of b on n1"
    assert not prediction.is_sustainable
    assert prediction.spouts[0].latency is None


def test_each_task_of_a_spout_with_a_window_waits_for_its_own_replies() -> None:
    """One shares a worker with the acker; the messages of the other take a second each way."""
    made = topology(
        [spout("s", 2), bolt("b", 2, service_scv=0)],
        [stream("s", "b", grouping="local_or_shuffle")],
        window=1,
        ackers={"count": 1, "service_ms": 0, "service_scv": 0, "message_bytes": 0},
    )
    instance = workload(nodes(2), [made], delay_ms={"worker": 0, "rack": 1000})
    ways = [("n0", 0), ("n1", 0)]
    found = only(instance, placed(instance, {"t": {"s": ways, "b": ways, "__acker": ways[:1]}}))
    assert found.rate == pytest.approx(1000 + 1000 / 2001, rel=EXACT)


def test_what_others_that_are_not_sustainable_leave_a_spout_with_a_window_is_not_predicted() -> (
    None
):
    steady = topology([spout("s", rate=2000), bolt("b")], [stream("s", "b")])
    closed = topology([spout("s"), bolt("b")], [stream("s", "b")], name="u", window=1)
    instance = workload(nodes(4), [steady, closed])
    prediction = predict(instance, apart(instance))
    assert [one.rate for one in prediction.spouts] == [2000, None]
    assert prediction.rate == 2000
    assert "u/s: unstable" in repr(prediction)
    assert prediction.to_document()["spouts"][1]["rate"] is None
