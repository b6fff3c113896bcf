"""A whole placement: what is used is what the flows say, and nothing goes on for ever."""

from __future__ import annotations

from typing import Any

import pytest
from workloads import apart, bolt, node, placed, spout, stream, topology, workload

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.prediction.prediction import predict
from slotwise.models.simulation.intervals import interval
from slotwise.models.simulation.simulation import Run, simulate

SOME = Run(seconds=12, warm_up=1, seed=3)


def everything() -> tuple[Instance, Placement]:
    """Return two topologies with every grouping, a cycle and ackers, on three nodes, two racks."""
    streams = [
        stream("s", "a", selectivity=1.5, tuple_bytes=400),
        stream("s", "b", grouping="local_or_shuffle", tuple_bytes=900),
        stream("a", "b", grouping="fields", selectivity=0.5, tuple_bytes=300),
        stream("a", "a", grouping="none", selectivity=0.25, tuple_bytes=100),
        stream("b", "c", grouping="global", tuple_bytes=200),
        stream("b", "d", grouping="all", selectivity=0.3, tuple_bytes=700),
    ]
    work = {"service_ms": 0.3, "service_scv": 0}
    bolts = [bolt(name, tasks, **work) for name, tasks in (("a", 2), ("b", 3), ("d", 2))]
    first = topology(
        [spout("s", 2, rate=200, service_ms=0.2, service_scv=0), *bolts, bolt("c", 2, **work)],
        streams,
        "first",
        ackers={"count": 2, "service_ms": 0.05, "service_scv": 0, "message_bytes": 20},
    )
    second = topology(
        [spout("s", rate=100, service_scv=0), bolt("a")], [stream("s", "a")], "second"
    )
    machines = [
        node(f"n{i}", rack, cores=2, bandwidth_in_mbit_s=10, bandwidth_out_mbit_s=20)
        for i, rack in enumerate(("r1", "r1", "r2"))
    ]
    times = {"worker": 0.001, "node": 0.01, "rack": 0.02, "cluster": 0.03}
    instance = workload(
        machines,
        [first, second],
        serialise_ms=times,
        delay_ms=times,
        uplink_mbit_s={"r1": 20, "r2": 30},
    )
    places = [("n0", 0), ("n1", 0), ("n2", 0)]
    spread = {
        "first": {
            "s": places[:2],
            "a": places[1:],
            "b": places,
            "c": places[:2],
            "d": [places[2], ("n2", 1)],
            "__acker": places[:2],
        },
        "second": {"s": places[:1], "a": places[2:]},
    }
    return instance, placed(instance, spread)


def test_every_resource_is_used_as_much_as_its_load_says() -> None:
    """Loads are exact; the simulation routes tuple by tuple and knows none of their formulas."""
    found = simulate(*everything(), SOME)
    loads = {one.resource: one.utilisation for one in predict(*everything()).utilisations}
    used = {one.resource: one.utilisation for one in found.utilisations}
    assert used.keys() == loads.keys()
    for resource, load in loads.items():
        assert used[resource] == pytest.approx(load, rel=0.1), resource
    first, second = found.spouts
    assert first.rate.holds(200)
    assert second.rate.holds(100)


def nothing_takes_time(**changes: Any) -> Instance:
    made = topology([spout("s"), bolt("b", service_ms=0)], [stream("s", "b")], window=1, **changes)
    return workload([node("n0"), node("n1")], [made])


def test_a_spout_that_nothing_limits_is_refused() -> None:
    instance = nothing_takes_time()
    with pytest.raises(InputError, match=r"^topologies\[0\]\.components\[0\]: nothing limits how"):
        simulate(instance, apart(instance), SOME)


def test_tuples_that_one_task_of_a_spout_sends_to_its_own_worker_are_refused() -> None:
    """Those of the other one take time on the way."""
    made = topology(
        [spout("s", 2), bolt("b", service_ms=0)],
        [stream("s", "b", grouping="local_or_shuffle")],
        window=1,
    )
    delay_ms = {"worker": 0, "node": 0, "rack": 1, "cluster": 1}
    instance = workload([node("n0"), node("n1")], [made], delay_ms=delay_ms)
    with pytest.raises(InputError, match="nothing limits how fast it emits"):
        simulate(instance, Placement((0, 1, 0), (0, 0, 0)), SOME)


def test_an_interval_needs_two_batches_with_tuples() -> None:
    assert interval([3.0, 0.0, 0.0], [1, 0, 0]) is None
    found = interval([3.0, 5.0, 0.0], [1, 1, 0])
    assert found is not None
    assert (found.mean, found.half_width) == (4.0, pytest.approx(12.706, rel=1e-3))


def test_what_takes_no_time_is_done_at_once() -> None:
    """Half of the tuples end in the spout, the others after 1 ms."""
    made = topology(
        [spout("s", rate=100), bolt("b", service_scv=0)], [stream("s", "b", selectivity=0.5)]
    )
    instance = workload([node("n0"), node("n1")], [made])
    (found,) = simulate(instance, apart(instance), SOME).spouts
    assert found.latency is not None
    assert found.latency.mean == pytest.approx(0.5, rel=0.1)


def test_a_spout_without_tuples() -> None:
    pair = [spout("s", rate=1), bolt("b")]
    silent = [spout("s", rate=0), bolt("b")]
    made = [topology(pair, [stream("s", "b")]), topology(silent, [stream("s", "b")], "u")]
    instance = workload([node(f"n{i}") for i in range(4)], made)
    _, found = simulate(instance, apart(instance), SOME).spouts
    assert (found.completed, found.rate.mean, found.latency) == (0, 0, None)


@pytest.mark.parametrize(
    ("run", "field"),
    [
        ({"seconds": 0}, "seconds"),
        ({"seconds": float("inf")}, "seconds"),
        ({"warm_up": -1}, "warm_up"),
        ({"warm_up": float("nan")}, "warm_up"),
        ({"seed": -1}, "seed"),
        ({"seconds": 1e-16, "warm_up": 1}, "seconds"),
    ],
)
def test_runs_that_make_no_sense(run: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=rf"^{field} = "):
        Run(**run)
