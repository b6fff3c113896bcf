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
    return whole_bound(model, solver.best_objective_bound)


def whole_bound(model: cp_model.CpModel, double: float) -> int | None:
    """Return what CP-SAT's double proves; it is noisy where the constant is large."""
    if not math.isfinite(double):
        return None
    offset = round(model.proto.objective.offset)
    noise = max(1e-6, (abs(double) + abs(offset)) * 2.0**-48)
    return max(0, math.ceil(double - noise))
