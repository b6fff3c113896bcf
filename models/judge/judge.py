"""The judge: the only place where a rule is checked or a cost computed. It knows no solver."""

from __future__ import annotations

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.accounting import account
from slotwise.models.judge.costs import flow_by_level, part_values
from slotwise.models.judge.rules import violations
from slotwise.models.judge.verdict import TermValue, Verdict
from slotwise.models.problem.compile import compiled
from slotwise.models.problem.problem import Problem


def judge(problem: Problem | Instance, placement: Placement) -> Verdict:
    """Return cost and violations of `placement`.

    Parameters
    ----------
    problem
        The compiled problem; an instance is compiled first.
    placement
        Of that instance. Topologies may be left out whole only where the objective has
        ``rejected``.

    Raises
    ------
    InputError
        When the placement's length or nodes are not the instance's.
    """
    problem = compiled(problem)
    check_shape(problem, placement)
    accounting = account(problem, placement)
    parts = part_values(problem, placement, accounting)
    worker, node, rack, cluster = flow_by_level(problem, accounting)
    unit = problem.flow_unit
    return Verdict(
        problem=problem,
        placement=placement,
        violations=tuple(violations(problem, accounting, parts["moved"])),
        objective=tuple(
            TermValue(term.name, scaled, scaled * term.unit)
            for term, scaled in zip(problem.terms, _terms(problem, parts), strict=True)
        ),
        parts={part: value * problem.part_units[part] for part, value in parts.items()},
        flow_by_level=(worker * unit, node * unit, rack * unit, cluster * unit),
        accounting=accounting,
    )


def _terms(problem: Problem, parts: dict[str, int]) -> tuple[int, ...]:
    return tuple(
        sum(multiplier * parts[part] for part, multiplier in term.parts) for term in problem.terms
    )


def check_shape(problem: Problem, placement: Placement) -> None:
    """Refuse a placement whose length or nodes are not those of the problem."""
    if len(placement.nodes) != problem.task_count:
        raise InputError(
            f"must have one entry per task of the instance ({problem.task_count}), "
            f"not {len(placement.nodes)}",
            field="placement",
            has_value=False,
        )
    highest = max(placement.nodes, default=-1)
    if highest >= problem.node_count:
        raise InputError(
            f"must be below the number of nodes ({problem.node_count})",
            field="placement.nodes",
            value=highest,
        )
