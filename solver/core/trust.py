"""Whose claims count: bounds with who claims them, engines found wrong, and confirmation.

A placement is judged, so where one contradicts a bound, the bound is wrong. Then nothing that its
engine claims counts any more.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from slotwise.models.errors import InternalError
from slotwise.solver.core.result import Distrusted


@dataclass(frozen=True, slots=True)
class Proven:
    """A claimed lower bound.

    Parameters
    ----------
    bound
        In integer steps of the term.
    kind
        What it is: ``cp-sat``, ``lp``, ``trivial`` and so on.
    engine
        Whose it is; several names joined by ``+`` where it is made of the bounds of several.
    by_solver
        Whether it rests on the word of CP-SAT or of a MIP solver. Other bounds are computed by
        our own code in integers.
    """

    bound: int
    kind: str
    engine: str
    by_solver: bool = False

    @property
    def engines(self) -> frozenset[str]:
        """The names of those behind it."""
        return frozenset(self.engine.split("+"))


class Trust:
    """The engines that were found wrong, with the reason; safe to use from several threads."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self._lock = threading.Lock()

    def doubt(self, engine: str, reason: str) -> None:
        """Distrust the engine, or all engines joined by ``+``; the first reason stays."""
        with self._lock:
            for name in engine.split("+"):
                self._reasons.setdefault(name, reason)

    def holds(self, claim: Proven) -> bool:
        """Return whether nobody behind a claim is distrusted."""
        return self._reasons.keys().isdisjoint(claim.engines)

    def is_doubted(self, engine: str) -> bool:
        """Return whether the engine was found wrong."""
        return engine in self._reasons

    def distrusted(self) -> tuple[Distrusted, ...]:
        """Return the engines that were found wrong, in that order."""
        with self._lock:
            return tuple(Distrusted(*item) for item in self._reasons.items())

    def check(self) -> None:
        """Raise an `InternalError` with the first reason where an engine is distrusted."""
        for one in self.distrusted():
            raise InternalError(one.reason)


@dataclass(slots=True)
class Claims:
    """Bounds claimed of one thing, the best of each claimant."""

    _best: dict[tuple[str, bool], Proven] = field(default_factory=dict)

    def add(self, claim: Proven) -> None:
        """Note a claim."""
        key = (claim.engine, claim.by_solver)
        if key not in self._best or self._best[key].bound < claim.bound:
            self._best[key] = claim

    def all(self) -> Sequence[Proven]:
        """Return the best claim of each claimant."""
        return tuple(self._best.values())

    def best(self, trust: Trust, *, confirmed: bool) -> Proven | None:
        """Return the highest bound of those who are trusted; ``None`` where there is none.

        Where it must be `confirmed`, a bound that rests on a solver's word counts only as far as
        somebody else, without an engine in common, proves it too.
        """
        claims = [claim for claim in self._best.values() if trust.holds(claim)]
        if confirmed:
            claims = [c for c in claims if not c.by_solver or _is_confirmed(c, claims)]
        return max(claims, key=lambda claim: claim.bound, default=None)


def _is_confirmed(claim: Proven, claims: Sequence[Proven]) -> bool:
    """Return whether another claim is at least as strong, and made without its engines."""
    return any(
        other.bound >= claim.bound and claim.engines.isdisjoint(other.engines) for other in claims
    )
