"""The interface of a placement method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import TypeAlias

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.placement import Placement, Refusal, leave_out
from slotwise.models.problem.problem import Problem

Place = Callable[[Problem, Generator], Placement | Refusal]
PlaceUntil = Callable[[Problem, Generator, CancellationToken], Placement | Refusal]
PlaceLogged = Callable[[Problem, Generator, DecisionLog], Placement | Refusal]
Configure: TypeAlias = "Callable[[Mapping[str, tuple[str, ...]]], Method]"


def supports_all(problem: Problem) -> str | None:
    """Return ``None``: the method applies to every problem."""
    return None


def never_stopped(place_until: PlaceUntil) -> Place:
    """Return `place_until` as a `Place`, with a token that is never cancelled."""

    def place(problem: Problem, rng: Generator) -> Placement | Refusal:
        return place_until(problem, rng, CancellationToken())

    # Whose code it is, and where, is asked of what it wraps.
    return update_wrapper(place, place_until, assigned=(), updated=())


@dataclass(frozen=True, slots=True)
class Method:
    """A heuristic under its published name.

    Parameters
    ----------
    name
        The name by which users select it, for example ``r-storm``.
    source
        Its source: paper and section, or Storm class.
    place
        ``(problem, rng)`` -> placement, or a refusal with its reason. The placement may break
        hard rules if the published method does: the judge then counts a failure.
    supports
        ``None``, or the reason why the method does not apply to a problem.
    description
        What it does, in one sentence, shown by reports and ``slotwise methods``.
    parameters
        Its parameters and their values, for the record.
    configure
        ``{key: values}`` -> the method with these parameters, see `registry.configured`; raises
        `InputError`. ``None`` = it takes none.
    place_until
        `place` with a token that it checks; raises `CancelledError` when that is cancelled.
        ``None`` = it cannot be stopped.
    place_logged
        `place` with a log in which it records its decisions; ``None`` = it does not record them.
    draws
        Whether its answer may depend on the generator: a grading repeats such methods with several
        seeds.
    """

    name: str
    source: str
    place: Place
    supports: Callable[[Problem], str | None] = supports_all
    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    configure: Configure | None = None
    place_until: PlaceUntil | None = None
    place_logged: PlaceLogged | None = None
    draws: bool = True


# A method that failed: it returned neither a placement nor a refusal.


class MethodError(SlotwiseError):
    """A method failed; the message says in one line how, and where.

    Unlike a refusal this is not an answer of the method: its command ended with an exit code other
    than 0, by a signal, at the time limit or without a valid answer, or its code raised an
    exception.

    Parameters
    ----------
    reason
        What happened.
    timed_out
        Whether it was ended at its time limit.
    changes_input
        Whether it has an answer, but has changed the instance that it was given.
    """

    def __init__(
        self, reason: str, *, timed_out: bool = False, changes_input: bool = False
    ) -> None:
        self.timed_out = timed_out
        self.changes_input = changes_input
        super().__init__(reason)

    def with_reason(self, reason: str) -> MethodError:
        """Return the error with another message."""
        return MethodError(reason, timed_out=self.timed_out, changes_input=self.changes_input)


# The outcome of a round of Storm's scheduler for each topology, as the answer of a method.


@dataclass(frozen=True, slots=True)
class TopologyOutcome:
    """The outcome for a topology: whether all of it has a place, and Storm's status of it."""

    scheduled: bool
    status: str


def whole_topologies(
    problem: Problem, placement: Placement, outcomes: Mapping[str, TopologyOutcome]
) -> Placement | Refusal:
    """Leave out topologies not placed whole where that is allowed; else refuse in Storm's words."""
    out = {key for key, found in outcomes.items() if not found.scheduled}
    if out and not problem.may_reject:
        name = min(out, key=list(outcomes).index)
        return Refusal(f"topology {name}: {outcomes[name].status or 'evicted'}")
    return leave_out(problem.instance, placement, out)
