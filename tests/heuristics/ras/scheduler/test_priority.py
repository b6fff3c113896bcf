"""The order of topologies in Storm's Resource Aware Scheduler."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.heuristics.ras.java.iteration_order import (
    code_units,
    map_order,
    sort_in_place,
    string_hash,
)
from slotwise.heuristics.ras.java.timsort import ContractError, Merger
from slotwise.heuristics.ras.model import request_of
from slotwise.heuristics.ras.scheduler import WORST, priority_order
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import Component, SharedMemory, Topology


def topology(
    key: str, owner: str, cpu: int, memory: int, priority: int = 0, **more: Any
) -> Topology:
    generic = more.pop("generic", {})
    resources = {"cpu": cpu, "onheap_mb": memory, **generic}
    return Topology(
        key, (Component("s", "spout", 1, resources),), owner=owner, priority=priority, **more
    )


def instance(
    topologies: list[Topology],
    cluster: dict[str, int],
    pools: dict[str, dict[str, int]] | None = None,
    strategy: str = "default",
) -> Instance:
    node = Node("n", "r", resources={key: Decimal(value) for key, value in cluster.items()})
    return Instance(
        "test", Cluster((node,)), tuple(topologies), Scheduler(Decimal(0), strategy, pools or {})
    )


def ids(made: Instance) -> list[str]:
    return [made.topologies[turn.topology].id for turn in priority_order(made)]


def test_worked_example_of_the_documentation() -> None:
    """Storm's user documentation, section DefaultSchedulingPriorityStrategy."""
    made = instance(
        [
            topology("A-1", "A", 100, 1000, 1),
            topology("A-2", "A", 100, 1000, 10),
            topology("B-1", "B", 100, 1000, 1),
            topology("B-2", "B", 100, 1000, 10),
        ],
        {"cpu": 300, "memory_mb": 4000},
        {"A": {"cpu": 100, "memory_mb": 1000}, "B": {"cpu": 200, "memory_mb": 1500}},
    )
    turns = priority_order(made)
    assert ids(made)[:2] == ["B-1", "A-1"]
    assert [turn.score for turn in turns[:2]] == [-0.125, 0.0]
    assert [turn.guaranteed for turn in turns] == [True, True, False, False]
    # B-2, with 0.167 (next test), loses against A-1, with 0.
    assert ids(made) == ["B-1", "A-1", "B-2", "A-2"]


def test_score_of_the_documentations_second_round() -> None:
    made = instance(
        [topology("B-1", "B", 100, 1000, 1), topology("B-2", "B", 100, 1000, 10)],
        {"cpu": 300, "memory_mb": 4000},
        {"B": {"cpu": 200, "memory_mb": 1500}},
    )
    assert [round(turn.score, 3) for turn in priority_order(made)] == [-0.125, 0.167]


def test_priority_then_age_then_id_inside_a_user() -> None:
    made = instance(
        [
            topology("young", "u", 1, 1, 5, launch_time=90),
            topology("old", "u", 1, 1, 5, launch_time=10),
            topology("b", "u", 1, 1, 3, launch_time=50),
            topology("a", "u", 1, 1, 3, launch_time=50),
            topology("first", "u", 1, 1, 0, launch_time=99),
        ],
        {"cpu": 100, "memory_mb": 100},
    )
    assert ids(made) == ["first", "a", "b", "old", "young"]


def test_equal_scores_stay_in_the_order_of_javas_map() -> None:
    users = ["bobby", "jerry", "ethan"]
    buckets = [(string_hash(user) ^ string_hash(user) >> 16) % 16 for user in users]
    assert buckets == [4, 11, 3]  # so neither in the file's order nor in the alphabet's
    made = instance(
        [topology(f"of-{user}", user, 10, 10) for user in users], {"cpu": 100, "memory_mb": 100}
    )
    assert ids(made) == ["of-ethan", "of-bobby", "of-jerry"]


def test_users_are_met_in_the_order_of_a_copied_map_of_topologies() -> None:
    """Twelve topologies fill a table of 16 buckets that has grown, and its copy has 32."""
    assert string_hash("Aa") == string_hash("BB")  # so the first one met comes first
    others = [topology(f"{key}", "other", 1, 1, 9) for key in "bcdefghijk"]
    made = instance(
        [topology("p", "Aa", 10, 10), topology("a", "BB", 10, 10), *others],
        {"cpu": 100, "memory_mb": 100},
    )
    assert [key for key in ids(made) if key in "ap"] == ["a", "p"]


