"""A set of count vectors, to look up many at once."""

from __future__ import annotations

import math

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray

MAX_BITS = 62


class VectorSet:
    """Vectors between 0 and `most` [K], each as one whole number in mixed radix.

    Parameters
    ----------
    vectors
        [S, K].
    most
        [K] largest entries; `is_codable` says whether the numbers fit.
    """

    def __init__(self, vectors: IntArray, most: IntArray) -> None:
        self._shape = tuple((most + 1).tolist())
        self._codes = np.unique(self._code(vectors))

    @staticmethod
    def is_codable(most: IntArray) -> bool:
        """Return whether vectors up to `most` have 64-bit codes."""
        return int(math.prod((most + 1).tolist())).bit_length() <= MAX_BITS

    def has(self, vectors: IntArray) -> BoolArray:
        """Return [R] which of the rows [R, K] are in the set; none may exceed `most`."""
        return np.isin(self._code(vectors), self._codes)

    def _code(self, vectors: IntArray) -> IntArray:
        return np.asarray(np.ravel_multi_index(tuple(vectors.T), self._shape), dtype=np.int64)
