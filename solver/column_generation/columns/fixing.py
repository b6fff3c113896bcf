"""Reduced-cost fixing: the columns that solutions can use which are optimal in the leading terms.

A solution costs at least the bound and the reduced costs of its columns, so where a term's optimum
is known every column of a solution that reaches it has a reduced cost within the gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.columns.model import ColumnModel, make_column_model
from slotwise.solver.column_generation.columns.pricing import Limit, solve_relaxation
from slotwise.solver.column_generation.params import ColumnsParams
from slotwise.solver.core.memory import RunToken
from slotwise.solver.presolve.without_running import without_running
from slotwise.solver.structure.vector_set import VectorSet


def limits_of(model: ColumnModel, optima: Sequence[int]) -> list[Limit]:
    """Return the rows that limit a term: the optima of those before it, and the moves."""
    most: list[Limit] = list(zip(model.terms, optima, strict=False))
    if model.moves is not None:
        most.append((model.moves, model.problem.move_limit))
    return most


def fixed(
    model: ColumnModel, optima: Sequence[int], deadline: float, token: RunToken
) -> ColumnModel:
    """Return the model with the columns that solutions with these leading values can use.

    Raises
    ------
    InternalError
        Where a relaxation is above its optimum.
    """
    for index, optimum in enumerate(optima):
        limits = limits_of(model, optima[:index])
        dual = solve_relaxation(model, model.terms[index], limits, deadline, token)
        gap = optimum * dual.scale - dual.bound
        if gap < 0:
            raise InternalError(f"the relaxation of term {index} is above its proven optimum")
        model = model.where([costs <= gap for costs in dual.reduced_costs])
    return model


def usable_contents(
    problem: Problem,
    optima: Sequence[int],
    deadline: float,
    token: RunToken,
    params: ColumnsParams,
) -> Mapping[int, IntArray] | None:
    """Return node -> [Y, K] what it may hold in a placement that reaches `optima`.

    By the leading terms that count no moves, without homes: nodes are of few types there, and their
    columns are soon listed. These terms have the same values and the same optimum there
    (`without_running`; with a limit of moves they need not, and nothing is returned), so whatever
    reaches `optima` uses only columns whose reduced cost fits the gap. ``None`` where that tells
    nothing.

    Raises
    ------
    NotTakenError
        When there are too many columns even so.
    """
    easier = without_running(problem) if problem.counts_moves and optima else None
    if easier is None or problem.move_limit != NO_LIMIT:
        return None
    model = make_column_model(easier.problem, deadline, token, params)
    if not VectorSet.is_codable(model.kinds.sizes):
        return None
    model = fixed(model, optima[: len(easier.problem.terms)], deadline, token)
    return {
        node: columns.counts
        for kind, columns in zip(model.types, model.columns, strict=True)
        for node in kind.nodes
    }
