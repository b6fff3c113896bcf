"""Who sends how many tuples to whom: groupings, selectivities, cycles, acks."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from workloads import apart, bolt, node, placed, spout, stream, topology, workload

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.prediction.flows import Flows, flows

PLACES = {
    "s": [("n0", 0), ("n1", 0)],
    "b": [("n0", 0), ("n0", 1), ("n1", 1)],
}


def two_by_three(**changes: Any) -> tuple[Instance, Placement]:
    """Return two spout tasks that send to three tasks on two nodes."""
    made = topology([spout("s", 2, rate=10), bolt("b", 3)], [stream("s", "b", **changes)])
    instance = workload([node("n0"), node("n1")], [made])
    return instance, placed(instance, {"t": PLACES})


def by_pair(found: Flows) -> dict[tuple[int, int], Fraction]:
    """Return (sender, receiver) -> tuples per tuple of the spout."""
    total: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for sender, receiver, _, amount in found.pairs(found.routes[0]):
        total[sender, receiver] += amount
    return dict(total)


HALF, SIXTH = Fraction(1, 2), Fraction(1, 6)


@pytest.mark.parametrize("grouping", ["shuffle", "fields", "direct", "none", "custom"])
def test_dealt_evenly(grouping: str) -> None:
    found = by_pair(flows(*two_by_three(grouping=grouping)))
    assert found == {(a, b): SIXTH for a in (0, 1) for b in (2, 3, 4)}


def test_all_receive_a_copy() -> None:
    found = flows(*two_by_three(grouping="all", selectivity=2))
    assert by_pair(found) == {(a, b): 1 for a in (0, 1) for b in (2, 3, 4)}
    assert found.routes[0].visits == {0: 1, 1: 6}


def test_global_goes_to_the_first() -> None:
    found = flows(*two_by_three(grouping="global"))
    assert by_pair(found) == {(0, 2): HALF, (1, 2): HALF}
    assert list(found.routes[0].by_group.values()) == [HALF, HALF, 1]


def test_local_or_shuffle_stays_in_the_worker_where_it_can() -> None:
    """Task 0 of the spout shares a worker with task 0 of the bolt, task 1 with none."""
    found = flows(*two_by_three(grouping="local_or_shuffle"))
    assert by_pair(found) == {(0, 2): HALF, (1, 2): SIXTH, (1, 3): SIXTH, (1, 4): SIXTH}
    received = [found.routes[0].by_group[group] for group in found.components[1].groups]
    assert received == [HALF + SIXTH, SIXTH, SIXTH]


def test_levels_of_the_copies() -> None:
    (link,) = flows(*two_by_three()).links
    assert link.copies() == pytest.approx(np.asarray([[1, 1, 1, 0], [0, 1, 2, 0]]) / 3)
    assert link.exact_copies(1) == (0, Fraction(1, 3), Fraction(2, 3), 0)


def test_a_cycle_is_a_linear_system() -> None:
    """a = 2 + b / 4 and b = a / 2, each per tuple of the spout: a = 16 / 7."""
    streams = [
        stream("s", "a", selectivity=2),
        stream("a", "b", selectivity=0.5),
        stream("b", "a", selectivity=0.25),
    ]
    made = topology([spout("s", rate=1), bolt("a"), bolt("b")], streams)
    instance = workload([node(f"n{i}") for i in range(3)], [made])
    found = flows(instance, apart(instance))
    assert found.routes[0].visits == {0: 1, 1: Fraction(16, 7), 2: Fraction(8, 7)}


def test_a_cycle_within_workers_is_one_too() -> None:
    """What stays in a worker goes round there: uneven inputs stay uneven."""
    streams = [
        stream("s", "a", grouping="global"),
        stream("a", "b", grouping="local_or_shuffle", selectivity=0.5),
        stream("b", "a", grouping="local_or_shuffle"),
    ]
    made = topology([spout("s", rate=1), bolt("a", 2), bolt("b", 2)], streams)
    instance = workload([node("n0"), node("n1")], [made])
    both = [("n0", 0), ("n1", 0)]
    found = flows(instance, placed(instance, {"t": {"s": [("n0", 1)], "a": both, "b": both}}))
    (route,) = found.routes
    assert route.visits == {0: 1, 1: 2, 2: 1}
    assert [route.by_group.get(group) for group in found.components[1].groups] == [2, None]


@pytest.mark.parametrize("gain", [1, 1.5])
def test_tuples_that_multiply_are_refused_with_the_cycle(gain: float) -> None:
    streams = [stream("s", "a"), stream("a", "b", selectivity=2)]
    streams += [stream("b", "a", selectivity=gain / 2)]
    made = topology([spout("s", rate=1), bolt("a"), bolt("b")], streams)
    instance = workload([node(f"n{i}") for i in range(3)], [made])
    with pytest.raises(InputError, match=rf"^(a -> b -> a|b -> a -> b): .* and is {gain:g}$"):
        flows(instance, apart(instance))


def test_two_cycles_that_multiply_together_are_refused() -> None:
    streams = [stream("s", "a"), stream("a", "a", selectivity=0.6)]
    streams += [stream("a", "b", selectivity=0.6), stream("b", "a", selectivity=0.9)]
    made = topology([spout("s", rate=1), bolt("a"), bolt("b")], streams)
    instance = workload([node(f"n{i}") for i in range(3)], [made])
    with pytest.raises(InputError, match=r"^a, b: tuples multiply on the cycles through these"):
        flows(instance, apart(instance))


def test_a_rate_gives_the_selectivity() -> None:
    """What measure finds: 10 tuples/s emitted, 25 received, 5 sent on."""
    streams = [
        {"from": "s", "to": "a", "rate": 25},
        {"from": "a", "to": "b", "rate": 5},
    ]
    made = topology([spout("s", rate=10), bolt("a"), bolt("b")], streams)
    instance = workload([node(f"n{i}") for i in range(3)], [made])
    first, second = flows(instance, apart(instance)).links
    assert (first.selectivity, second.selectivity) == (Fraction(5, 2), Fraction(1, 5))


@pytest.mark.parametrize(
    ("streams", "message"),
    [
        ([{"from": "s", "to": "b"}], r"^topologies\[0\]\.streams\[0\]\.selectivity: is needed"),
        (
            [stream("s", "b", selectivity=0), {"from": "b", "to": "c", "rate": 3}],
            r"^topologies\[0\]\.streams\[1\]\.rate = 3: b sends this though it receives nothing",
        ),
        ([stream("b", "s")], r"^topologies\[0\]\.streams\[0\]\.to = 's': a spout receives no"),
    ],
)
def test_streams_that_say_too_little_or_nonsense(
    streams: list[dict[str, Any]], message: str
) -> None:
    made = topology([spout("s", rate=10), bolt("b"), bolt("c")], streams)
    instance = workload([node(f"n{i}") for i in range(3)], [made])
    with pytest.raises(InputError, match=message):
        flows(instance, apart(instance))


def test_a_topology_is_placed_whole_or_left_out() -> None:
    pair = [spout("s", rate=1), bolt("b")]
    made = [topology(pair, [stream("s", "b")], name=name) for name in ("t", "u")]
    instance = workload([node("n0")], made)
    assert flows(instance, Placement((0, 0, -1, -1), (0, 0, -1, -1))).left_out == ("u",)
    with pytest.raises(InputError, match=r"^placement\.u: .* 1 of 2 tasks have a place"):
        flows(instance, Placement((0, 0, 0, -1), (0, 0, 1, -1)))


def test_ackers_hear_of_each_tuple_and_tell_the_spout_once() -> None:
    """Two for each tuple of the spout, as it has two descendants; one of its own; one back."""
    made = topology(
        [spout("s", rate=1), bolt("b")],
        [stream("s", "b", selectivity=2)],
        ackers={"count": 2, "service_ms": 0.1, "service_scv": 1, "message_bytes": 20},
    )
    instance = workload([node(f"n{i}") for i in range(4)], [made])
    found = flows(instance, apart(instance))
    assert found.routes[0].visits == {0: 1, 1: 2, 2: 3}
    back = {pair: amount for pair, amount in by_pair(found).items() if pair[1] == 0}
    assert back == {(2, 0): HALF, (3, 0): HALF}


def test_not_acked_means_no_messages() -> None:
    made = topology(
        [spout("s", rate=1), bolt("b")], [stream("s", "b")], acked=False, ackers={"count": 1}
    )
    instance = workload([node(f"n{i}") for i in range(3)], [made])
    assert len(flows(instance, apart(instance)).links) == 1


def test_an_acker_tells_the_task_that_emitted_the_tuple() -> None:
    """Not the other tasks of the spout, whose routes are their own where they have windows."""
    made = topology([spout("s", 2), bolt("b")], [stream("s", "b")], window=1, ackers={"count": 1})
    instance = workload([node(f"n{i}") for i in range(4)], [made])
    found = flows(instance, apart(instance), apart=True)
    for task, route in enumerate(found.routes):
        back = [(a, b, each) for a, b, _, each in found.pairs(route) if b in (0, 1)]
        assert back == [(3, task, 1)]
