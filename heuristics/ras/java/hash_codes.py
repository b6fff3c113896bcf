"""In which order Java walks over its hash tables, where a schedule depends on it.

`iteration_order` has the tables that grow one key at a time; here are those that are made as a
copy, and those that ``computeIfAbsent`` fills. Keys of one bucket stay in the order in which they
came, but ``computeIfAbsent`` puts a new key at the head of its bucket. (Java turns a bucket of nine
or more into a tree where the table has 64 buckets or more; that is not followed here.)
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from slotwise.heuristics.ras.java.iteration_order import LEAST_TABLE, spread, string_hash, walk

T = TypeVar("T")

JAVA_RELEASE = 17
"""Whose tables are followed by default; release 19 sizes copies more tightly."""


def executor_hash(executor: int) -> int:
    """Return ``ExecutorDetails.hashCode`` of an executor with one task: start + 13 * end."""
    return 14 * executor


def slot_hash(node_hash: int, port: int) -> int:
    """Return ``WorkerSlot.hashCode`` (before it is cut to 32 bits)."""
    return node_hash + 13 * port


def shared_memory_hash(name: str, parts: Sequence[float | None]) -> int:
    """Return ``SharedMemory.hashCode`` as Thrift makes it; ``None`` = a part that is not set."""
    value = (8191 + 131071) * 8191 + string_hash(name)
    for part in parts:
        value = value * 8191 + (524287 if part is None else 131071)
        if part is not None:
            low, high = struct.unpack("<II", struct.pack("<d", part))
            value = value * 8191 + (low ^ high)
    return (value + 2**31) % 2**32 - 2**31


def copied_table(count: int, java: int = JAVA_RELEASE) -> int:
    """Return the buckets of a ``HashMap`` made by ``putAll`` of `count` keys into an empty one."""
    capacity = math.ceil(count / 0.75) if java >= 19 else int(count / 0.75 + 1)
    size = 1
    while size < capacity:
        size *= 2
    return size


def map_copy(keys: Sequence[T], hash_of: Callable[[T], int], java: int = JAVA_RELEASE) -> list[T]:
    """Return `keys` as Java walks over a ``HashMap`` to which a map of them was added at once."""
    return _by_bucket(keys, hash_of, copied_table(len(keys), java))


def thrift_order(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return the different `keys` of a new ``HashMap`` as Java walks over them after Thrift.

    Thrift reads a map into a new one made for twice as many keys.
    """
    sent = walk(list(keys), hash_of)
    size = 1
    while size < 2 * len(sent):
        size *= 2
    return _by_bucket(sent, hash_of, size)


def set_copy(keys: Sequence[T], hash_of: Callable[[T], int], java: int = JAVA_RELEASE) -> list[T]:
    """Return `keys` as Java walks over ``new HashSet(keys)``: a copy of at least 16 buckets."""
    return _by_bucket(keys, hash_of, max(LEAST_TABLE, copied_table(len(keys), java)))


def set_order(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return different `keys`, added one by one to a new ``HashSet``, as Java walks over them."""
    return walk(list(keys), hash_of)


def executors_in_map(count: int, java: int = JAVA_RELEASE) -> list[int]:
    """Return the executors of a topology as Java walks over its map of them (a copy of one)."""
    return map_copy(set_order(range(count), executor_hash), executor_hash, java)


def computed_order(keys: Iterable[str]) -> list[str]:
    """Return the different ones of `keys`, each given to ``computeIfAbsent`` of a new ``HashMap``.

    A full table doubles at the next call, whether or not its key is new.
    """
    buckets: list[list[str]] = [[] for _ in range(LEAST_TABLE)]
    seen: set[str] = set()
    for key in keys:
        if 4 * len(seen) > 3 * len(buckets):
            order = [item for bucket in buckets for item in bucket]
            buckets = [[] for _ in range(2 * len(buckets))]
            for item in order:
                buckets[spread(string_hash(item)) & (len(buckets) - 1)].append(item)
        if key not in seen:
            seen.add(key)
            buckets[spread(string_hash(key)) & (len(buckets) - 1)].insert(0, key)
    return [item for bucket in buckets for item in bucket]


def _by_bucket(keys: Sequence[T], hash_of: Callable[[T], int], size: int) -> list[T]:
    return sorted(keys, key=lambda key: spread(hash_of(key)) & (size - 1))
