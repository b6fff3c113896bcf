"""In which order Java walks over its hash tables, where a schedule depends on it.

`iteration_order` has the tables that grow one key at a time; here are those that are made as a
copy, and those that ``computeIfAbsent`` fills. Keys of one bucket stay in the order in which they
came, but ``computeIfAbsent`` puts a new key at the head of its bucket. (What becomes of crowded
buckets: `hash_map`.)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from slotwise.heuristics.ras.java.hash_map import LEAST_TABLE, JavaTable, copied_table
from slotwise.heuristics.ras.java.iteration_order import string_hash, walk

T = TypeVar("T", bound=Hashable)

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


def map_copy(keys: Sequence[T], hash_of: Callable[[T], int], java: int = JAVA_RELEASE) -> list[T]:
    """Return `keys` as Java walks over a ``HashMap`` to which a map of them was added at once."""
    return walk(keys, hash_of, copied_table(len(keys), java))


def thrift_order(keys: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return the different `keys` of a new ``HashMap`` as Java walks over them after Thrift.

    Thrift reads a map into a new one made for twice as many keys.
    """
    sent = walk(list(keys), hash_of)
    size = 1
    while size < 2 * len(sent):
        size *= 2
    return walk(sent, hash_of, size)


def set_copy(keys: Sequence[T], hash_of: Callable[[T], int], java: int = JAVA_RELEASE) -> list[T]:
    """Return `keys` as Java walks over ``new HashSet(keys)``: a copy of at least 16 buckets."""
    return walk(keys, hash_of, max(LEAST_TABLE, copied_table(len(keys), java)))


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
    table = JavaTable(string_hash)
    for key in keys:
        table.compute_if_absent(key)
    return list(table)
