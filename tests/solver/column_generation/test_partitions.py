"""Partitions of the tasks of a kind that keep rows: against all partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from flow_graphs import rows_of
from hypothesis import given
from hypothesis import strategies as st

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.partitions import Partitions
from slotwise.solver.column_generation.listed_master import NEG_INF


def all_partitions(left: int, most: int) -> Iterator[list[int]]:
    """Yield every list of parts of at most `most` tasks, the largest first."""
    if not left:
        yield []
    for part in range(min(left, most), 0, -1):
        for rest in all_partitions(left - part, part):
            yield [part, *rest]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Partitions, IntArray, list[list[int]]]:
    """Draw partitions of one kind, prices, and all partitions that keep the rows."""
    size, most = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    most = min(size, most)
    rows = draw(rows_of(1, most))
    barred = draw(st.sets(st.integers(1, most), max_size=2))
    prices = np.array([[0, *draw(st.lists(st.integers(-9, 9), min_size=most, max_size=most))]])
    mask = np.isin(np.arange(most + 1), list(barred))[None, :]
    partitions = Partitions(np.array([size]), np.array([most]), rows).without(mask)
    kept = [
        parts
        for parts in all_partitions(size, most)
        if not barred & set(parts)
        and all(row.least <= sum(n >= row.count for n in parts) <= row.most for row in rows)
    ]
    return partitions, prices, kept


@given(cases())
def test_the_dearest_partition_is_the_dearest_that_keeps_all_rows(
    case: tuple[Partitions, IntArray, list[list[int]]],
) -> None:
    partitions, prices, kept = case
    found = partitions.dearest(prices, 0)
    costs = [int(prices[0, parts].sum()) for parts in kept]
    assert (found is None) == (not kept)
    assert partitions.total(prices) == max(costs, default=NEG_INF)
    if found is not None:
        cost, times = found
        assert cost == max(costs) == int(times @ prices[0])
        parts = sorted(Counter(dict(enumerate(times.tolist()))).elements(), reverse=True)
        assert parts in kept
        assert partitions.keeps(0, times)


@given(cases())
def test_losses_are_those_of_the_dearest_partition_with_that_part(
    case: tuple[Partitions, IntArray, list[list[int]]],
) -> None:
    partitions, prices, kept = case
    if not kept:
        return
    losses = partitions.losses(prices)
    total = partitions.total(prices)
    assert losses[0, 0] == 0
    for n in range(1, prices.shape[1]):
        costs = [int(prices[0, parts].sum()) for parts in kept if n in parts]
        assert int(losses[0, n]) == (total - max(costs) if costs else -NEG_INF // 2)
