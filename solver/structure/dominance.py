"""Dominance: of several rows with the same key, those that no other row beats."""

from __future__ import annotations

import math

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray


def lexicographic_rank(values: IntArray) -> IntArray:
    """Return [S, 1] the rank of each row of `values` [S, T] in lexicographic order, from 0.

    Equal rows have equal ranks.
    """
    if values.shape[1] <= 1:
        return values
    order = np.lexsort(values.T[::-1])
    rises = (np.diff(values[order], axis=0) != 0).any(axis=1)
    ranks = np.zeros((len(values), 1), dtype=np.int64)
    ranks[order[1:], 0] = np.cumsum(rises)
    return ranks


def undominated(keys: IntArray, costs: IntArray) -> IntArray:
    """Return the rows to keep, ascending by key.

    A row is dropped if another with the same key costs at most as much in every column; of equal
    rows one is kept.

    Parameters
    ----------
    keys
        [S, K] the states.
    costs
        [S, C] their costs; less is better.
    """
    columns = [*costs.T[::-1], *keys.T[::-1]]
    order = np.lexsort(columns) if columns else np.arange(len(keys))
    keys, costs = keys[order], costs[order]
    new_key = np.ones(len(order), dtype=np.bool_)
    new_key[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    group = np.cumsum(new_key) - 1
    mask = np.zeros(len(order), dtype=np.bool_)
    left = np.arange(len(order))
    while len(left):
        first = np.ones(len(left), dtype=np.bool_)
        first[1:] = group[left[1:]] != group[left[:-1]]
        leaders = left[first]  # the least of what is left, so nothing left beats them
        mask[leaders] = True
        leader_of = leaders[np.cumsum(first) - 1]
        left = left[~(costs[left] >= costs[leader_of]).all(axis=1)]
    return np.asarray(order[mask], dtype=np.int64)


# A set of count vectors, for looking up many at once.

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
