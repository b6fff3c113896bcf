"""The state shared by all engines of one solve: the best placement, judged, and proven bounds.

Engines report to it while they run, so that whatever ends a solve (its limit, Ctrl-C, another
engine's proof), nothing that was found or proven is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from slotwise.models.errors import InternalError
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain
from slotwise.solver.core.progress import Event, Progress
from slotwise.solver.core.result import Distrusted, Outcome, Pick, Status
from slotwise.solver.parameters import Parameters

# Which claims count: each bound with the engine that claims it, distrust, and confirmation.
#
# Every placement is judged, so where one contradicts a bound, the bound is wrong. From then on no
# claim of its engine counts.


@dataclass(frozen=True, slots=True)
class Proven:
    """A claimed lower bound.

    Parameters
    ----------
    bound
        In integer steps of the term.
    kind
        Its kind: ``cp-sat``, ``lp``, ``trivial`` and so on.
    engine
        The engine that claims it; names joined by ``+`` where it combines bounds of several.
    by_solver
        Whether it relies on CP-SAT or a MIP solver. Other bounds are computed by our own code in
        integers.
    """

    bound: int
    kind: str
    engine: str
    by_solver: bool = False

    @property
    def engines(self) -> frozenset[str]:
        """The names of the engines behind it."""
        return frozenset(self.engine.split("+"))


class Trust:
    """The engines that were found wrong, with the reason; safe to use from several threads."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self._lock = threading.Lock()

    def doubt(self, engine: str, reason: str) -> None:
        """Distrust the engine, or all engines joined by ``+``; the first reason is kept."""
        with self._lock:
            for name in engine.split("+"):
                self._reasons.setdefault(name, reason)

    def holds(self, claim: Proven) -> bool:
        """Return whether no engine behind a claim is distrusted."""
        return self._reasons.keys().isdisjoint(claim.engines)

    def is_doubted(self, engine: str) -> bool:
        """Return whether the engine was found wrong."""
        return engine in self._reasons

    def distrusted(self) -> tuple[Distrusted, ...]:
        """Return the engines that were found wrong, in the order in which they were."""
        with self._lock:
            return tuple(Distrusted(*item) for item in self._reasons.items())

    def check(self) -> None:
        """Raise an `InternalError` with the first reason where an engine is distrusted."""
        for distrusted in self.distrusted():
            raise InternalError(distrusted.reason)


@dataclass(slots=True)
class Claims:
    """Claimed bounds of one term: the best of each engine."""

    _best: dict[tuple[str, bool], Proven] = field(default_factory=dict)

    def add(self, claim: Proven) -> None:
        """Record a claim."""
        key = (claim.engine, claim.by_solver)
        if key not in self._best or self._best[key].bound < claim.bound:
            self._best[key] = claim

    def all(self) -> Sequence[Proven]:
        """Return the best claim of each engine."""
        return tuple(self._best.values())

    def best(self, trust: Trust, *, confirmed: bool) -> Proven | None:
        """Return the highest bound of trusted engines; ``None`` where there is none.

        With `confirmed`, a bound that relies on a solver counts only if another claim, with no
        engine in common, is at least as high.
        """
        claims = [claim for claim in self._best.values() if trust.holds(claim)]
        if confirmed:
            claims = [c for c in claims if not c.by_solver or _is_confirmed(c, claims)]
        return max(claims, key=lambda claim: claim.bound, default=None)


def _is_confirmed(claim: Proven, claims: Sequence[Proven]) -> bool:
    """Return whether another claim is at least as strong and has no engine in common."""
    return any(
        other.bound >= claim.bound and claim.engines.isdisjoint(other.engines) for other in claims
    )


@dataclass(frozen=True, slots=True)
class Best:
    """The incumbent, its value per term in integer steps, and its verdict."""

    values: tuple[int, ...]
    placement: Placement
    engine: str
    verdict: Verdict = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state at one moment: the incumbent, the bound of each term, infeasibility.

    `proofs` has the bound of each term up to the first that is not closed, then ``None``.
    """

    best: Best | None
    proofs: tuple[Proven | None, ...]
    infeasible: bool

    @property
    def bounds(self) -> tuple[int | None, ...]:
        """The bound of each term; ``None`` where there is none, or an earlier one is open."""
        return tuple(None if one is None else one.bound for one in self.proofs)

    @property
    def optima(self) -> tuple[int, ...]:
        """The values of the leading terms that are proven optimal."""
        values = () if self.best is None else self.best.values
        pairs = zip(values, self.bounds, strict=False)
        return tuple(value for value, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to find or prove."""
        return self.infeasible or (self.best is not None and self.best.values == self.bounds)


