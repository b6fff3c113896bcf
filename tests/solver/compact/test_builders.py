"""Both back ends of the compact formulation understand its model builder alike."""

from __future__ import annotations

import pytest

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InternalError
from slotwise.solver.compact.cp_sat.builder import CpBuilder, variable
from slotwise.solver.compact.milp.builder import MilpBuilder, column_of
from slotwise.solver.compact.variables import E, ModelBuilder, Worker


@pytest.mark.parametrize("make", [CpBuilder, MilpBuilder])
def test_the_largest_value_of_an_expression(make: type[CpBuilder] | type[MilpBuilder]) -> None:
    assert _largest_values(make()) == [3, 23, 24, 14, 7, 0]


def _largest_values(model: ModelBuilder[E]) -> list[int]:
    x, y, z = model.whole("x", 3), model.boolean("y"), model.number("z", 4)
    sums = [
        model.total((x,)),
        model.total((2 * x, 5 * y, 3 * z)),
        model.total((8 * x, -7 * y)),
        model.total((3 * x, 5, -1 * z)),
        model.total((7,)),
        model.total(()),
    ]
    return [model.most(one) for one in sums]


def test_a_sum_is_not_a_variable() -> None:
    cp, milp = CpBuilder(), MilpBuilder()
    with pytest.raises(InternalError, match="not a variable"):
        variable(2 * cp.boolean("x"))
    with pytest.raises(InternalError, match="not a column"):
        column_of(2 * milp.boolean("x"))


def test_building_ends_at_the_deadline() -> None:
    over = CancellationToken(deadline=0.0)
    with pytest.raises(CancelledError):
        CpBuilder(token=over).boolean("x")
    with pytest.raises(CancelledError):
        MilpBuilder(over).boolean("x")


def test_a_worker_that_no_rule_asks_to_be_open() -> None:
    worker: Worker[int] = Worker(0, 0, None, "n0_w0", None, {})
    with pytest.raises(InternalError, match="whether worker n0_w0 is open"):
        _ = worker.opened
