"""Hash tables and sums of Java, beside what Java 17 itself printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.heuristics.ras.java.hash_codes import (
    computed_order,
    map_copy,
    set_copy,
    set_order,
    shared_memory_hash,
)
from slotwise.heuristics.ras.java.hash_map import JavaTable, compensated_sum
from slotwise.heuristics.ras.java.iteration_order import map_order, string_hash, walk


def table(*keys: int) -> JavaTable[int]:
    made = JavaTable(int)
    for key in keys:
        made.put(key)
    return made


def test_a_table_that_only_grows_has_the_order_of_a_set() -> None:
    keys = [(7 * k * k + 3) % 1000 for k in range(40)]
    assert list(table(*dict.fromkeys(keys))) == set_order(dict.fromkeys(keys), int)


def test_a_key_that_comes_back_stands_last_in_its_bucket() -> None:
    made = table(1, 17, 33)
    made.remove(1)
    made.put(1)
    assert list(made) == [17, 33, 1]
    made.put(33)
    assert list(made) == [17, 33, 1]


def test_a_table_that_was_larger_keeps_its_buckets() -> None:
    made = table(*range(13))
    for key in range(1, 13):
        made.remove(key)
    made.put(16)
    made.put(1)
    assert list(made) == [0, 1, 16]
    assert list(table(0, 16, 1)) == [0, 16, 1]


def test_compute_if_absent_puts_at_the_head() -> None:
    made = JavaTable(int)
    for key in (1, 17, 33, 17):
        made.compute_if_absent(key)
    assert list(made) == [33, 17, 1]


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [
        ("m0", (None, None, None), 487608986),
        ("m0", (73.15, None, None), -1558987415),
        ("cache", (None, None, 200.0), 172167045),
        ("cache", (None, None, 0.1), 1878658952),
    ],
)
def test_hash_of_shared_memory(name, parts, expected) -> None:
    assert shared_memory_hash(name, parts) == expected


def test_the_sum_of_a_stream_is_compensated() -> None:
    """``DoubleStream.of(0.1, ...).sum()`` of ten is 1.0; one after another it is less."""
    assert compensated_sum([0.1] * 10) == 1.0
    assert compensated_sum([1.0, float("inf"), 2.0]) == float("inf")


def test_a_crowded_bucket_doubles_a_small_table() -> None:
    """Keys of one bucket of 16; of 32 buckets, the odd multiples of 16 have their own."""
    eight, nine = table(*range(0, 128, 16)), table(*range(0, 144, 16))
    assert list(eight) == [0, 16, 32, 48, 64, 80, 96, 112]
    assert list(nine) == [0, 32, 64, 96, 128, 16, 48, 80, 112]
    computed = JavaTable(int)
    for key in range(0, 128, 16):
        computed.compute_if_absent(key)
    assert list(computed) == [96, 64, 32, 0, 112, 80, 48, 16]


COLLIDING = ["n17", "n28", "n39", "n104", "n115", "n126", "n137", "n148", "n3"]
"""All in one bucket of 16; of 32, n3 has another one, before that of the rest."""


def test_a_crowded_bucket_doubles_the_tables_that_only_grow() -> None:
    """As Java 17 and 25 printed it."""
    doubled = ["n3", *COLLIDING[:-1]]
    assert map_order(COLLIDING) == set_order(COLLIDING, string_hash) == doubled
    assert map_copy(COLLIDING, string_hash) == set_copy(COLLIDING, string_hash) == doubled
    assert map_order(COLLIDING[1:]) == COLLIDING[1:]
    # `computeIfAbsent` doubles one key earlier, and puts keys at the head of a bucket.
    eight = ["n3", *COLLIDING[:7]]
    assert computed_order(eight) == ["n3", *COLLIDING[6::-1]]
    assert computed_order(eight[:7]) == eight[6::-1]


@given(st.lists(st.integers(0, 400), unique=True, max_size=40), st.sampled_from([1, 4, 16, 32]))
def test_the_short_way_to_an_order_is_that_of_a_table(keys: list[int], least: int) -> None:
    def crowding(key: int) -> int:
        return 16 * key if key % 4 else key

    assert walk(keys, crowding, least) == list(JavaTable.of(keys, crowding, least))
