"""The one place where CP-SAT is run: its parameters, Ctrl-C, and the statuses it may answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InternalError
from slotwise.solver.compact.native_call import run_interruptible
from slotwise.solver.core.result import Limits

ANSWERS = (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE, cp_model.UNKNOWN)
"""The statuses of a valid model."""


@dataclass(frozen=True, slots=True, eq=False)
class CpAnswer:
    """The answer of CP-SAT.

    Parameters
    ----------
    status
        One of `ANSWERS`.
    solver
        Has values, bounds and statistics.
    interrupted
        Whether Ctrl-C, or another thread, ended the search.
    """

    status: cp_model.CpSolverStatus
    solver: cp_model.CpSolver
    interrupted: bool

    @property
    def has_solution(self) -> bool:
        """Whether there are values to read."""
        return self.status in (cp_model.OPTIMAL, cp_model.FEASIBLE)


def parameters(limits: Limits) -> cp_model.CpSolver:
    """Return a solver with our parameters.

    ``presolve_inclusion_work_limit = 0`` is not a matter of speed: a presolve rule of OR-Tools
    9.15 adds up coefficients in 32 bits, drops the enforcement literal of a constraint where they
    reach 2^31, and so cuts off solutions (google/or-tools#5293; 9.12 to 9.14 answered the same
    models correctly). The limit switches that rule off.
    """
    solver = cp_model.CpSolver()
    solver.parameters.presolve_inclusion_work_limit = 0
    solver.parameters.cp_model_presolve = limits.presolve
    solver.parameters.max_time_in_seconds = max(limits.time_s, 0.0)
    solver.parameters.num_workers = limits.workers
    solver.parameters.random_seed = limits.solver_seed
    solver.parameters.catch_sigint_signal = False
    if limits.deterministic_work is not None:
        solver.parameters.max_deterministic_time = limits.deterministic_work
        solver.parameters.interleave_search = limits.workers > 1
    return solver


def _limit_by_work(solver: cp_model.CpSolver, limits: Limits, token: CancellationToken) -> None:
    """Let deterministic time alone end the search: its unit is that of `WorkClock`."""
    work = limits.time_s if limits.deterministic_work is None else limits.deterministic_work
    solver.parameters.max_time_in_seconds = math.inf
    solver.parameters.max_deterministic_time = max(min(work, token.remaining), 0.0)
    solver.parameters.interleave_search = limits.workers > 1


def run_cp_sat(
    model: cp_model.CpModel,
    limits: Limits,
    token: CancellationToken,
    *,
    listener: cp_model.CpSolverSolutionCallback | None = None,
    on_bound: Callable[[float], None] | None = None,
    linearization: int | None = None,
) -> CpAnswer:
    """Solve `model` within `limits`, until `token` is cancelled.

    Where the token counts work, the limit is one of CP-SAT's deterministic time, which is added to
    that work; nobody is called meanwhile.

    Parameters
    ----------
    listener
        Called with each solution.
    on_bound
        Called with each better bound of the objective, a double.
    linearization
        How much of the model CP-SAT puts into its linear relaxation, 0 to 2; ``None`` = its
        default.

    Raises
    ------
    InternalError
        When CP-SAT rejects the model; if only its presolve does, it runs again without.
    """
    solver = parameters(limits)
    if linearization is not None:
        solver.parameters.linearization_level = linearization
    if token.clock is not None:
        _limit_by_work(solver, limits, token)
        listener = on_bound = None  # their calls would read the clock at any moment
    if on_bound is not None:
        solver.best_bound_callback = on_bound
    statuses: list[cp_model.CpSolverStatus] = []
    interrupted = run_interruptible(
        lambda: statuses.append(solver.solve(model, listener)), solver.stop_search, token
    )
    token.spend(solver.response_proto.deterministic_time)
    if statuses[0] == cp_model.MODEL_INVALID and limits.presolve and not model.validate():
        # Presolve of 9.15 makes valid models invalid, with coefficients of 9e15 in the objective.
        plain = _without_presolve(limits, solver)
        return run_cp_sat(
            model, plain, token, listener=listener, on_bound=on_bound, linearization=linearization
        )
    if statuses[0] not in ANSWERS:
        raise InternalError(f"CP-SAT answered {solver.status_name(statuses[0])}")
    return CpAnswer(statuses[0], solver, interrupted)


def overflows(model: cp_model.CpModel) -> bool:
    """Return whether CP-SAT rejects the model because a sum of it might leave 64 bits."""
    return "Possible integer overflow" in model.validate()


def _without_presolve(limits: Limits, solver: cp_model.CpSolver) -> Limits:
    """Return what a run of the solver has left of its limits, without presolve."""
    work = limits.deterministic_work
    if work is not None:
        work = max(work - solver.response_proto.deterministic_time, 0.0)
    left = max(limits.time_s - solver.wall_time, 0.0)
    return replace(limits, presolve=False, time_s=left, deterministic_work=work)


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
    """Return an upper bound of the rounding error in CP-SAT's doubles of the objective.

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
    """Return the whole bound proven by CP-SAT's double, whose error is at most `noise`."""
    if not math.isfinite(double):
        return None
    return max(0, math.ceil(double - noise))
