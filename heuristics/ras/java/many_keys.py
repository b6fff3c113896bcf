"""The orders of `iteration_order` for thousands of keys at once, as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slotwise.heuristics.ras.java.hash_map import table_size
from slotwise.heuristics.ras.java.iteration_order import string_hash

Hashes = NDArray[np.uint32]
"""Hash codes, from 0 to 2^32 - 1."""


def many_in_order(hashes: Hashes) -> NDArray[np.intp]:
    """Return the positions of keys with these hashes as Java walks over a table of them.

    From 25 keys on: of fewer, a crowded bucket may double the table.
    """
    mixed = hashes ^ (hashes >> np.uint32(16))  # as `spread` does
    buckets = mixed & np.uint32(table_size(len(hashes)) - 1)
    if buckets.max(initial=0) < 2**16:
        return np.argsort(buckets.astype(np.uint16), kind="stable")  # in linear time
    return np.argsort(buckets, kind="stable")


def numbered_hashes(text: str, numbers: Hashes) -> Hashes:
    """Return ``String.hashCode`` of `text` with each of the ascending `numbers` behind it."""
    hashes = np.full(len(numbers), string_hash(text) & 0xFFFFFFFF, dtype=np.uint32)
    for place in reversed(range(len(str(numbers.max(initial=0))))):
        power = 10**place
        longer = slice(np.searchsorted(numbers, power) if place else 0, None)
        digits = numbers[longer] // power % 10
        hashes[longer] = 31 * hashes[longer] + (digits + ord("0"))
    return hashes
