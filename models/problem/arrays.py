"""Read-only integer arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray


def int_array(values: Sequence[int] | Sequence[Sequence[int]] | IntArray) -> IntArray:
    """Return `values` as a read-only int64 array."""
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array


def bool_array(values: Sequence[bool]) -> BoolArray:
    """Return `values` as a read-only boolean array."""
    array = np.array(values, dtype=np.bool_)
    array.setflags(write=False)
    return array
