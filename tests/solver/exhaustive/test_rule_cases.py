"""In `rule_cases` the rule decides: without it, what it costs or forbids is possible."""

from __future__ import annotations

import pytest
from engine_cases import LIMITS
from rule_cases import CASES, Expected

from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing.checks import scope

COSTS_NO_FLOW = {"ackers", "one topology per worker", "minimum cpu of each topology"}
"""Rows whose rule forces another placement of the same value."""

NO_RULES = {"whole topologies"}
"""What may be left out is part of the objective."""


def optimum(instance: Instance) -> Expected:
    return EXHAUSTIVE.run(compile_problem(instance), LIMITS, None).values


@pytest.mark.parametrize("name", sorted(CASES.keys() - NO_RULES))
def test_the_rule_decides(name: str) -> None:
    row = CASES[name]

    def without(instance: Instance) -> Expected:
        return optimum(scope.within(instance, set(scope.RULES) - {row.rule}))

    trivial, forced, infeasible = row.trivial[0](), row.forced[0](), row.infeasible[0]()
    assert without(trivial) == optimum(trivial)
    least, cost = without(forced), optimum(forced)
    assert least is not None
    assert cost is not None
    assert least == cost if name in COSTS_NO_FLOW else least < cost
    assert without(infeasible) != optimum(infeasible)
    assert without(infeasible) is not None
