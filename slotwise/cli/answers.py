"""What the commands ``solve`` and ``place`` do, and the documents and exit codes they give."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from slotwise.api.placing import place
from slotwise.cli import inputs
from slotwise.cli.exits import Exit
from slotwise.heuristics.method import Method
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import in_whole
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Result, Status


@dataclass(frozen=True, slots=True)
class Solved:
    """A result with its problem.

    `given` is the instance of the file, without limits from the command line and with nodes that
    died: placements are written as its own, so that they can be judged with the file.
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
        found = self.result.placement
        whole = None if found is None else in_whole(self.problem.instance, self.given, found)
        plan = inputs.placement_or_none(self.given, whole)
        return (
            self.result.to_document() | inputs.hashed(self.problem.instance) | {"placement": plan}
        )


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
    answer = place(problem, method, seed=seed)
    seconds = time.perf_counter() - begin
    if isinstance(answer, Refusal):
        return Placed(instance, method.name, seed, seconds, None, None, answer.reason)
    return Placed(instance, method.name, seed, seconds, answer, judge(problem, answer), None)
