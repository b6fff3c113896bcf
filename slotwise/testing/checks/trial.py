"""A scheduler on trial: what it answered, judged, and what the optimum is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from slotwise.heuristics.method_error import MethodError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance_file import instance_hash
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.testing.checks.answer import Answer
from slotwise.testing.checks.finding import NotJudgedError
from slotwise.testing.checks.oracle import Oracle
from slotwise.testing.checks.scheduler import TIME_LIMIT_S, NamedScheduler

REFUSED = "the scheduler refuses"
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
    """

    scheduler: NamedScheduler
    time_limit_s: float = TIME_LIMIT_S
    oracle: Oracle = field(default_factory=Oracle)
    _answers: dict[str, Answer | MethodError] = field(default_factory=dict)

    def answer(self, instance: Instance) -> Answer:
        """Return its answer, remembered; raises `MethodError` where it breaks down."""
        key = instance_hash(instance)
        if key not in self._answers:
            try:
                self._answers[key] = self.answer_anew(instance)
            except MethodError as error:
                self._answers[key] = error
        known = self._answers[key]
        if isinstance(known, MethodError):
            raise MethodError(str(known), timed_out=known.timed_out)
        return known

    def answer_anew(self, instance: Instance) -> Answer:
        """Return its answer to being asked once more."""
        return self.scheduler.ask(instance, self.time_limit_s)

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
        raise MethodError(f"{what}, {error}", timed_out=error.timed_out) from error
