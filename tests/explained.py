"""Checks of explanations that look at nothing but the judge and exhaustive search."""

from __future__ import annotations

from collections.abc import Collection

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import from_places
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.explain.constraint import Constraint, constraints_of, relax
from slotwise.solver.explain.explanation import Conflict, Explanation, Feasibility
from slotwise.solver.explain.feasibility import question


def exists(instance: Instance) -> bool:
    """Whether a tiny instance has a placement, by exhaustive search."""
    outcome = EXHAUSTIVE.run(compile_problem(question(instance)), Limits(time_s=60.0), None)
    assert outcome.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return outcome.status is Status.OPTIMAL


def only(instance: Instance, kept: Collection[Constraint]) -> Instance:
    """Return the instance with these constraints alone."""
    return relax(instance, [one for one in constraints_of(instance) if one not in kept])


def check_conflict(instance: Instance, conflict: Conflict) -> None:
    """Assert that a conflict of a tiny instance is one, and that each member is needed."""
    members = [member.constraint for member in conflict.members]
    assert not exists(only(instance, members))
    assert conflict.minimal
    for member in conflict.members:
        rest = [one for one in members if one != member.constraint]
        assert member.witness is not None
        looser = only(instance, rest)
        assert judge(looser, from_places(looser, member.witness)).valid, member.constraint


def check_explanation(instance: Instance, found: Explanation) -> None:
    """Assert that every conflict and every repair of an explanation holds."""
    assert found.status is Feasibility.INFEASIBLE
    assert found.conflicts
    assert found.complete
    for conflict in found.conflicts:
        check_conflict(instance, conflict)
    prices = [repair.price for repair in found.repairs]
    assert prices == sorted(prices)
    for repair in found.repairs:
        assert judge(repair.instance, repair.placement).valid, repair
        assert repair.least, repair
