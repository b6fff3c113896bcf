"""Whole bounds from what CP-SAT reports."""

from __future__ import annotations

import math

from ortools.sat.python import cp_model

from slotwise.models.errors import InternalError


def proven_bound(
    model: cp_model.CpModel, solver: cp_model.CpSolver, status: cp_model.CpSolverStatus
) -> int | None:
    """Return the proven least value of a term, a whole number.

    CP-SAT reasons in integers and reports a double, which is noisy where the constant of the
    objective is large. Once it has a solution its own integer bound is used; before that the
    double, lowered by what its rounding can be.
    """
    objective = model.proto.objective
    offset = round(objective.offset)
    if objective.scaling_factor not in (0.0, 1.0) or offset != objective.offset:
        raise InternalError("the objective of the compact model is not whole")
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return max(0, solver.response_proto.inner_objective_lower_bound + offset)
    return whole_bound(solver.best_objective_bound, noise_of(model))


def noise_of(model: cp_model.CpModel) -> float:
    """Return how much CP-SAT's doubles of the objective may be off, with room to spare.

    Presolve moves any part of the objective into its constant and back, so what counts is how large
    the objective can be, not how large it is.
    """
    objective, variables = model.proto.objective, model.proto.variables
    largest = abs(objective.offset)
    for index, weight in zip(objective.vars, objective.coeffs, strict=True):
        domain = variables[index if index >= 0 else -index - 1].domain
        largest += abs(weight) * max(abs(end) for end in domain)
    return max(1e-6, largest * 2.0**-48)


def whole_bound(double: float, noise: float) -> int | None:
    """Return what CP-SAT's double proves, which may be off by `noise`."""
    if not math.isfinite(double):
        return None
    return max(0, math.ceil(double - noise))
