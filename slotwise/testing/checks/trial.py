"""A scheduler on trial: what it answered, judged, and what the optimum is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from slotwise.heuristics.method import MethodError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.instance_file import instance_hash
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Result, Status
from slotwise.solver.solve import solve
from slotwise.testing.checks.answer import Answer
from slotwise.testing.checks.finding import NotJudgedError, UnsupportedError
from slotwise.testing.checks.scheduler import HASH_SEEDS, TIME_LIMIT_S, NamedScheduler
from slotwise.testing.checks.scope import supported, within

MOST_TASKS = 8
"""Instances of more tasks are not given to ``exhaustive``, which would enumerate for long."""

EXHAUSTIVE_S, AUTO_S = 1.0, 2.0
"""Wall-clock limits; what neither engine settles is not judged."""

NOT_PROVEN = f"no optimum is proven within {EXHAUSTIVE_S + AUTO_S:g} s"


@dataclass(frozen=True, slots=True)
class Optimum:
    """A proven answer: value of each term in integer steps, and whether all tasks are placed.

    `values` is ``None`` where the instance is proven infeasible.
    """

    values: tuple[int, ...] | None
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Oracle:
    """Proves optima, and remembers them."""

    _known: dict[str, Optimum | None] = field(default_factory=dict)

    def optimum(self, instance: Instance) -> Optimum:
        """Return the proven optimum.

        Raises
        ------
        NotJudgedError
            When none is proven in time.
        """
        key = instance_hash(instance)
        if key not in self._known:
            self._known[key] = _optimum(compile_problem(instance))
        optimum = self._known[key]
        if optimum is None:
            raise NotJudgedError(NOT_PROVEN)
        return optimum


def _optimum(problem: Problem) -> Optimum | None:
    if problem.task_count <= MOST_TASKS:
        optimum = _proven(solve(problem, engine="exhaustive", time_limit_s=EXHAUSTIVE_S))
        if optimum is not None:
            return optimum
    return _proven(solve(problem, time_limit_s=AUTO_S))


def _proven(result: Result) -> Optimum | None:
    if result.status is Status.INFEASIBLE:
        return Optimum(None, is_complete=False)
    if result.status is not Status.OPTIMAL or result.verdict is None or result.placement is None:
        return None
    return Optimum(result.verdict.scaled, UNPLACED not in result.placement.nodes)


REFUSED = "the scheduler refuses"
UNSUPPORTED = "the scheduler does not support it"
NOT_VALID = "its placement breaks a hard rule"


@dataclass(frozen=True, slots=True)
class Trial:
    """A scheduler and all that is known about it; checks of one run share it.

    Parameters
    ----------
    scheduler
        Which one.
    time_limit_s
        Seconds that it has for an instance; then it has broken down.
    oracle
        Where optima come from.
    rules
        Of `RULES` those that it is for; ``None`` = what it supports.
    """

    scheduler: NamedScheduler
    time_limit_s: float = TIME_LIMIT_S
    oracle: Oracle = field(default_factory=Oracle)
    rules: frozenset[str] | None = None
    _answers: dict[tuple[str, int], Answer | MethodError | NotJudgedError] = field(
        default_factory=dict
    )

    def answer(self, instance: Instance, hash_seed: int = HASH_SEEDS[0]) -> Answer:
        """Return its answer, remembered; `hash_seed` as in `NamedScheduler`.

        Raises
        ------
        MethodError
            Where it breaks down.
        NotJudgedError
            Where it does not support the instance.
        """
        key = instance_hash(instance), hash_seed
        if key not in self._answers:
            try:
                self._answers[key] = self.new_answer(instance, hash_seed)
            except (MethodError, NotJudgedError) as error:
                self._answers[key] = error
        known = self._answers[key]
        if isinstance(known, MethodError):
            raise known.with_reason(str(known))
        if isinstance(known, NotJudgedError):
            raise NotJudgedError(str(known))
        return known

    def new_answer(self, instance: Instance, hash_seed: int = HASH_SEEDS[0]) -> Answer:
        """Return its answer to being asked once more; raises as `answer` does."""
        try:
            return self.scheduler.ask(instance, self.time_limit_s, hash_seed)
        except UnsupportedError as error:
            raise NotJudgedError(UNSUPPORTED) from error

    def narrowed(self, instance: Instance) -> Instance:
        """Return the instance without the rules that the scheduler is not for."""
        if self.rules is not None:
            return within(instance, self.rules)
        return supported(instance, self._supports)

    def is_for(self, instance: Instance) -> bool:
        """Whether an instance has no rule but `rules`."""
        return self.rules is None or within(instance, self.rules) == instance

    def _supports(self, instance: Instance) -> bool:
        try:
            return self.scheduler.supports(instance, self.time_limit_s) is None
        except MethodError:
            return True  # each check finds it when it asks

    def verdict(self, instance: Instance) -> Verdict:
        """Return the judge's verdict on its placement, which may break rules.

        Raises
        ------
        NotJudgedError
            When it refuses.
        """
        return self.judged(instance)[1]

    def judged(self, instance: Instance) -> tuple[Placement, Verdict]:
        """Return its placement with the verdict; see `verdict`."""
        answer = self.answer(instance)
        if isinstance(answer, Refusal):
            raise NotJudgedError(REFUSED)
        return answer, judge(instance, answer)

    def valid(self, instance: Instance) -> tuple[Placement, Verdict]:
        """Return its placement with the verdict.

        Raises
        ------
        NotJudgedError
            When it refuses, or its placement breaks a hard rule: that is for other checks to say.
        """
        placement, verdict = self.judged(instance)
        if not verdict.valid:
            raise NotJudgedError(NOT_VALID)
        return placement, verdict


@contextmanager
def on_variant(what: str) -> Iterator[None]:
    """Say on which variant of the instance a scheduler breaks down: ``with its nodes renamed``."""
    try:
        yield
    except MethodError as error:
        raise error.with_reason(f"{what}, {error}") from error
