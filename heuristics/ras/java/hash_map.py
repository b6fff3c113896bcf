"""The keys of a ``java.util.HashMap`` as Java walks over them, whatever was done to it.

A table that has been larger keeps its buckets, and a key that left and came back stands last in its
bucket: sums of doubles show it. A table of fewer than 64 buckets doubles when one of them is
crowded, too. (A larger one turns that bucket into a tree; that is not followed here.)
`iteration_order` and `hash_codes` have shorter ways to the order of tables that only grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

LEAST_TABLE = 16
"""Buckets of a new ``HashMap``; it doubles when it is more than three quarters full."""

CROWDED = 8
"""A small table doubles when more keys than these come into one bucket; with ``computeIfAbsent``
one key earlier."""

SMALL = 64
"""Buckets from which a table counts as large (``MIN_TREEIFY_CAPACITY``)."""


def spread(value: int) -> int:
    """Return what ``HashMap`` makes of a hash: its upper half mixed into the lower one."""
    value &= 0xFFFFFFFF
    return value ^ (value >> 16)


def table_size(count: int, least: int = LEAST_TABLE) -> int:
    """Return the buckets of a table of `count` keys that grew from `least`, if none is crowded."""
    size = least
    while 4 * count > 3 * size:
        size *= 2
    return size


def copied_table(count: int, java: int) -> int:
    """Return the buckets of a ``HashMap`` made by ``putAll`` of `count` keys into an empty one."""
    capacity = math.ceil(count / 0.75) if java >= 19 else int(count / 0.75 + 1)
    size = 1
    while size < capacity:
        size *= 2
    return size


class JavaTable(Generic[K]):
    """A table of keys; `hash_of` is their ``hashCode``, cut to 32 bits or not.

    It begins with `buckets` of them, a power of 2.
    """

    __slots__ = ("_buckets", "_count", "_hash_of")

    def __init__(self, hash_of: Callable[[K], int], buckets: int = LEAST_TABLE) -> None:
        self._hash_of = hash_of
        self._buckets: list[list[K]] = [[] for _ in range(buckets)]
        self._count = 0

    @classmethod
    def of(cls, keys: Iterable[K], hash_of: Callable[[K], int], buckets: int) -> JavaTable[K]:
        """Return a table of `buckets` into which `keys` were put one by one."""
        table = cls(hash_of, buckets)
        for key in keys:
            table.put(key)
        return table

    @classmethod
    def copy_of(cls, keys: Sequence[K], hash_of: Callable[[K], int], java: int) -> JavaTable[K]:
        """Return ``new HashMap<>(0)`` to which a map of `keys` was added at once."""
        return cls.of(keys, hash_of, copied_table(len(keys), java) if keys else 1)

    def __iter__(self) -> Iterator[K]:
        """Walk over the keys."""
        return (key for bucket in self._buckets for key in bucket)

    @property
    def buckets(self) -> int:
        """How many it has; it may have more keys, and it never has fewer again."""
        return len(self._buckets)

    def put(self, key: K) -> None:
        """Add `key` at the end of its bucket, unless it is there; grow when too full."""
        bucket = self._bucket(key)
        if key not in bucket:
            bucket.append(key)
            self._double_if_crowded(len(bucket) > CROWDED)
            self._count += 1
            if self._is_too_full():
                self._double()

    def compute_if_absent(self, key: K) -> None:
        """Grow if too full already; then add `key` at the head of its bucket."""
        if self._is_too_full():
            self._double()
        bucket = self._bucket(key)
        if key not in bucket:
            bucket.insert(0, key)
            self._double_if_crowded(len(bucket) >= CROWDED)
            self._count += 1

    def remove(self, key: K) -> None:
        """Take `key` out; the table stays as large as it is."""
        self._bucket(key).remove(key)
        self._count -= 1

    def _bucket(self, key: K) -> list[K]:
        return self._buckets[spread(self._hash_of(key)) & (len(self._buckets) - 1)]

    def _is_too_full(self) -> bool:
        return 4 * self._count > 3 * len(self._buckets)

    def _double_if_crowded(self, crowded: bool) -> None:
        if crowded and len(self._buckets) < SMALL:
            self._double()

    def _double(self) -> None:
        keys = list(self)
        self._buckets = [[] for _ in range(2 * len(self._buckets))]
        for key in keys:
            self._bucket(key).append(key)


def compensated_sum(values: Iterable[float]) -> float:
    """Return ``DoubleStream.sum()``: with Kahan's compensation, as Java has it from 17 on.

    With infinite values it is their plain sum.
    """
    total = lost = plain = 0.0
    for value in values:
        plain += value
        added = value - lost
        after = total + added
        lost = (after - total) - added
        total = after
    return plain if math.isinf(plain) else total - lost


# The keys of a ``java.util.HashMap`` of Java 7, as it walks over them.
#
# Java 8 mixes hashes otherwise and appends to a bucket: `iteration_order` and `hash_codes` have
# that. Read from OpenJDK 7u (``java/util/HashMap.java``: ``hash``, ``addEntry``, ``transfer``).

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
            before = [item for bucket in buckets for item in bucket]
            buckets = [[] for _ in range(2 * len(buckets))]
            for item in before:
                buckets[_index(hash_of(item), len(buckets))].insert(0, item)
        buckets[_index(hash_of(key), len(buckets))].insert(0, key)
    return [item for bucket in buckets for item in bucket]


def _index(value: int, buckets: int) -> int:
    value &= 0xFFFFFFFF
    value ^= (value >> 20) ^ (value >> 12)
    return (value ^ (value >> 7) ^ (value >> 4)) & (buckets - 1)


def _power_of_two(least: int) -> int:
    size = 1
    while size < least:
        size *= 2
    return size
