"""A run of an exact engine: the optimum of an instance, or a second engine's answer to check it."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager

from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.proofs import proofs_text, read_proofs
from slotwise.benchmarks.grading.rows import PROVEN, Kind, RunOutcome, RunStatus, term_of
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Result
from slotwise.solver.solve import solve
from slotwise.solver.verification.certify import proofs_of
from slotwise.solver.verification.crosscheck import engines_behind, second_engines

SHARE = 0.5
"""Share of the remaining time for a second engine that is not the last one to run."""

Found = tuple[RunOutcome, Placement | None]
"""The outcome columns but for the placement, and the placement."""


def solved(
    run: PlannedRun,
    problem: Problem,
    hint: Placement | None,
    memory_limit_mb: int,
    clock: AbstractContextManager[None],
) -> Found:
    """Return what an exact run or a cross-check finds; `clock` measures the solves."""
    if run.kind == Kind.CROSSCHECK:
        return _checked(run, problem, memory_limit_mb, clock)
    with clock:
        result = _solve(run, problem, run.method, hint, memory_limit_mb, 1.0)
    return _columns(problem, result), result.placement


def _checked(
    run: PlannedRun,
    problem: Problem,
    memory_limit_mb: int,
    clock: AbstractContextManager[None],
) -> Found:
    """Ask engines of other families than those behind the proof, until one has the optimum.

    They start from nothing that the first engine knew.
    """
    behind = engines_behind(read_proofs(run.against or "[]"))
    names = second_engines(problem, behind, by_work=run.work is not None)
    if not names:
        who = " and ".join(behind)
        reason = f"no engine of another family than {who} takes the instance"
        return {"status": RunStatus.UNKNOWN, "reason": reason}, None
    left = 1.0
    with clock:
        for name in names:
            share = left if name == names[-1] else left * SHARE
            left -= share
            result = _solve(run, problem, name, None, memory_limit_mb, share)
            if str(result.status) in PROVEN:
                break
    return _columns(problem, result), result.placement


def _solve(
    run: PlannedRun,
    problem: Problem,
    engine: str,
    hint: Placement | None,
    memory_limit_mb: int,
    share: float,
) -> Result:
    return solve(
        problem,
        engine=engine,
        time_limit_s=share * (run.time_limit_s if run.work is None else run.work),
        workers=run.workers,
        seed=run.seed,
        memory_limit_mb=memory_limit_mb,
        hint=hint,
        deterministic=run.work is not None,
    )


def _columns(problem: Problem, result: Result) -> RunOutcome:
    return {
        "engine": f"{result.engine} {result.version}".strip(),
        "engine_parameters": json.dumps(
            {name: one.to_document() for name, one in result.parameters.items()}
        ),
        "status": RunStatus(str(result.status)),
        "terms": [term_of(t.term, t.value, t.bound) for t in result.objective],
        "gap": result.gap,
        "proof": result.proof,
        "proofs": proofs_text(proofs_of(problem, result)),
        "work": result.deterministic_work if result.limits.by_work else None,
        "reason": "; ".join(result.notes) or None,
    }