Bounds = Sequence[int | None]


@dataclass(slots=True, eq=False)
class SolveState:
    """What the engines have found and proven for `problem`; safe to use from several threads.

    Parameters
    ----------
    problem
        The original problem, without reductions.
    listener
        Called with each event; any thread may call it.
    on_best
        Called with each better placement.
    confirm
        Whether a bound that relies on CP-SAT or a MIP solver counts only once it is confirmed;
        see `proofs`.
    trust
        Engines that were found wrong: what they claim does not count.
    notes
        What engines leave out, and why: lines of text.
    parameters
        By name of the engine, those that the caller set; other engines run with their defaults.
    """

    problem: Problem
    listener: Callable[[Progress], None] = lambda event: None
    started: float = field(default_factory=time.perf_counter)
    on_best: Callable[[Placement], object] = lambda placement: None
    picked: list[Pick] = field(default_factory=list)
    confirm: bool = False
    trust: Trust = field(default_factory=Trust)
    notes: list[str] = field(default_factory=list)
    parameters: Mapping[str, Parameters] = field(default_factory=dict)
    best: Best | None = field(init=False, default=None)
    _last_judged: tuple[Placement, Verdict] | None = field(init=False, default=None)
    _bounds: list[dict[tuple[int, ...], Claims]] = field(init=False)
    _infeasible: Claims = field(init=False, default_factory=Claims)
    _lock: threading.RLock = field(init=False, default_factory=threading.RLock)

    def __post_init__(self) -> None:
        """Start without a claim for any term."""
        self._bounds = [{} for _ in self.problem.terms]

    def judged(self, placement: Placement) -> Verdict:
        """Return the verdict; the incumbent and the placement judged last are not judged again."""
        best, last = self.best, self._last_judged
        if best is not None and best.placement == placement:
            return best.verdict
        if last is not None and last[0] == placement:
            return last[1]
        verdict = judge(self.problem, placement)
        self._last_judged = placement, verdict
        return verdict

    def offer(self, placement: Placement, engine: str, verdict: Verdict | None = None) -> bool:
        """Keep a placement that is valid and better than the best; return whether it was.

        `verdict` is the judge's on this problem, if there is one already.
        """
        verdict = verdict or self.judged(placement)
        if not verdict.valid:
            return False
        with self._lock:
            if self.best is not None and self.best.values <= verdict.scaled:
                return False
            self.best = Best(verdict.scaled, placement, engine, verdict)
            self._doubt_contradicted()
        self.on_best(placement)
        self._tell(engine, Event.PLACEMENT)
        return True

    def prove(
        self,
        bounds: Bounds,
        engine: str,
        kind: str,
        *,
        by_solver: bool = False,
        proven_before: int = 0,
    ) -> None:
        """Record bounds: that of a term holds for all placements that attain those before it.

        `by_solver` says that they rely on CP-SAT or a MIP solver; the first `proven_before` are not
        claimed by this engine.
        """
        with self._lock:
            before = self.bounds
            reached: tuple[int, ...] = ()
            for index, (claims, bound) in enumerate(zip(self._bounds, bounds, strict=False)):
                if bound is None:
                    break
                if index >= proven_before:
                    claims.setdefault(reached, Claims()).add(Proven(bound, kind, engine, by_solver))
                reached = (*reached, bound)
            self._doubt_contradicted()
            risen = self.bounds != before
        if risen:
            self._tell(engine, Event.BOUND, kind)

    def prove_infeasible(self, engine: str, *, by_solver: bool = False) -> None:
        """Record that no placement keeps all hard rules."""
        with self._lock:
            self._infeasible.add(Proven(0, "infeasible", engine, by_solver))
            self._doubt_contradicted()

    def _doubt_contradicted(self) -> None:
        """Distrust every engine with a claim that the incumbent, which is judged, contradicts."""
        if self.best is None:
            return
        for claim in self._infeasible.all():
            self.trust.doubt(
                claim.engine, f"{claim.engine} reports infeasible, but there is a placement"
            )
        values = self.best.values
        for index, (term, claims) in enumerate(zip(self.problem.terms, self._bounds, strict=True)):
            for claim in claims.get(values[:index], Claims()).all():
                if claim.bound > values[index]:
                    self.trust.doubt(
                        claim.engine,
                        f"{claim.engine} claims the bound {plain(claim.bound * term.unit)} of "
                        f"{term.name}; the judge finds {plain(values[index] * term.unit)}",
                    )

    def snapshot(self, *, confirmed: bool | None = None) -> Snapshot:
        """Return the current state, all of it at the same moment.

        `confirmed` says whether bounds must be confirmed; ``None`` = as `confirm` says.
        """
        confirmed = self.confirm if confirmed is None else confirmed
        with self._lock:
            infeasible = self._infeasible.best(self.trust, confirmed=confirmed) is not None
            return Snapshot(self.best, self._proofs(confirmed), infeasible)

    def _proofs(self, confirmed: bool) -> tuple[Proven | None, ...]:
        proofs: list[Proven | None] = []
        values = None if self.best is None else self.best.values
        prefix: tuple[int, ...] | None = ()
        for index, claims in enumerate(self._bounds):
            term_claims = None if prefix is None else claims.get(prefix)
            proven = (
                None if term_claims is None else term_claims.best(self.trust, confirmed=confirmed)
            )
            proofs.append(proven)
            closed = proven is not None and values is not None and values[index] == proven.bound
            prefix = values[: index + 1] if closed and values is not None else None
        return tuple(proofs)

    def proofs(self) -> tuple[Proven | None, ...]:
        """Return the bound of each term up to the first that is not closed."""
        return self.snapshot().proofs

    @property
    def bounds(self) -> tuple[int | None, ...]:
        """The bound of each term; ``None`` where there is none, or an earlier one is open."""
        return self.snapshot().bounds

    @property
    def optima(self) -> tuple[int, ...]:
        """The values of the leading terms that are proven optimal."""
        return self.snapshot().optima

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to find or prove."""
        return self.snapshot().is_settled

    @property
    def awaits_confirmation(self) -> bool:
        """Whether everything is proven but not yet confirmed."""
        return not self.is_settled and self.snapshot(confirmed=False).is_settled

    @property
    def has_unconfirmed(self) -> bool:
        """Whether more is proven than is confirmed."""
        return not self.is_settled and self.snapshot() != self.snapshot(confirmed=False)

    def outcome(self, proof: str = "", *, interrupted: bool = False) -> Outcome:
        """Return the current state as an outcome."""
        now = self.snapshot()
        best = now.best
        status = Status.UNKNOWN if best is None else Status.FEASIBLE
        if now.is_settled:
            status = Status.INFEASIBLE if now.infeasible else Status.OPTIMAL
        return Outcome(
            status=status,
            placement=None if best is None else best.placement,
            values=None if best is None else best.values,
            bounds=now.bounds,
            proof=proof,
            interrupted=interrupted,
        )

    def provers(self) -> tuple[str, ...]:
        """Return the names of the engines behind the bounds that count."""
        now = self.snapshot()
        claims = [one for one in now.proofs if one is not None]
        if now.infeasible:
            claims += self._infeasible.all()
        names = (name for claim in claims for name in claim.engine.split("+"))
        return tuple(dict.fromkeys(names))

    def start(self, engine: str, why: str) -> None:
        """Report that an engine starts."""
        self._tell(engine, Event.ENGINE, why)

    def forward_start(self, event: Progress) -> None:
        """Pass on that an engine of a subproblem starts, but no values or bounds."""
        if event.event is Event.ENGINE:
            self.start(event.engine, event.why)

    def _tell(self, engine: str, event: Event, why: str = "") -> None:
        now, units = self.snapshot(), [term.unit for term in self.problem.terms]
        values = None
        if now.best is not None:
            values = tuple(v * unit for v, unit in zip(now.best.values, units, strict=True))
        bounds = tuple(
            None if bound is None else bound * unit
            for bound, unit in zip(now.bounds, units, strict=True)
        )
        seconds = time.perf_counter() - self.started
        self.listener(Progress(seconds, engine, event, values, bounds, why))
