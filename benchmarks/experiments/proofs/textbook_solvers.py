"""The textbook models in CP-SAT and, through PuLP, in HiGHS.

See `textbook` and `partition_textbook`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version

import pulp
from ortools.sat.python import cp_model

from slotwise.benchmarks.experiments.proofs.partition_textbook import partition_textbook
from slotwise.benchmarks.experiments.proofs.partition_textbook import (
    reason_against as why_no_partition,
)
from slotwise.benchmarks.experiments.proofs.textbook import Sum, Textbook, reason_against, textbook
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.cp_sat.run import run_cp_sat
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome, Status

CLOSE = 1e-6
"""Bounds come as doubles; this much is their noise, far below one step."""


@dataclass(frozen=True, slots=True)
class TermAnswer:
    """What a solver says of one term.

    Parameters
    ----------
    infeasible
        Whether it proved that there is nothing.
    columns
        Values of a solution; ``None`` = it found none.
    bound
        Lower bound, in steps; ``None`` = none.
    """

    infeasible: bool
    columns: list[float] | None
    bound: float | None


Minimise = Callable[[Textbook, int, Limits, CancellationToken], TermAnswer]
"""(model, index of the term, limits with the time that is left, when to stop) -> answer."""


def _run(
    minimise: Minimise, model: Textbook, problem: Problem, limits: Limits, token: CancellationToken
) -> Outcome:
    """Minimise the terms in order, each with the earlier ones fixed at their best."""
    started = time.perf_counter()
    best: Placement | None = None
    bounds: list[int | None] = []
    for index, term in enumerate(model.terms):
        left = limits.time_s - (time.perf_counter() - started)
        if left <= 0:
            break
        answer = minimise(model, index, replace(limits, time_s=left, workers=1), token)
        if answer.infeasible and best is None:
            return Outcome(Status.INFEASIBLE, None, None, (None,) * len(problem.terms), "search")
        if answer.columns is not None:
            best = model.placement(answer.columns)
        bounds.append(None if answer.bound is None else max(0, math.ceil(answer.bound - CLOSE)))
        if best is None or judge(problem, best).scaled[index] != bounds[index]:
            break
        model.rows.append((term.coefficients, None, (bounds[index] or 0) - term.constant))
    return _outcome(problem, best, bounds)


def _outcome(problem: Problem, best: Placement | None, bounds: list[int | None]) -> Outcome:
    padded = tuple([*bounds, *([None] * len(problem.terms))][: len(problem.terms)])
    values = None if best is None else judge(problem, best).scaled
    status = Status.UNKNOWN if values is None else Status.FEASIBLE
    if values is not None and values == padded:
        status = Status.OPTIMAL
    return Outcome(status, best, values, padded, "search on the textbook model")


def _minimise_cp_sat(
    model: Textbook, index: int, limits: Limits, token: CancellationToken
) -> TermAnswer:
    cp = cp_model.CpModel()
    columns = [cp.new_int_var(0, upper, f"c{c}") for c, upper in enumerate(model.upper)]

    def total(coefficients: Sum) -> cp_model.LinearExprT:
        return (
            cp_model.LinearExpr.weighted_sum(
                [columns[c] for c in coefficients.coefficients],
                list(coefficients.coefficients.values()),
            )
            + coefficients.constant
        )

    for coefficients, low, high in model.rows:
        row = total(Sum(coefficients))
        if low is not None:
            cp.add(row >= low)
        if high is not None:
            cp.add(row <= high)
    cp.minimize(total(model.terms[index]))
    answer = run_cp_sat(cp, limits, token)
    solver, infeasible = answer.solver, answer.status == cp_model.INFEASIBLE
    bound = None if infeasible else solver.best_objective_bound
    return TermAnswer(
        infeasible=infeasible,
        columns=[float(solver.value(c)) for c in columns] if answer.has_solution else None,
        bound=bound if bound is not None and math.isfinite(bound) else None,
    )


def _minimise_highs(
    model: Textbook, index: int, limits: Limits, token: CancellationToken
) -> TermAnswer:
    token.check()
    program = pulp.LpProblem("textbook", pulp.LpMinimize)
    columns = [
        program.add_variable(f"c{c}", 0, upper, pulp.LpInteger)
        for c, upper in enumerate(model.upper)
    ]
    term = model.terms[index]
    program += pulp.LpAffineExpression((columns[c], v) for c, v in term.coefficients.items())
    for coefficients, low, high in model.rows:
        row = pulp.LpAffineExpression((columns[c], v) for c, v in coefficients.items())
        if low is not None:
            program += row >= low
        if high is not None:
            program += row <= high
    program.solve(pulp.HiGHS(msg=False, threads=1, timeLimit=limits.time_s, gapRel=0.0, gapAbs=0.0))
    has_solution = program.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    bound = float(program.solverModel.getInfo().mip_dual_bound) + term.constant
    return TermAnswer(
        infeasible=program.status == pulp.LpStatusInfeasible,
        columns=[float(column.value() or 0) for column in columns] if has_solution else None,
        bound=bound if math.isfinite(bound) else None,
    )


@dataclass(frozen=True, slots=True)
class Encoding:
    """A model of a problem, and ``None`` or the reason why it does not say all of it."""

    model: Callable[[Problem], Textbook]
    reason_against: Callable[[Problem], str | None]


PER_NODE = Encoding(textbook, reason_against)
EQUAL_PARTS = Encoding(partition_textbook, why_no_partition)


def _engine(
    name: str, encoding: Encoding, minimise: Minimise, version_of: Callable[[], str]
) -> Engine:
    def run(
        problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
    ) -> Outcome:
        """Solve without a hint, on one thread."""
        token = (reporter or null_reporter(problem, name)).token
        return _run(minimise, encoding.model(problem), problem, limits, token)

    return Engine(name, run, encoding.reason_against, version_of)


def _engines(prefix: str, encoding: Encoding) -> dict[str, Engine]:
    engines = (
        _engine(f"{prefix}-cp-sat", encoding, _minimise_cp_sat, lambda: _named("ortools")),
        _engine(f"{prefix}-highs", encoding, _minimise_highs, lambda: _named("highspy")),
    )
    return {engine.name: engine for engine in engines}


def _named(package: str) -> str:
    return f"{package} {version(package)}"


TEXTBOOKS = _engines("textbook", PER_NODE)
"""The yardsticks; not among the engines that users can choose."""

PARTITION_TEXTBOOKS = _engines("textbook-partition", EQUAL_PARTS)
"""Those for partition into equal parts."""