def test_what_the_cluster_has_is_a_compensated_sum() -> None:
    """Added up plainly, ten times 0.7 is more than 7.0, and something would be left."""
    nodes = tuple(
        Node(f"n{i}", "r", resources={"cpu": Decimal("0.7"), "memory_mb": Decimal(10)})
        for i in range(10)
    )
    made = instance([topology("a", "u", 7, 1), topology("b", "u", 0, 1, 1)], {})
    turns = priority_order(replace(made, cluster=Cluster(nodes)))
    assert [turn.score for turn in turns] == [1.0, WORST]


def test_a_score_adds_off_heap_and_on_heap_memory_one_after_the_other() -> None:
    """Storm 2.8.3 takes of-u2 second: the sum 100.1 + 50.2 + 30.3 is a last digit above 180.6.

    Only what counts as assigned is added as 100.1 + (50.2 + 30.3), which is 180.6.
    """
    made = instance(
        [
            topology("first", "u1", 1, 0, 0, generic=of_mb("100.1")),
            topology("second", "u1", 1, 0, 1, generic=of_mb("30.3", "50.2")),
            topology("of-u2", "u2", 1, 0, 0, generic=of_mb("180.6")),
        ],
        {"cpu": 10000, "memory_mb": 1000},
    )
    assert ids(made) == ["first", "of-u2", "second"]


def of_mb(onheap: str, offheap: str = "0") -> dict[str, Decimal]:
    return {"onheap_mb": Decimal(onheap), "offheap_mb": Decimal(offheap)}


def test_nothing_left_makes_every_score_the_largest() -> None:
    made = instance(
        [topology("a", "u", 100, 1), topology("b", "u", 1, 1, 1)],
        {"cpu": 100, "memory_mb": 100},
        {"u": {"cpu": 1000, "memory_mb": 1000}},
    )
    assert [turn.score < 0 for turn in priority_order(made)] == [True, False]
    assert priority_order(made)[1].score == WORST


def test_generic_looks_at_every_offered_resource() -> None:
    topologies = [
        topology("a", "ann", 10, 10, generic={"gpu": 2}),
        topology("b", "bob", 20, 20, generic={"fpga": 9}),
    ]
    cluster = {"cpu": 100, "memory_mb": 100, "gpu": 4}
    assert ids(instance(topologies, cluster)) == ["a", "b"]
    assert ids(instance(topologies, cluster, strategy="generic")) == ["b", "a"]
    turns = priority_order(instance(topologies, cluster, strategy="generic"))
    assert [turn.score for turn in turns] == [0.2, 0.5]
    pools = {"ann": {"cpu": 20, "memory_mb": 20, "gpu": 4}}
    assert ids(instance(topologies, cluster, pools, "generic")) == ["a", "b"]


def test_fifo_takes_the_youngest_beyond_guarantees() -> None:
    made = instance(
        [
            topology("old", "ann", 50, 50, 0, launch_time=0),
            topology("young", "bob", 50, 50, 29, launch_time=100),
            topology("middle", "cat", 50, 50, 10, launch_time=60),
        ],
        {"cpu": 100, "memory_mb": 100},
        strategy="fifo",
    )
    assert [(turn.topology, turn.score) for turn in priority_order(made)] == [
        (1, 0.0), (2, 40.0), (0, 100.0),
    ]  # fmt: skip


def test_fifo_within_the_guarantee_keeps_priorities() -> None:
    made = instance(
        [
            topology("high", "ann", 10, 10, 0, launch_time=0),
            topology("low", "ann", 10, 10, 9, launch_time=100),
        ],
        {"cpu": 100, "memory_mb": 100},
        {"ann": {"cpu": 100, "memory_mb": 100}},
        "fifo",
    )
    assert ids(made) == ["high", "low"]


def test_fifo_sorts_the_queue_while_it_scores() -> None:
    """The head by priority is beyond the guarantee; scoring it brings the youngest forward.

    From then on that one is scored, and it is within the guarantee.
    """
    made = instance(
        [
            topology("large", "ann", 90, 90, 0, launch_time=0),
            topology("small", "ann", 10, 10, 9, launch_time=100),
        ],
        {"cpu": 100, "memory_mb": 100},
        {"ann": {"cpu": 50, "memory_mb": 50}},
        "fifo",
    )
    turns = priority_order(made)
    assert ids(made) == ["small", "large"]
    assert turns[0].score == 0.0  # the up-time, not the score of the topology that is popped
    assert [turn.guaranteed for turn in turns] == [True, False]


