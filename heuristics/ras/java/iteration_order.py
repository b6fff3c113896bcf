"""Orders that Storm's schedules depend on and that Java sets: hash maps, strings, sorting.

Storm walks over ``java.util.HashMap`` and breaks ties by the order it finds; some of its
comparators change what they compare. So the order of a map's keys and the very sequence of a
sort's comparisons are part of the algorithm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from slotwise.heuristics.ras.java.hash_map import (
    CROWDED,
    LEAST_TABLE,
    SMALL,
    JavaTable,
    spread,
    table_size,
)
from slotwise.heuristics.ras.java.timsort import Merger

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

LEAST_MERGE = 32
"""Items from which on a sort merges runs."""


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

    Keys of one bucket keep their order (but see `hash_map` on trees).
    """
    return walk(list(keys), string_hash)


def walk(keys: Sequence[K], hash_of: Callable[[K], int], least: int = LEAST_TABLE) -> list[K]:
    """Return different `keys`, put one by one into a table of `least` buckets, as Java walks."""
    size = table_size(len(keys), least)
    if len(keys) > CROWDED and size < SMALL and _is_crowded(keys, hash_of, least):
        return list(JavaTable.of(keys, hash_of, least))
    return sorted(keys, key=lambda key: spread(hash_of(key)) & (size - 1))


def _is_crowded(keys: Sequence[K], hash_of: Callable[[K], int], buckets: int) -> bool:
    """Whether one of so many buckets has so many of `keys` that a small table would double."""
    counts = Counter(spread(hash_of(key)) & (buckets - 1) for key in keys)
    return max(counts.values()) > CROWDED


def sort_in_place(items: list[T], compare: Callable[[T, T], float]) -> None:
    """Sort as ``Collections.sort`` does: stable, with the same comparisons in the same order.

    The comparisons matter where `compare` has side effects.

    Raises
    ------
    ContractError
        Where Java's sort fails because the comparisons contradict each other.
    """
    if len(items) < LEAST_MERGE:
        items[:] = _short_run(items, len(items), compare)
        return
    least = len(items)
    odd = 0
    while least >= LEAST_MERGE:
        least, odd = least // 2, odd | least % 2
    merger = Merger(compare)
    runs: list[list[T]] = []
    left = items[:]
    while left:
        run = _short_run(left, least + odd, compare)
        left = left[len(run) :]
        runs.append(run)
        while (at := _to_merge(runs)) is not None:
            runs[at : at + 2] = [merger.merged(runs[at], runs[at + 1])]
    while len(runs) > 1:
        at = len(runs) - 2
        at -= at > 0 and len(runs[at - 1]) < len(runs[at + 1])
        runs[at : at + 2] = [merger.merged(runs[at], runs[at + 1])]
    items[:] = runs[0]


def _to_merge(runs: list[list[T]]) -> int | None:
    """Return which run is merged with the next now, or ``None``: lengths are to fall fast."""
    size = [len(run) for run in runs]
    at = len(runs) - 2
    if (at > 0 and size[at - 1] <= size[at] + size[at + 1]) or (
        at > 1 and size[at - 2] <= size[at - 1] + size[at]
    ):
        return at - 1 if size[at - 1] < size[at + 1] else at
    return at if at >= 0 and size[at] <= size[at + 1] else None


def _short_run(items: list[T], least: int, compare: Callable[[T, T], float]) -> list[T]:
    """Return the run that `items` begins with, made longer by insertion to `least` of them."""
    if len(items) < 2:
        return items[:]
    run = items[:]
    start = _first_run(run, compare)
    del run[max(start, least) :]
    for index in range(start, len(run)):
        pivot = run[index]
        left, right = 0, index
        while left < right:
            middle = (left + right) // 2
            if compare(pivot, run[middle]) < 0:
                right = middle
            else:
                left = middle + 1
        del run[index]
        run.insert(left, pivot)
    return run


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
