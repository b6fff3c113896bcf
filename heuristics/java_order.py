"""Orders that Storm's schedules depend on and that Java sets: hash maps, strings, sorting.

Storm walks over ``java.util.HashMap`` and breaks ties by the order it finds; some of its
comparators change what they compare. So the order of a map's keys and the very sequence of a
sort's comparisons are part of the algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

LEAST_TABLE = 16
"""Buckets of a new ``HashMap``; it doubles when it is more than three quarters full."""


def string_hash(text: str) -> int:
    """Return Java's ``String.hashCode``, from -2^31 to 2^31 - 1."""
    value = 0
    for unit in code_units(text):
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


def code_units(text: str) -> tuple[int, ...]:
    """Return the UTF-16 code units of `text`: Java's ``String.compareTo`` compares these."""
    raw = text.encode("utf-16-be")
    return tuple(int.from_bytes(raw[i : i + 2], "big") for i in range(0, len(raw), 2))


def map_order(keys: Iterable[str]) -> list[str]:
    """Return different `keys`, put one by one into a new ``HashMap``, as Java walks over them.

    Keys of one bucket keep their order. (Java turns a bucket of nine or more into a tree where
    the table has 64 or more; that is not followed here.)
    """
    return walk(list(keys), string_hash)


def walk(keys: list[T], hash_of: Callable[[T], int]) -> list[T]:
    """Return `keys` by the bucket of their hash, in a table that grew by doubling."""
    size = LEAST_TABLE
    while 4 * len(keys) > 3 * size:
        size *= 2
    return sorted(keys, key=lambda key: spread(hash_of(key)) & (size - 1))


def spread(value: int) -> int:
    """Return what ``HashMap`` makes of a hash: its upper half mixed into the lower one."""
    value &= 0xFFFFFFFF
    return value ^ (value >> 16)


def sort_in_place(items: list[T], compare: Callable[[T, T], float]) -> None:
    """Sort as ``Collections.sort`` does: stable, with the same comparisons in the same order.

    The comparisons matter where `compare` has side effects. They are Java's for fewer than 32
    items (the first run, then binary insertion); longer lists are sorted the same way here, where
    Java would merge runs.
    """
    if len(items) < 2:
        return
    start = _first_run(items, compare)
    for index in range(start, len(items)):
        pivot = items[index]
        left, right = 0, index
        while left < right:
            middle = (left + right) // 2
            if compare(pivot, items[middle]) < 0:
                right = middle
            else:
                left = middle + 1
        del items[index]
        items.insert(left, pivot)


def _first_run(items: list[T], compare: Callable[[T, T], float]) -> int:
    """Return the length of the run that `items` begins with, after turning a falling one round."""
    end = 2
    if compare(items[1], items[0]) < 0:
        while end < len(items) and compare(items[end], items[end - 1]) < 0:
            end += 1
        items[:end] = reversed(items[:end])
    else:
        while end < len(items) and compare(items[end], items[end - 1]) >= 0:
            end += 1
    return end