def test_request_counts_shared_regions_once() -> None:
    made = Topology(
        "t",
        (Component("s", "spout", 2, {"cpu": 10, "onheap_mb": 5, "offheap_mb": 3}),),
        shared_memory=(
            SharedMemory("a", "onheap", Decimal(100), ("s",)),
            SharedMemory("b", "offheap_node", Decimal(20), ("s",)),
        ),
    )
    asked = request_of(made)
    assert (asked.cpu, asked.memory, asked.own_memory) == (20.0, 136.0, 16.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
    ],
)
def test_string_hash_is_javas(text: str, value: int) -> None:
    assert string_hash(text) == value


def test_strings_compare_by_utf_16() -> None:
    assert code_units("\U0001f600") == (0xD83D, 0xDE00)
    assert code_units("\U0001f600") < code_units("\uff00")


@given(st.lists(st.integers(0, 9), max_size=60))
def test_sorting_is_stable(numbers: list[int]) -> None:
    items = list(enumerate(numbers))
    sort_in_place(items, lambda a, b: a[1] - b[1])
    assert items == sorted(enumerate(numbers), key=lambda item: item[1])


def test_sorting_compares_as_java_does() -> None:
    calls = []

    def compare(a: int, b: int) -> int:
        calls.append((a, b))
        return a - b

    items = [3, 2, 5, 1]
    sort_in_place(items, compare)
    # Run: 2 < 3, then 5 ends the falling run, which is turned; 5 and 1 are inserted.
    assert calls == [(2, 3), (5, 2), (5, 3), (1, 3), (1, 2)]
    assert items == [1, 2, 3, 5]


@given(st.lists(st.text("abcdef", min_size=1, max_size=3), unique=True, max_size=40))
def test_map_order_is_a_permutation_by_bucket(keys: list[str]) -> None:
    assert sorted(map_order(keys)) == sorted(keys)


def test_map_order_grows_with_the_map() -> None:
    keys = [chr(ord("A") + i) for i in range(13)]  # hashes 65..77; 13 keys fill 32 buckets
    assert map_order(keys) == keys
    assert map_order([*keys[-2:], "P"]) == ["P", *keys[-2:]]  # 80 % 16 is 0


@pytest.mark.parametrize("width", [3, 50, 10**6])
@pytest.mark.parametrize("count", [31, 32, 33, 64, 100, 700])
def test_long_lists_are_sorted_by_merging(count: int, width: int) -> None:
    """Rising, falling and mixed stretches, with equal items, so that merges leap as well."""
    keys = [(i * i * 7919 + i // 40 * 31) % width if i % 80 < 40 else i for i in range(count)]
    items = list(enumerate(keys))
    for mixed in (items, items[::-1], sorted(items, key=lambda one: one[1] % 7)):
        found = list(mixed)
        sort_in_place(found, lambda a, b: a[1] - b[1])
        assert found == sorted(mixed, key=lambda one: one[1])


@pytest.mark.parametrize(("left", "right"), [(20, 40), (40, 20)])
def test_a_sort_that_finds_a_contradiction_fails_as_javas_does(left: int, right: int) -> None:
    answers = random.Random(1)

    def merge_at_random() -> None:
        for _ in range(5000):
            merger = Merger[int](lambda a, b: answers.choice((-1, -1, -1, 1, 1, 1, 1)))
            merger.merged(range(left), range(right))

    with pytest.raises(ContractError, match="violates its general contract"):
        merge_at_random()


def test_fifo_compares_many_users_as_javas_merges_do() -> None:
    """What is compared first counts, for it sorts a queue again: Storm 2.8.3 gave this order."""
    topologies = [
        topology(
            f"t{i}-{j}",
            f"u{i}",
            (i * 7 + j * 5) % 20 + 1,
            (i * 11 + j) % 20 + 1,
            (i + j) % 3,
            launch_time=(i * 37 + j * 1111) % 211,
        )
        for i in range(80)
        for j in range(3)
    ]
    pools = {f"u{i}": {"cpu": i % 25, "memory_mb": i % 30} for i in range(0, 80, 2)}
    made = instance(topologies, {"cpu": 5000, "memory_mb": 5000}, pools, "fifo")
    assert ids(made)[14:24] == [
        "t57-0",
        "t14-2",
        "t17-0",
        "t71-2",
        "t74-0",
        "t4-1",
        "t31-2",
        "t61-1",
        "t34-0",
        "t48-2",
    ]
