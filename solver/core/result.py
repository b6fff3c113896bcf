"""What an engine claims (`Outcome`) and what the user gets (`Result`, judged)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from slotwise.models.display import block, drawn, html_line, html_table
from slotwise.models.frame import frame
from slotwise.models.infeasibility.contradictions import Contradiction
from slotwise.models.infeasibility.statement import Statement
from slotwise.models.instance.instance import Place
from slotwise.models.instance.placement import TASK_COLUMNS, Placement, node_lines, to_places
from slotwise.models.judge.moves import TaskMove, moves_from_running
from slotwise.models.judge.verdict import Verdict
from slotwise.models.values import known, plain, short_text
from slotwise.solver.parameters import Parameters

if TYPE_CHECKING:
    from slotwise.models.frame import DataFrame


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    """Every term's value equals its proven bound."""
    FEASIBLE = "feasible"
    """A valid placement, not proven best."""
    INFEASIBLE = "infeasible"
    """Proven: no placement keeps all hard rules."""
    UNKNOWN = "unknown"
    """Stopped at the limit with no placement and no proof."""

    @property
    def settled(self) -> bool:
        """Whether nothing is left to prove: optimal or infeasible."""
        return self in (Status.OPTIMAL, Status.INFEASIBLE)


@dataclass(frozen=True, slots=True)
class Limits:
    """When an engine stops, and the resources it may use.

    Parameters
    ----------
    time_s
        Wall-clock seconds, or units of work, above 0.
    workers
        Threads, 1 or more.
    seed
        Seed of every random choice; the same seed and limits give the same answer if the engine is
        deterministic and reaches no time limit.
    deterministic_work
        Limit in the engine's own deterministic unit; ``None`` = no such limit.
    presolve
        Whether CP-SAT and HiGHS may simplify their models first; switched off to confirm
        what they proved with it.
    memory_mb
        Resident memory of the whole process, in units of 2^20 bytes, 1 or more; ``None`` = 80 % of
        the memory available, see `default_limit_mb`.
    by_work
        Whether `time_s` counts units of work (`WorkClock`) instead of seconds.
    """

    time_s: float = 60.0
    workers: int = 1
    seed: int = 0
    deterministic_work: float | None = None
    presolve: bool = True
    memory_mb: int | None = None
    by_work: bool = False

    @property
    def solver_seed(self) -> int:
        """The seed as CP-SAT and HiGHS take it: in 31 bits."""
        return self.seed % 2**31


