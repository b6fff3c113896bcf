"""What all engines of one solve know together: the best placement, judged, and proven bounds.

Engines tell it while they run, so that whatever ends a solve (its limit, Ctrl-C, another engine's
proof) nothing that was found or proven is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from slotwise.models.judge import judge
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.progress import Event, Progress
from slotwise.solver.result import Outcome, Pick, Status

Bounds = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Best:
    """The incumbent and its value per term, in integer steps."""

    values: tuple[int, ...]
    placement: Placement
    engine: str


@dataclass(frozen=True, slots=True)
class Proven:
    """A bound, what it is (``cp-sat``, ``lp``, ``trivial`` and so on), and whose."""

    bound: int
    kind: str
    engine: str


@dataclass(slots=True, eq=False)
class Known:
    """What is known of `problem`; safe to use from several threads.

    Parameters
    ----------
    problem
        As it was asked, without reductions.
    tell
        Called with each event; any thread may call it.
    on_best
        Called with each better placement.
    """

    problem: Problem
    tell: Callable[[Progress], None] = lambda event: None
    started: float = field(default_factory=time.perf_counter)
    best: Best | None = None
    infeasible: bool = False
    on_best: Callable[[Placement], object] = lambda placement: None
    picked: list[Pick] = field(default_factory=list)
    _proven: list[dict[tuple[int, ...], Proven]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Know nothing of any term."""
        self._proven = [{} for _ in self.problem.terms]

    def offer(self, placement: Placement, engine: str) -> bool:
        """Keep a placement that is valid and better than the best; return whether it was."""
        verdict = judge(self.problem, placement)
        if not verdict.valid:
            return False
        with self._lock:
            if self.best is not None and self.best.values <= verdict.scaled:
                return False
            self.best = Best(verdict.scaled, placement, engine)
        self.on_best(placement)
        self._tell(engine, Event.PLACEMENT)
        return True

    def prove(self, bounds: Bounds, engine: str, kind: str) -> None:
        """Note bounds: that of a term holds for all placements that reach those before it."""
        before = self.bounds
        with self._lock:
            given: tuple[int, ...] = ()
            for known, bound in zip(self._proven, bounds, strict=False):
                if bound is None:
                    break
                if given not in known or known[given].bound < bound:
                    known[given] = Proven(bound, kind, engine)
                given = (*given, bound)
        if self.bounds != before:
            self._tell(engine, Event.BOUND, kind)

    def proofs(self) -> tuple[Proven | None, ...]:
        """Return the bound of each term up to the first that is not closed."""
        found: list[Proven | None] = []
        values = None if self.best is None else self.best.values
        given: tuple[int, ...] | None = ()
        for index, known in enumerate(self._proven):
            proven = None if given is None else known.get(given)
            found.append(proven)
            closed = proven is not None and values is not None and values[index] == proven.bound
            given = values[: index + 1] if closed and values is not None else None
        return tuple(found)

    @property
    def bounds(self) -> tuple[int | None, ...]:
        """The bound of each term; ``None`` where there is none, or an earlier one is open."""
        return tuple(None if one is None else one.bound for one in self.proofs())

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to find or prove."""
        return self.infeasible or (self.best is not None and self.best.values == self.bounds)

    def outcome(self, proof: str = "", *, interrupted: bool = False) -> Outcome:
        """Return what is known."""
        best = self.best
        status = Status.UNKNOWN if best is None else Status.FEASIBLE
        if self.is_settled:
            status = Status.INFEASIBLE if self.infeasible else Status.OPTIMAL
        return Outcome(
            status=status,
            placement=None if best is None else best.placement,
            values=None if best is None else best.values,
            bounds=self.bounds,
            proof=proof,
            interrupted=interrupted,
        )

    def start(self, engine: str, why: str) -> None:
        """Tell that an engine starts."""
        self._tell(engine, Event.ENGINE, why)

    def tell_engine(self, event: Progress) -> None:
        """Pass on that an engine of a part starts; values and bounds of parts are not ours."""
        if event.event is Event.ENGINE:
            self.start(event.engine, event.why)

    def _tell(self, engine: str, event: Event, why: str = "") -> None:
        best, units = self.best, [term.unit for term in self.problem.terms]
        self.tell(
            Progress(
                seconds=time.perf_counter() - self.started,
                engine=engine,
                event=event,
                values=None
                if best is None
                else tuple(v * unit for v, unit in zip(best.values, units, strict=True)),
                bounds=tuple(
                    None if bound is None else bound * unit
                    for bound, unit in zip(self.bounds, units, strict=True)
                ),
                why=why,
            )
        )


class View(Protocol):
    """Another problem made of one, with placements carried over."""

    def restore(self, placement: Placement) -> Placement:
        """Return a placement of the other problem as one of the first."""
        ...

    def project(self, placement: Placement) -> Placement | None:
        """Return a placement of the first problem as one of the other; ``None`` if it is none."""
        ...


@dataclass(frozen=True, slots=True)
class Watch:
    """One engine's view of `Known`, through the reductions of the problem that it works on.

    Parameters
    ----------
    known
        What it tells.
    engine
        Its name.
    reductions
        From the problem that was asked to the engine's own.
    bounds_hold
        Whether bounds of the engine's problem are bounds of the one that was asked.
    """

    known: Known
    engine: str
    reductions: tuple[View, ...] = ()
    bounds_hold: bool = True

    def by(self, engine: str) -> Watch:
        """Return the same view for another engine."""
        return replace(self, engine=engine)

    def on(self, reduction: View, *, bounds_hold: bool = True) -> Watch:
        """Return the view from a problem made of this one's."""
        return replace(
            self,
            reductions=(*self.reductions, reduction),
            bounds_hold=self.bounds_hold and bounds_hold,
        )

    def offer(self, placement: Placement) -> bool:
        """Tell of a placement; return whether it is the new best."""
        for reduction in reversed(self.reductions):
            placement = reduction.restore(placement)
        return self.known.offer(placement, self.engine)

    def prove(self, bounds: Bounds, kind: str | None = None) -> None:
        """Tell of bounds, each given that those before it are reached; the first may be None."""
        if self.bounds_hold:
            self.known.prove(bounds, self.engine, self.engine if kind is None else kind)

    def best(self) -> Placement | None:
        """Return the best placement as one of the engine's problem; ``None`` if it is none."""
        return self.project(None if self.known.best is None else self.known.best.placement)

    def project(self, placement: Placement | None) -> Placement | None:
        """Return a placement of the problem that was asked as one of the engine's, if it is one."""
        for reduction in self.reductions:
            placement = None if placement is None else reduction.project(placement)
        return placement


def unwatched(problem: Problem, engine: str) -> Watch:
    """Return a watch that nobody reads."""
    return Watch(Known(problem), engine)


def tell_outcome(watch: Watch, outcome: Outcome) -> None:
    """Tell what an engine found and proved, for engines that do not tell while they run."""
    if outcome.placement is not None:
        watch.offer(outcome.placement)
    watch.prove(outcome.bounds, outcome.bound_kind)
    if outcome.status == Status.INFEASIBLE and watch.bounds_hold:
        watch.known.infeasible = True
