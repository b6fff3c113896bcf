"""What the commands ``solve`` and ``place`` do, and the documents and exit codes they give."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slotwise.cli import inputs
from slotwise.cli.exits import Exit
from slotwise.cli.progress import progress
from slotwise.heuristics.method import Method
from slotwise.heuristics.run import run_method
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Result, Status
from slotwise.solver.parameters import Parameters
from slotwise.solver.solve import solve


@dataclass(frozen=True, slots=True)
class Ask:
    """Engine, wall-clock limit in seconds, threads, seed, memory limit in MB, ...; see `solve`."""

    engine: str
    time_limit_s: float
    workers: int
    seed: int
    memory_limit_mb: int | None = None
    confirm: bool | None = None
    parameters: Mapping[str, Parameters] | None = None


@dataclass(frozen=True, slots=True)
class Solved:
    """A result with its problem.

    `given` is the instance of the file, without limits from the command line: placements are
    written as its own, so that they can be judged with the file.
    """

    problem: Problem
    given: Instance
    result: Result

    @property
    def code(self) -> Exit:
        """The exit code."""
        if self.result.interrupted and self.result.status is not Status.OPTIMAL:
            return Exit.INTERRUPTED
        return {
            Status.OPTIMAL: Exit.DONE,
            Status.FEASIBLE: Exit.DONE,
            Status.INFEASIBLE: Exit.FAILED,
            Status.UNKNOWN: Exit.NO_ANSWER,
        }[self.result.status]

    def to_document(self) -> dict[str, Any]:
        """Return what ``solve --json`` prints."""
        plan = inputs.placement_or_none(self.given, self.result.placement)
        return (
            self.result.to_document() | inputs.hashed(self.problem.instance) | {"placement": plan}
        )


def solved(
    problem: Problem,
    given: Instance,
    ask: Ask,
    hint: str | None,
    *,
    quiet: bool = False,
) -> Solved:
    """Solve a problem, from the placement in the file `hint` if there is one.

    `given` is the instance of its file. Progress goes to stderr unless `quiet`.
    """
    start = None if hint is None else inputs.load_placement(hint, given)
    with progress([term.name for term in problem.terms], quiet) as on_progress:
        result = solve(
            problem,
            engine=ask.engine,
            time_limit_s=ask.time_limit_s,
            workers=ask.workers,
            seed=ask.seed,
            memory_limit_mb=ask.memory_limit_mb,
            hint=start,
            confirm=ask.confirm,
            on_progress=on_progress,
            parameters=ask.parameters,
        )
    return Solved(problem, given, result)


@dataclass(frozen=True, slots=True)
class Placed:
    """A method's answer: a judged placement, or the reason of its refusal."""

    instance: Instance
    method: str
    seed: int
    seconds: float
    placement: Placement | None
    verdict: Verdict | None
    refused: str | None

    @property
    def status(self) -> str:
        """``feasible``, ``violated`` (breaks a hard rule) or ``refused``."""
        if self.verdict is None:
            return "refused"
        return "feasible" if self.verdict.valid else "violated"

    @property
    def code(self) -> Exit:
        """The exit code."""
        return Exit.DONE if self.status == "feasible" else Exit.FAILED

    def to_document(self) -> dict[str, Any]:
        """Return what ``place --json`` prints."""
        judged = {} if self.verdict is None else self.verdict.to_document()
        return {
            "status": self.status,
            "reason": self.refused,
            "objective": judged.get("objective", []),
            "violations": judged.get("violations", []),
            "method": self.method,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            **inputs.hashed(self.instance),
            "placement": inputs.placement_or_none(self.instance, self.placement),
        }


def placed(problem: Problem, method: Method, seed: int) -> Placed:
    """Place with `method` and judge what comes out."""
    instance = problem.instance
    begin = time.perf_counter()
    answer = run_method(problem, method, seed)
    seconds = time.perf_counter() - begin
    if isinstance(answer, Refusal):
        return Placed(instance, method.name, seed, seconds, None, None, answer.reason)
    return Placed(instance, method.name, seed, seconds, answer, judge(problem, answer), None)