@dataclass(frozen=True, slots=True)
class Improvement:
    """One event of the trace: at `seconds` term `term` (index) had this value and bound.

    In integer steps of the term; ``None`` where there was none yet. Where work limits the search,
    `seconds` are units of it.
    """

    seconds: float
    term: int
    value: int | None
    bound: int | None


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof of one engine: its own bound per term, in integer steps, and how it was found."""

    engine: str
    version: str
    bounds: tuple[int | None, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Pick:
    """An engine that ran, why it was chosen, its wall-clock seconds, and its parameters, if any."""

    engine: str
    why: str
    seconds: float
    parameters: Parameters | None = None


@dataclass(frozen=True, slots=True)
class Distrusted:
    """An engine that a judged placement contradicted, and how; none of its bounds counts."""

    engine: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """An engine's claim, in integer steps of the terms, before it is judged.

    Parameters
    ----------
    status
        `Status.OPTIMAL` only if every term is proven.
    placement
        The best placement found; ``None`` when there is none.
    values
        Claimed value per term of `placement`; ``None`` when there is no placement.
    bounds
        Per term: proven lower bound given that all earlier terms are at their proven best;
        ``None`` where nothing is proven. After the first term that is not proven all are ``None``.
    proof
        How the bounds were proven, in words; empty where there are none.
    deterministic_work
        In the engine's unit, or the units that limited the search; ``None`` where there are none.
    trace
        Incumbents and bounds over time.
    interrupted
        Whether Ctrl-C ended the search; what was found and proven by then counts.
    proofs
        Each engine's own bounds where several worked together; empty where one engine ran.
    bound_kind
        The kind of the bounds, for example ``lp``; ``None`` = the engine's name.
    by_solver
        Whether the bounds, or the infeasibility, rely on CP-SAT or a MIP solver.
    proven_before
        Number of leading terms that were proven before the engine began; it does not claim their
        bounds itself.
    contradiction
        Why there is no placement, checked without a solver; ``None`` = no such simple reason is
        known, or there may be a placement.
    """

    status: Status
    placement: Placement | None
    values: tuple[int, ...] | None
    bounds: tuple[int | None, ...]
    proof: str
    deterministic_work: float | None = None
    trace: tuple[Improvement, ...] = ()
    interrupted: bool = False
    proofs: tuple[Proof, ...] = ()
    bound_kind: str | None = None
    by_solver: bool = False
    proven_before: int = 0
    contradiction: Contradiction | None = None


@dataclass(frozen=True, slots=True)
class TermResult:
    """Value and bound of one term in the user's unit; ``None`` where there is none.

    `bound_kind` is the kind of the bound, for example ``cp-sat``; ``None`` without a bound.
    """

    term: str
    value: Fraction | None
    bound: Fraction | None
    bound_kind: str | None = None

    def __repr__(self) -> str:
        """One line: value, and bound unless that is the value."""
        bound = "proven" if self.proven else f"bound {short_text(self.bound)}"
        return f"{self.term} {short_text(self.value)} ({bound})"

    @property
    def proven(self) -> bool:
        """Whether the value is the best possible, given the terms before it."""
        return self.value is not None and self.value == self.bound


@dataclass(frozen=True, slots=True)
class Result:
    """A judged answer.

    Parameters
    ----------
    status, objective, placement
        See `Status`, `TermResult`; ``placement`` is ``None`` when there is none.
    gap
        ``(value - bound) / max(|value|, GAP_FLOOR)`` of the first term that is not proven; 0.0 when
        all are; ``None`` when there is no value or no bound.
    engine, version
        Which engine and which version of its solver.
    seed, limits
        As requested.
    seconds
        Wall-clock time, compiling and judging included.
    proof, deterministic_work, trace, interrupted
        As in `Outcome`.
    proofs
        One entry per engine.
    picked
        The engines that ran, in the order in which they started.
    distrusted
        The engines whose claims were contradicted by a judged placement.
    confirmed
        Whether every bound that relies on CP-SAT or a MIP solver had to be, and was, confirmed
        by another engine or by the same model without presolve.
    notes
        What engines left out, for lack of memory or other reasons: lines of text.
    parameters
        By name of the engine: those of the engines that ran, of ``auto``, and those the caller set.
    verdict
        The judge's verdict on `placement`, computed after the search; ``None`` without a placement.
    running
        The judge's verdict on the current placement: its cost and the hard rules that it breaks;
        ``None`` where the instance has no `running`.
    contradiction
        Why there is no placement, if a sentence can say it; checked without a solver. ``None`` =
        there may be a placement, or only a search has proven that there is none.

    `places` has the placement by name, `moves` the tasks that it moves.

    Examples
    --------
    >>> import slotwise
    >>> result = slotwise.solve("docs/examples/word-count.json", time_limit_s=30)
    >>> result.objective
    (overload 0 (proven), network 23 (proven))
    >>> len(result.places["wc"])
    9
    """

    status: Status
    objective: tuple[TermResult, ...]
    gap: float | None
    placement: Placement | None
    engine: str
    version: str
    seed: int
    limits: Limits
    seconds: float
    proof: str
    deterministic_work: float | None
    trace: tuple[Improvement, ...]
    interrupted: bool
    proofs: tuple[Proof, ...]
    picked: tuple[Pick, ...] = ()
    distrusted: tuple[Distrusted, ...] = ()
    confirmed: bool = False
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Parameters] = field(default_factory=dict)
    verdict: Verdict | None = field(default=None, repr=False, compare=False)
    running: Verdict | None = field(default=None, repr=False, compare=False)
    contradiction: Statement | None = field(default=None, compare=False)

    @property
    def places(self) -> dict[str, dict[str, Place]]:
        """The placement by names: topology id -> ``component[index]`` -> `Place`.

        A `Place` has a `node` (its id) and a `worker` (its label); empty without a placement.
        """
        if self.placement is None or self.verdict is None:
            return {}
        return to_places(self.verdict.problem.instance, self.placement)

    @property
    def moves(self) -> tuple[TaskMove, ...]:
        """The tasks that the placement moves from where they run now, as ``moved`` counts them.

        Equal tasks, workers and nodes are exchanged so that there are few moves; there are fewest
        where ``moved`` is a term. Empty without a placement or without `running` in the instance.
        """
        if self.placement is None or self.verdict is None:
            return ()
        return moves_from_running(self.verdict.problem, self.placement)

    def __repr__(self) -> str:
        """At most five lines: status, values and bounds, and which tasks are on the first nodes."""
        if self.placement is None or self.verdict is None:
            return self._head()
        return block(self._head(), node_lines(self.verdict.problem.instance, self.placement))

    def _repr_html_(self) -> str:
        rows = ((t.term, short_text(t.value), short_text(t.bound)) for t in self.objective)
        terms = html_table(("term", "value", "bound"), rows, len(self.objective))
        if self.placement is None or self.verdict is None:
            return html_line(self._head()) + terms
        return html_line(self._head()) + terms + drawn(self.verdict)

    def to_frame(self, rows: str = "tasks") -> DataFrame:
        """Return the result as a pandas DataFrame.

        Parameters
        ----------
        rows
            ``tasks``: where each task is, as `Placement.to_frame`; no rows without a placement.
            ``terms``: term, value, bound, proven, bound_kind, in the user's unit.

        Raises
        ------
        InputError
            For any other value.

        Examples
        --------
        >>> import slotwise
        >>> result = slotwise.solve("docs/examples/word-count.json")
        >>> result.to_frame("terms")[["term", "value", "bound", "proven"]]
               term  value  bound  proven
        0  overload      0      0    True
        1   network     23     23    True
        """
        known(rows, ("tasks", "terms"), "rows")
        if rows == "tasks":
            if self.placement is None or self.verdict is None:
                return frame(TASK_COLUMNS, ())
            return self.placement.to_frame(self.verdict.problem.instance)
        terms = (
            (t.term, _plain(t.value), _plain(t.bound), t.proven, t.bound_kind)
            for t in self.objective
        )
        return frame(("term", "value", "bound", "proven", "bound_kind"), terms)

    def _head(self) -> str:
        name = "" if self.verdict is None else f" {self.verdict.problem.instance.name}"
        terms = ", ".join(map(repr, self.objective))
        return f"Result{name}: {self.status} by {self.engine} in {self.seconds:.2f} s; {terms}"

    def to_document(self) -> dict[str, Any]:
        """Return the result as JSON-ready data, without the placement (it needs its instance)."""
        return {
            "status": str(self.status),
            "objective": [
                {
                    "term": t.term,
                    "value": _plain(t.value),
                    "bound": _plain(t.bound),
                    "bound_kind": t.bound_kind,
                }
                for t in self.objective
            ],
            "gap": self.gap,
            "engine": self.engine,
            "version": self.version,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "proof": self.proof,
            "deterministic_work": self.deterministic_work,
            "interrupted": self.interrupted,
            "memory_limit_mb": self.limits.memory_mb,
            "deterministic": self.limits.by_work,
            "notes": list(self.notes),
            "picked": [
                {"engine": p.engine, "why": p.why, "seconds": round(p.seconds, 3)}
                for p in self.picked
            ],
            "distrusted": [{"engine": d.engine, "reason": d.reason} for d in self.distrusted],
            "confirmed": self.confirmed,
            "contradiction": self.contradiction and self.contradiction.to_document(),
            "parameters": {name: one.to_document() for name, one in self.parameters.items()},
            **self._running_document(),
        }

    def _running_document(self) -> dict[str, Any]:
        """Return the verdict on the current placement and the moves; each ``None`` if unknown."""
        if self.running is None:
            return {"running": None, "moves": None}
        judged = self.running.to_document()
        moves = None if self.placement is None else [move.to_document() for move in self.moves]
        return {
            "running": {key: judged[key] for key in ("valid", "violations", "objective", "parts")},
            "moves": moves,
        }


def _plain(value: Fraction | None) -> int | float | None:
    return None if value is None else plain(value)
