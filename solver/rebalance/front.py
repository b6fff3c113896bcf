"""The best cost for each number of moves: a Pareto front, every point proven or bounded.

Points share results. The best placement with k - 1 moves is one with at most k, so point k starts
from it. A bound with k moves also holds with fewer. A point whose value equals the bound for more
moves is proven without a run. From the fewest moves of an optimal placement on, nothing more can be
gained, and with fewer the optimum cannot be reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.explanation.alternatives import moved
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import running_placement
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.columns.model import ColumnModel, make_column_model
from slotwise.solver.column_generation.columns.search import search_columns
from slotwise.solver.column_generation.configurations.engine import KIND
from slotwise.solver.column_generation.engine import COLUMNS
from slotwise.solver.column_generation.params import COLUMNS_DEFAULTS
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome, Result, Status
from slotwise.solver.few_moves import FEW_MOVES, FewMovesParams
from slotwise.solver.orphans.engine import ORPHANS
from slotwise.solver.parameters import Parameters
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.rebalance.order import ordered
from slotwise.solver.solve import solve

# One point of a front: the best placement with limited moves, and what is proven about it.

Bounds = tuple[int | None, ...]
"""Per term, in integer steps; a bound holds where those before it are attained, ``None`` = none."""


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """The best cost with at most `max_moves` moves.

    Parameters
    ----------
    max_moves
        Most tasks that may move from where they run now.
    status
        ``optimal`` where every term of the placement is proven, otherwise as in `Status`.
    placement, verdict
        The best placement found, and the verdict on it; ``None`` without one.
    bounds
        In integer steps; no placement with at most `max_moves` moves is better in lexicographic
        order.
    how
        How it was proven or found, in words.
    seconds
        Seconds of its own run; 0 without one.
    """

    max_moves: int
    status: Status
    placement: Placement | None
    verdict: Verdict | None
    bounds: Bounds
    how: str
    seconds: float = 0.0

    @property
    def is_proven(self) -> bool:
        """Whether it is proven to be the best with its moves, or that there is none."""
        return self.status.settled

    @property
    def moves(self) -> int | None:
        """Number of tasks that the placement moves; ``None`` without one."""
        return None if self.verdict is None else int(self.verdict.parts["moved"])

    @property
    def values(self) -> tuple[int, ...] | None:
        """Value of each term in integer steps; ``None`` without a placement."""
        return None if self.verdict is None else self.verdict.scaled

    @property
    def open_bounds(self) -> Bounds:
        """The bounds up to the first term that is not proven; ``None`` after it."""
        values, shown = self.values, []
        for index, bound in enumerate(self.bounds):
            shown.append(bound)
            if values is None or values[index] != bound:
                break
        return tuple(shown + [None] * (len(self.bounds) - len(shown)))


def with_bound(point: FrontPoint, bounds: Bounds) -> FrontPoint:
    """Return the point with the higher of its own bounds and `bounds`, which also hold for it."""
    best = max(point.bounds, bounds, key=_rank)
    if point.values is None:
        return replace(point, bounds=best)
    is_met = all(value == bound for value, bound in zip_longest(point.values, best))
    return replace(point, bounds=best, status=Status.OPTIMAL if is_met else Status.FEASIBLE)


def _rank(bounds: Sequence[int | None]) -> tuple[int, ...]:
    """Return the bounds as a key for comparison; no value is below 0."""
    return tuple(-1 if bound is None else bound for bound in bounds)


@dataclass(frozen=True, slots=True)
class Front:
    """The best cost with at most 0, 1, 2, ... moves.

    Parameters
    ----------
    problem
        The instance without a limit of moves.
    points
        In order of their limit of moves, from 0; the last is the free optimum if it is reached.
    free
        The best placement with any number of moves; its `max_moves` are the moves it makes.
    fewest_moves
        Proven least number of moves of a placement as good as `free`; ``None`` = that is open, or
        the objective counts moves itself.
    interrupted
        Whether Ctrl-C ended it: the points after that are not solved.
    """

    problem: Problem
    points: tuple[FrontPoint, ...]
    free: FrontPoint
    fewest_moves: int | None
    interrupted: bool = False


def best_within(
    problem: Problem,
    max_moves: int,
    *,
    time_limit_s: float,
    hint: Placement | None = None,
    bounds: Sequence[int | None] = (),
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
) -> Result:
    """Return the best placement with at most a number of moves: one point of a front.

    Parameters
    ----------
    problem
        With `running`; a limit of its own is replaced.
    hint
        Where to start, for example the best placement with fewer moves; ``None`` = the current one.
    bounds
        Bounds proven for as many moves or more, in integer steps of the terms.
    time_limit_s, workers, seed, memory_limit_mb
        As in `solve`.

    Raises
    ------
    InputError
        For an instance without `running`.
    """
    limited = with_limit(problem.instance, max_moves)
    return solve(
        limited,
        time_limit_s=time_limit_s,
        workers=workers,
        seed=seed,
        memory_limit_mb=memory_limit_mb,
        hint=running_placement(limited) if hint is None else hint,
        bounds=bounds,
    )


def front(
    instance: Instance,
    max_moves: int,
    limits: Limits,
    *,
    on_point: Callable[[FrontPoint], object] = lambda point: None,
) -> Front:
    """Return the front from 0 to `max_moves` moves; it ends where the free optimum is reached.

    Parameters
    ----------
    instance
        With `running`. Its own limit of moves, if any, ends the front.
    max_moves
        The last point, unless the free optimum is reached before.
    limits
        Of all points together.
    on_point
        Called with each point once it is solved; later points may still raise its bound.

    Raises
    ------
    InputError
        For an instance without `running`.
    """
    search = FrontSearch(instance, max_moves, limits)
    points, free = search.run(on_point)
    return Front(search.problem, points, free, search.fewest_moves, search.is_interrupted)


# The points of a front, solved from the fewest moves on; see `front`.
#
# The first point makes no moves: the current placement, with the best places for orphans (tasks
# that run nowhere). The free optimum bounds all points, and the states on the way to it are
# placements with fewer moves. Few moves are solved by exact tables, more by the columns of all
# nodes, listed once, then by ``auto``.

ORPHANS_FRACTION = 0.3
"""Share of the time for the places of orphans with no other task moved."""
FREE_FRACTION = 0.3
"""Share of the remaining time for the best placement with any number of moves."""
TABLES_FRACTION = 0.5
"""Share of the remaining time for exact tables; after it other ways are tried."""
NO_TABLES = {FEW_MOVES.name: FewMovesParams(max_changes=0)}
WAY_FRACTION = 0.1
"""Share of the remaining time for an order of the moves to the free optimum, the best first."""
LISTING_FRACTION = 0.3
"""Share of the remaining time for the first point that needs the columns of all nodes."""
LEAST_S = 0.1
"""Seconds of a run, at least."""
NOW, FEWER, WAY = "what runs now", "other points", "on the way to the free optimum"
"""How a point was found, where no run of its own did."""


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """A problem, where its search starts, and what is proven about it."""

    problem: Problem
    hint: Placement
    bounds: Bounds


def _query(problem: Problem, point: FrontPoint, now: Placement) -> _Query:
    return _Query(problem, now if point.placement is None else point.placement, point.bounds)


class FrontSearch:
    """The points, solved from the fewest moves on."""

    def __init__(self, instance: Instance, max_moves: int, limits: Limits) -> None:
        own = instance.objective.limits.get("moved", NO_LIMIT)
        self.problem = with_limit(instance, None)
        self._limits, self._deadline = limits, time.perf_counter() + limits.time_s
        homed = sum(one.size for one in self.problem.classes if one.home is not None)
        self._all_run = homed == self.problem.task_count
        self._last = min(max_moves, own, homed)
        self._points: list[FrontPoint] = []
        self._on_the_way: tuple[FrontPoint, ...] | None = None
        self._tables_until = 0.0
        self._columns = SharedColumns()
        self._has_columns = True
        self._least_moves: int | None = None  # of a placement as good as the free optimum
        self.fewest_moves: int | None = None
        self.is_interrupted = False

    @property
    def _left_s(self) -> float:
        return 0.0 if self.is_interrupted else self._deadline - time.perf_counter()

    def run(
        self, on_point: Callable[[FrontPoint], object]
    ) -> tuple[tuple[FrontPoint, ...], FrontPoint]:
        """Return the points, and the free optimum."""
        now = running_placement(self.problem)
        assert now is not None, "with_limit asks for it"
        first = None if self._all_run else self._with_orphans(now)
        if first is not None:
            on_point(first)
        start = now if first is None or first.placement is None else first.placement
        free = self._free(start)
        self._tables_until = time.perf_counter() + TABLES_FRACTION * self._left_s
        for moves in range(self._last + 1):
            if first is not None and moves == 0:
                self._points.append(with_bound(first, self._bounds(free, 0)))
            else:
                self._points.append(self._point(moves, start, free))
                on_point(self._points[-1])
            if free.is_proven and self._points[-1].values == free.values:
                break
        points = _with_all_bounds(self._points)
        return points, free

    def _with_orphans(self, now: Placement) -> FrontPoint:
        """Return the point without moves: only orphans get a place."""
        query = _Query(with_limit(self.problem.instance, 0), now, ())
        seconds = ORPHANS_FRACTION * self._left_s
        if ORPHANS.supports(query.problem) is None:
            try:
                return self._solved(query, seconds, ORPHANS)[0]
            except UntakenError:
                pass  # too large for it
        return self._solved(query, seconds)[0]

    def _free(self, now: Placement) -> FrontPoint:
        """Return the best placement with any number of moves, and as few as possible."""
        instance = self.problem.instance
        terms = instance.objective.terms
        counted = terms if "moved" in instance.objective.parts else (*terms, "moved")
        fewest_moves = replace(instance, objective=replace(instance.objective, terms=counted))
        query = _Query(compile_problem(fewest_moves), now, ())
        point, bounds = self._solved(query, FREE_FRACTION * self._left_s)
        point = replace(point, max_moves=point.moves or 0, bounds=())
        point = with_bound(point, bounds[: len(terms)])
        if len(counted) > len(terms) and point.is_proven:
            self._least_moves = bounds[-1]
            self.fewest_moves = point.moves if point.moves == bounds[-1] else None
        return point

    def _point(self, moves: int, now: Placement, free: FrontPoint) -> FrontPoint:
        """Return one point: from the points so far where they prove it, otherwise by a run."""
        if free.status is Status.INFEASIBLE:
            return replace(free, max_moves=moves, how=FEWER)
        if moves == 0 and self._all_run:
            return self._without_moves(now)
        start = self._best_known(moves, free)
        if start.is_proven or self._left_s <= 0:
            return start
        limited = with_limit(self.problem.instance, moves)
        point = self._by_tables(_query(limited, start, now))
        if point is None:
            if self._on_the_way is None:
                self._on_the_way = self._states_between(now, free)
            query = _query(limited, self._best_known(moves, free), now)
            point = self._by_search(query, self._left_s / (self._last - moves + 1))
        return replace(point, max_moves=moves)

    def _best_known(self, moves: int, free: FrontPoint) -> FrontPoint:
        """Return the best point so far with no more moves, with the bounds that others prove."""
        points = [*self._points[-1:], free, *(self._on_the_way or ())]
        placed = [point for point in points if point.moves is not None and point.moves <= moves]
        nothing = FrontPoint(moves, Status.UNKNOWN, None, None, (), FEWER)
        best = min(placed, key=lambda point: point.values or (), default=nothing)
        start = replace(best, max_moves=moves, bounds=(), how=FEWER, seconds=0.0)
        return with_bound(start, self._bounds(free, moves))

    def _by_tables(self, query: _Query) -> FrontPoint | None:
        """Return the point by exact tables; ``None`` once a point was too large for them."""
        left = self._tables_until - time.perf_counter()
        if left <= 0 or FEW_MOVES.supports(query.problem) is not None:
            return None
        try:
            point, _ = self._solved(query, left, FEW_MOVES)
        except UntakenError:
            point = None
        if point is not None and point.is_proven:
            return point
        self._tables_until = 0.0
        return None

    def _by_search(self, query: _Query, seconds: float) -> FrontPoint:
        """Return the point by column generation, or by ``auto`` where columns cannot be listed."""
        if self._has_columns and COLUMNS.supports(query.problem) is None:
            if not self._columns.is_listed:
                seconds = max(seconds, LISTING_FRACTION * self._left_s)
            try:
                return self._solved(query, seconds, self._columns.engine())[0]
            except UntakenError:
                self._has_columns = False
        return self._solved(query, seconds, parameters=NO_TABLES)[0]

    def _without_moves(self, now: Placement) -> FrontPoint:
        """Return the current placement, the only one without moves."""
        verdict = judge(self.problem, now)
        if verdict.valid:
            return FrontPoint(0, Status.OPTIMAL, now, verdict, verdict.scaled, NOW)
        return FrontPoint(0, Status.INFEASIBLE, None, None, (), NOW)

    def _states_between(self, now: Placement, free: FrontPoint) -> tuple[FrontPoint, ...]:
        """Return the states on the way to the free optimum that keep the rules."""
        if free.placement is None:
            return ()
        problem = self.problem
        for saves_first, share in ((True, WAY_FRACTION), (False, 1.0)):
            token = CancellationToken(time.perf_counter() + share * self._left_s)
            try:
                steps = ordered(problem, now, free.placement, token, saves_first=saves_first)
                break
            except CancelledError:
                continue
        else:
            return ()
        state, points = now, []
        for task, _, (node, worker), _ in steps.moves[: self._last]:
            state = moved(state, task, node, worker)
            verdict = judge(problem, state)
            if verdict.valid:
                points.append(FrontPoint(0, Status.FEASIBLE, state, verdict, (), WAY))
        return tuple(points)

    def _bounds(self, free: FrontPoint, moves: int) -> Bounds:
        """Return the bounds that follow from the free optimum for this number of moves."""
        if free.values is None or self._least_moves is None or moves >= self._least_moves:
            return free.bounds
        *first, last = free.values
        return (*first, last + 1)

    def _solved(
        self,
        query: _Query,
        seconds: float,
        engine: str | Engine = "auto",
        parameters: Mapping[str, Parameters] | None = None,
    ) -> tuple[FrontPoint, Bounds]:
        """Return a run's answer, judged without a limit of moves, and all its bounds."""
        problem, bounds = query.problem, query.bounds
        result = solve(
            problem,
            engine=engine,
            parameters=parameters,
            time_limit_s=max(seconds, LEAST_S),
            workers=self._limits.workers,
            seed=self._limits.seed,
            memory_limit_mb=self._limits.memory_mb,
            hint=query.hint,
            bounds=bounds,
        )
        self.is_interrupted |= result.interrupted
        proven = tuple(
            None if term_result.bound is None else int(term_result.bound / term.unit)
            for term_result, term in zip(result.objective, problem.terms, strict=True)
        )
        placement = result.placement
        verdict = None if placement is None else judge(self.problem, placement)
        point = FrontPoint(0, result.status, placement, verdict, (), result.engine, result.seconds)
        terms = len(self.problem.terms)
        return with_bound(with_bound(point, bounds[:terms]), proven[:terms]), proven


