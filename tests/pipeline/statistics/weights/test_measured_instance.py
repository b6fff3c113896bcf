"""From measured weights to an instance, without Spark."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Ackers, Component, Stream, Topology
from slotwise.pipeline.statistics.weights.instance import (
    indexed,
    measured_instance,
    node_ids,
)
from slotwise.pipeline.statistics.weights.measured import (
    ComponentWeights,
    Measured,
    StreamWeights,
    TaskPlace,
    Weight,
    rounded,
)
from slotwise.pipeline.statistics.weights.memory import split

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "digits"),
    [
        (Fraction(100, 3), "33.3333"),
        (Fraction(10**9, 7), "142857000"),
        (Fraction(1, 3 * 10**6), "0"),
        (Fraction(2, 3), "0.666667"),
        (Fraction(1234565, 10), "123456"),  # half to even
        (Fraction(9999999), "10000000"),
        (Fraction(0), "0"),
    ],
)
def test_six_digits(value: Fraction, digits: str) -> None:
    assert rounded(value) == Decimal(digits)


def topology(*streams: Stream, targets: int = 2) -> Topology:
    return Topology("t", (Component("a", "spout", 3), Component("b", "bolt", targets)), streams)


def instance(one: Topology) -> Instance:
    nodes = (Node("n1", "r", "h1"), Node("n2", "r", "h2"), Node("n3", "r", "h2"))
    return Instance("i", Cluster(nodes), (one,))


def found(**parts: object) -> Measured:
    empty = Measured("mean", 60, NOW, NOW, 1, (), ())
    return replace(empty, **parts)


def received(rate: int, size: int | None = None) -> StreamWeights:
    weight = None if size is None else Weight(Decimal(size), 1)
    return StreamWeights("t", "a", "b", Weight(Decimal(rate), 1), weight)


@pytest.mark.parametrize(("grouping", "rate"), [("shuffle", 12), ("global", 12), ("all", 6)])
def test_rate_of_a_stream_from_what_its_target_receives(grouping: str, rate: int) -> None:
    given = instance(topology(Stream("a", "b", grouping)))
    made = measured_instance(given, found(streams=(received(12, 7),)))
    (stream,) = made.topologies[0].streams
    assert (stream.rate, stream.tuple_bytes, stream.estimated) == (rate, 7, ())
    assert made.flow == "rates"


def test_parallel_streams_keep_their_proportion_and_are_marked() -> None:
    two = (Stream("a", "b", "shuffle", Decimal(1)), Stream("a", "b", "all", Decimal(3)))
    made = measured_instance(instance(topology(*two)), found(streams=(received(14, 7),)))
    # 1 + 3 * 2 copies of 7 parts: 2 and 6 tuples per second are 2 + 12 received.
    assert [one.rate for one in made.topologies[0].streams] == [2, 6]
    assert [one.estimated for one in made.topologies[0].streams] == [("rate",)] * 2


def test_sizes_that_logs_do_not_tell_are_stated_and_marked() -> None:
    for own, stated, size in (
        (None, None, None),
        (None, Decimal(9), 9),
        (Decimal(4), Decimal(9), 4),
    ):
        given = instance(topology(Stream("a", "b", "shuffle", None, own)))
        made = measured_instance(given, found(streams=(received(12),)), stated)
        (stream,) = made.topologies[0].streams
        assert (stream.tuple_bytes, stream.estimated) == (size, ("tuple_bytes",))


def test_what_a_prediction_reads_is_filled_in() -> None:
    weights = (
        ComponentWeights("t", "a", 3, service_ms=Weight(Decimal("0.5"), 1)),
        ComponentWeights("t", "b", 2, service_ms=Weight(Decimal(2), 1)),
    )
    measured = found(components=weights, streams=(received(12, 7),))
    one = topology(Stream("a", "b"))
    a, b = measured_instance(instance(one), measured).topologies[0].components
    assert (a.rate, a.service_ms, b.rate, b.service_ms) == (12, Decimal("0.5"), None, 2)
    windowed = replace(one, window=10)
    a, _ = measured_instance(instance(windowed), measured).topologies[0].components
    assert (a.rate, a.service_ms) == (None, Decimal("0.5"))
    two = topology(Stream("a", "b"), Stream("a", "b", "all"))
    a, _ = measured_instance(instance(two), measured).topologies[0].components
    assert a.rate is None


def test_flow_stays_where_a_rate_is_not_known() -> None:
    given = instance(topology(Stream("a", "b"), Stream("b", "a")))
    assert measured_instance(given, found(streams=(received(12),))).flow == "pairs"


def test_a_measured_demand_is_no_longer_estimated() -> None:
    one = replace(
        topology(),
        components=(Component("a", "spout", 1, {"cpu": Decimal(5), "gpu": Decimal(1)}, ("cpu",)),),
        ackers=Ackers(1),
    )
    cpu, heap = Weight(Decimal(7), 1), Weight(Decimal(8), 1, estimated=True)
    weights = (
        ComponentWeights("t", "a", 1, cpu=cpu),
        ComponentWeights("t", "__acker", 1, None, cpu, heap),
    )
    made = measured_instance(instance(one), found(components=weights)).topologies[0]
    assert made.components[0].resources == {"cpu": 7, "gpu": 1}
    assert made.components[0].estimated == ()
    assert made.ackers == Ackers(1, 1, {"cpu": Decimal(7), "onheap_mb": Decimal(8)}, ("onheap_mb",))


def place(task: str, node: str = "n1", minute: int = 0) -> TaskPlace:
    return TaskPlace("t", "b", task, node, 6700, NOW.replace(minute=minute))


def test_storm_s_numbers_become_indices() -> None:
    assert [*indexed([place("7"), place("9")], 3)] == [0, 2]
    assert [*indexed([place("7"), place("30")], 3)] == [0, 1]
    assert [*indexed([place("b[2]"), place("b[1]")], 3)] == [1, 2]
    assert [*indexed([place("b/2")], 3)] == [2]
    assert [*indexed([place(str(number)) for number in range(5)], 3)] == [0, 1, 2]


def test_tasks_without_a_number_are_ranked_by_name() -> None:
    found = indexed([place("t8"), place("t7", minute=1), place("t7", "n2", minute=2)], 3)
    assert {index: (one.task, one.node) for index, one in found.items()} == {
        0: ("t7", "n2"),
        1: ("t8", "n1"),
    }


def test_of_topologies_in_one_worker_the_last_one_is_there() -> None:
    one = topology()
    given = replace(instance(one), topologies=(one, replace(one, id="u")))
    first, last = place("1"), replace(place("1", minute=5), topology="u")
    for places in ((first, last), (last, first)):
        made = measured_instance(given, found(places=places))
        assert made.running is not None
        assert [*made.running] == ["u"]


def test_nodes_are_known_by_id_and_by_host_where_it_is_theirs_alone() -> None:
    cluster = instance(topology()).cluster
    assert node_ids(cluster) == {"h1": "n1", "n1": "n1", "n2": "n2", "n3": "n3"}


def test_running_leaves_out_foreign_nodes() -> None:
    given = instance(topology())
    made = measured_instance(given, found(places=(place("1", "h1"), place("2", "elsewhere"))))
    assert made.running is not None
    assert {task: at.node for task, at in made.running["t"].items()} == {"b[0]": "n1"}
    assert measured_instance(given, found(places=(place("2", "elsewhere"),))).running is None


def test_memory_of_workers_is_split_exactly_where_they_differ() -> None:
    workers = [{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 1.0}]
    assert split(workers, [250.0, 150.0], {}) == pytest.approx({"a": 100, "b": 50})


def test_memory_of_equal_workers_is_split_as_declared() -> None:
    workers = [{"a": 1.0, "b": 1.0}] * 2
    assert split(workers, [90.0, 90.0], {"a": 20, "b": 10}) == pytest.approx({"a": 60, "b": 30})
    assert split(workers, [90.0, 90.0], {"a": 20}) == pytest.approx({"a": 45, "b": 45})


def test_no_memory_is_below_zero() -> None:
    assert split([{"a": 1.0}, {"a": 1.0, "b": 1.0}], [100.0, 80.0], {})["b"] == 0
