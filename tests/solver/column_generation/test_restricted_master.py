"""The one restricted master: duals, growth by columns, and duals that make no sense."""

from __future__ import annotations

import math

import numpy as np
import pytest

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import make_flow_graph
from slotwise.solver.column_generation.connected.level import ConnectedMaster
from slotwise.solver.column_generation.listed_master import ListedMaster, TypeColumns
from slotwise.solver.column_generation.restricted_master import (
    FloatArray,
    RestrictedMaster,
    on_grid,
)
from slotwise.solver.core.memory import RunToken


def block(*rows: list[int]) -> IntArray:
    return np.array(rows, dtype=np.int64)


def test_the_dual_of_a_limit_is_what_one_more_unit_is_worth() -> None:
    """max 3 x + 2 y, x + y = 4, x <= 2; then x + y = 1."""
    master = RestrictedMaster(maximize=True)
    master.add_rows([4])
    master.add_rows([2], limit=True)
    master.add_columns(np.array([3.0, 2.0]), block([1, 1], [1, 0]))
    assert master.duals().tolist() == [2.0, 1.0]
    master.set_right_hand_sides([1])
    assert master.duals().tolist() == [3.0, 0.0]


def test_artificial_variables_are_used_where_no_column_is() -> None:
    master = RestrictedMaster()
    master.add_rows([4, -1])
    master.add_rows([1], limit=True)
    master.add_artificials(10.0)
    assert master.duals().tolist() == [10.0, -10.0, 0.0]
    master.add_columns(np.array([1.0]), block([1, 0, 2]))  # half of it is allowed
    assert master.duals().tolist() == [10.0, -10.0, -4.5]


def test_columns_are_generated_until_pricing_finds_none() -> None:
    """Cover 6 tasks by nodes with 1, 2 or 3 of them, each node at cost 1."""
    master = RestrictedMaster()
    master.add_rows([6])
    master.add_artificials(10.0)
    seen: list[float] = []

    def price(duals: FloatArray) -> bool:
        seen.append(float(duals[0]))
        size = next((y for y in (1, 2, 3) if duals[0] * y > 1 + 1e-9), None)
        if size is not None:
            master.add_columns(np.ones(1), block([size]))
        return size is not None

    assert master.generate(price, CancellationToken())[0] == pytest.approx(1 / 3)
    assert seen == pytest.approx([10, 1, 1 / 2, 1 / 3])


@pytest.mark.parametrize("maximize", [False, True])
def test_no_listed_column_is_left_with_a_negative_reduced_cost(maximize: bool) -> None:
    rng = np.random.default_rng(3)
    sign = -1 if maximize else 1
    for _ in range(30):
        counts = rng.integers(0, 4, size=(200, 3))
        limited = (rng.integers(0, 5, size=200),)
        columns = [TypeColumns(counts, rng.integers(0, 50, size=200), limited) for _ in range(2)]
        sizes = rng.integers(1, 8, size=3)
        duals = ListedMaster(columns, (3, 4), sizes, (9,), maximize=maximize).duals(
            CancellationToken()
        )
        for t, column in enumerate(columns):
            paid = counts @ duals[:3] + limited[0] * duals[3] + duals[4 + t]
            assert (sign * (column.values - paid)).min() >= -1e-6
        assert sign * duals[3] <= 0


def test_duals_become_whole_numbers_whatever_they_are() -> None:
    duals = np.array([math.nan, math.inf, -math.inf, 1e300, -0.3, 0.3])
    assert on_grid(duals, 4, 100).tolist() == [0, 100, -100, 100, -1, 1]


@pytest.mark.parametrize("found", [[1e300, -1e300], [math.nan, math.inf], [0.0, 0.0], [2.0, 3.0]])
def test_connected_duals_are_proven_whatever_the_solver_says(found: list[float]) -> None:
    """Sums of duals of 1e300, once rounded, left 64 bits."""
    sizes, scale = np.array([4, 5], dtype=np.int64), 1 << 20
    graph = make_flow_graph(
        sizes,
        block([0, 3], [3, 0]),
        np.ones(2, dtype=np.int64),
        4,
        np.minimum(sizes, 4),
        lambda rows: np.ones(len(rows), np.bool_),
        CancellationToken(),
    )
    master = ConnectedMaster(graph, scale)
    master.price(np.array(found), math.inf, RunToken())
    assert master.least is not None
    for a in range(5):
        for b in range(5 - a):
            assert master.least @ [a, b] >= scale * 3 * a * b
