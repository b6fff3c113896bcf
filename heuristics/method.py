"""What a placement method is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem

Place = Callable[[Problem, Generator], Placement | Refusal]
PlaceUntil = Callable[[Problem, Generator, CancellationToken], Placement | Refusal]
PlaceLogged = Callable[[Problem, Generator, DecisionLog], Placement | Refusal]
Configure: TypeAlias = "Callable[[Mapping[str, tuple[str, ...]]], Method]"


def supports_all(problem: Problem) -> str | None:
    """Return ``None``: the method applies to every problem."""
    return None


def never_stopped(place_until: PlaceUntil) -> Place:
    """Return `place_until` as a `Place`, with a token that nobody cancels."""
    return lambda problem, rng: place_until(problem, rng, CancellationToken())


@dataclass(frozen=True, slots=True)
class Method:
    """A heuristic under its published name.

    Parameters
    ----------
    name
        As users write it, for example ``r-storm``.
    source
        What it implements: paper and section, or Storm class.
    place
        ``(problem, rng)`` -> placement, or a refusal with its reason. The placement may break
        hard rules if the published method does: the judge then counts a failure.
    supports
        ``None``, or the reason why the method does not apply to a problem.
    description
        What it does, in one sentence for people: reports and ``slotwise methods`` show it.
    parameters
        Its parameters and their values, for the record.
    configure
        ``{key: values}`` -> the method with these parameters, see `registry.configured`; raises
        `InputError`. ``None`` = it takes none.
    place_until
        `place` with a token that it checks: `CancelledError` where that is cancelled. ``None`` =
        nobody can stop it on its way.
    place_logged
        `place` with a log that it tells each of its decisions; ``None`` = it cannot tell them.
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
