"""The keys of a ``java.util.HashMap`` of Java 7, as it walks over them.

Java 8 mixes hashes otherwise and appends to a bucket: `iteration_order` and `hash_codes` have that.
Read from OpenJDK 7u (``java/util/HashMap.java``: ``hash``, ``addEntry``, ``transfer``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from slotwise.heuristics.ras.java.iteration_order import LEAST_TABLE

T = TypeVar("T")


def java_7_order(
    keys: Iterable[T], hash_of: Callable[[T], int], least: int = LEAST_TABLE
) -> list[T]:
    """Return different `keys`, put one by one into a ``new HashMap(least)``, as it walks over them.

    A key goes to the head of its bucket. A table three quarters full doubles when the next key
    meets a bucket in use, and moving the keys turns each bucket round.
    """
    buckets: list[list[T]] = [[] for _ in range(_power_of_two(least))]
    for count, key in enumerate(keys):
        if count >= len(buckets) * 3 // 4 and buckets[_index(hash_of(key), len(buckets))]:
            before = [one for bucket in buckets for one in bucket]
            buckets = [[] for _ in range(2 * len(buckets))]
            for one in before:
                buckets[_index(hash_of(one), len(buckets))].insert(0, one)
        buckets[_index(hash_of(key), len(buckets))].insert(0, key)
    return [one for bucket in buckets for one in bucket]


def _index(value: int, buckets: int) -> int:
    value &= 0xFFFFFFFF
    value ^= (value >> 20) ^ (value >> 12)
    return (value ^ (value >> 7) ^ (value >> 4)) & (buckets - 1)


def _power_of_two(least: int) -> int:
    size = 1
    while size < least:
        size *= 2
    return size
