"""Sets of count vectors, and ranks in lexicographic order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from slotwise.solver.structure.dominance import VectorSet, lexicographic_rank

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=20)


@given(ROWS, ROWS)
def test_a_vector_set_is_a_set(inside: list[tuple[int, ...]], asked: list[tuple[int, ...]]) -> None:
    found = VectorSet(np.array(inside), np.array([3, 3, 3])).has(np.array(asked))
    assert found.tolist() == [row in set(inside) for row in asked]


def test_vectors_too_large_for_a_code_are_known() -> None:
    assert VectorSet.is_codable(np.array([2**20, 2**20, 2**20]))
    assert not VectorSet.is_codable(np.array([2**21, 2**21, 2**21]))


@given(ROWS)
def test_ranks_order_rows_as_tuples(rows: list[tuple[int, ...]]) -> None:
    ranks = lexicographic_rank(np.array(rows))[:, 0].tolist()
    for one, first in zip(rows, ranks, strict=True):
        for other, second in zip(rows, ranks, strict=True):
            assert (one < other) == (first < second)
            assert (one == other) == (first == second)