def _with_all_bounds(points: Sequence[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Return the points with the bounds proven for more moves, which hold for fewer."""
    bounded = list(points)
    for index in range(len(bounded) - 2, -1, -1):
        more, point = bounded[index + 1], bounded[index]
        if more.status is Status.INFEASIBLE:
            bounded[index] = replace(more, max_moves=point.max_moves, how=FEWER)
        elif not point.is_proven:
            bounded[index] = with_bound(point, more.bounds)
    return tuple(bounded)


# Engine ``configurations`` by its general way, with one list of columns for all points of a front.
#
# The columns do not depend on how many moves there may be, only on the fact that they are limited:
# where every task may move they are listed anew.

PROOF = "node configurations listed once for all limits of moves, gap closed by CP-SAT"


@dataclass(slots=True)
class SharedColumns:
    """The columns of an instance, listed when they are first needed; ``None`` = not yet."""

    model: ColumnModel | None = None

    def engine(self) -> Engine:
        """Return the engine; it takes problems that differ in the limit of moves alone."""
        return replace(COLUMNS, run=self._run, parameters=None, with_parameters=None)

    @property
    def is_listed(self) -> bool:
        """Whether the columns are listed."""
        return self.model is not None

    def _run(
        self,
        problem: Problem,
        limits: Limits,
        hint: Placement | None,
        reporter: Reporter | None = None,
    ) -> Outcome:
        reporter = reporter or null_reporter(problem, COLUMNS.name)
        best = Incumbent(problem, reporter)
        deadline = best.started + limits.time_s
        if hint is not None:
            best.offer(hint)
        try:
            is_limited = problem.move_limit != NO_LIMIT
            if self.model is None or is_limited != (self.model.moves is not None):
                self.model = make_column_model(problem, deadline, reporter.token)
            model = replace(self.model, problem=problem)
            left = replace(limits, time_s=max(deadline - time.perf_counter(), 0.0))
            search_columns(model, best, left, COLUMNS_DEFAULTS, reporter.token)
        except CancelledError:
            best.interrupted = reporter.token.is_cancelled
        best.kind = best.kind or KIND
        return best.outcome(PROOF)
