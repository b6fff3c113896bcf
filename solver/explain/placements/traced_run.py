"""A method's run with its decisions, where it can tell them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slotwise.heuristics.decision_log import DecisionLog, TaskDecision
from slotwise.heuristics.method import Method
from slotwise.heuristics.run import run_method
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class TracedRun:
    """A method's answer, and the decisions on the way where it can tell them.

    Parameters
    ----------
    method, seed
        Who.
    refused
        Reason of the refusal, if it refused.
    placement, verdict
        What it made otherwise.
    decisions
        In order: all that led to its placement, or where not all tasks have a place the longest
        sequence that stood; ``None`` = the method cannot tell.
    applies
        Whether the method is for such instances at all; if not, it made no decision.
    """

    method: str
    seed: int
    refused: str | None
    placement: Placement | None
    verdict: Verdict | None
    decisions: tuple[TaskDecision, ...] | None
    applies: bool = True

    @property
    def left_out(self) -> bool:
        """Whether tasks have no place."""
        return self.placement is None or UNPLACED in self.placement.nodes

    @property
    def failed(self) -> bool:
        """Whether it refused, left tasks out or broke a rule."""
        return self.left_out or self.verdict is None or not self.verdict.valid


def traced_run(problem: Problem, method: Method, seed: int) -> TracedRun:
    """Run `method` and note its decisions; raises what `run_method` raises."""
    log = DecisionLog()
    answer = run_method(problem, _logging(method, log), seed)
    refused = answer.reason if isinstance(answer, Refusal) else None
    placement = None if isinstance(answer, Refusal) else answer
    verdict = None if placement is None else judge(problem, placement)
    decisions = None
    applies = method.supports(problem) is None
    if method.place_logged is not None and applies:
        whole = placement is not None and UNPLACED not in placement.nodes
        decisions = log.standing if whole else log.furthest
    return TracedRun(method.name, seed, refused, placement, verdict, decisions, applies)


def _logging(method: Method, log: DecisionLog) -> Method:
    logged = method.place_logged
    if logged is None:
        return method
    return replace(method, place=lambda problem, rng: logged(problem, rng, log), place_until=None)
