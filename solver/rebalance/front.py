"""The best cost for each number of moves: a Pareto front, every point proven or bounded.

Points help each other. The best placement with k - 1 moves is one with at most k, so that is where
point k starts. A bound with k moves holds with fewer. A point whose value is the bound of more
moves is proven without a run. From the fewest moves of a best placement on, nothing is left to
gain, and below them the best cost cannot be reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import InputError
from slotwise.models.explanation.alternatives import moved
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.core.result import Limits, Result, Status
from slotwise.solver.few_moves.engine import FEW_MOVES
from slotwise.solver.few_moves.params import FewMovesParams
from slotwise.solver.parameters import Parameters
from slotwise.solver.rebalance.order import Prefer, ordered
from slotwise.solver.rebalance.point import Bounds, FrontPoint, with_bound
from slotwise.solver.solve import solve

FREE_FRACTION = 0.3
"""Of the time, for the best placement whatever it moves."""
TABLES_FRACTION = 0.4
"""Of the time that is left, for exact tables; where they take longer others go on."""
NO_TABLES = {FEW_MOVES.name: FewMovesParams(max_pairs=0)}
LEAST_S = 0.1
"""Seconds of a run, at least."""
NOW, FEWER, WAY = "what runs now", "other points", "on the way to the free optimum"
"""How a point was found, where no run of its own did."""


@dataclass(frozen=True, slots=True)
class Front:
    """The best cost with at most 0, 1, 2, ... moves.

    Parameters
    ----------
    problem
        The instance without a limit of moves.
    points
        By most moves, from 0 on; the last is the free optimum where that needs no more moves.
    free
        The best placement whatever it moves; its `max_moves` are the moves of its placement.
    fewest_moves
        Proven: a placement as good as `free` takes at least so many moves; ``None`` = not proven
        that `free` is best.
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
    """Return the best placement with at most so many moves: one point of a front.

    Parameters
    ----------
    problem
        With `running`; a limit of its own is replaced.
    hint
        Where to start, for example the best placement with fewer moves; ``None`` = what runs now.
    bounds
        What is proven with as many moves or more, in integer steps of the terms.
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


def with_limit(instance: Instance, max_moves: int | None) -> Problem:
    """Compile an instance with at most so many moves; ``None`` = as many as there are tasks."""
    if instance.running is None:
        raise InputError("needs an instance with `running`", field="running", has_value=False)
    limits = {} if max_moves is None else {"moved": max_moves}
    return compile_problem(replace(instance, objective=replace(instance.objective, limits=limits)))


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
        With `running`. A limit of moves of its own is the end of the front.
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
    return _Search(instance, max_moves, limits).run(on_point)


class _Search:
    """The points, solved from the fewest moves on."""

    def __init__(self, instance: Instance, max_moves: int, limits: Limits) -> None:
        own = instance.objective.limits.get("moved", NO_LIMIT)
        self._problem = with_limit(instance, None)
        self._limits, self._deadline = limits, time.perf_counter() + limits.time_s
        homed = sum(one.size for one in self._problem.classes if one.home is not None)
        self._all_run = homed == self._problem.task_count
        self._last = min(max_moves, own, homed)
        self._points: list[FrontPoint] = []
        self._on_the_way: tuple[FrontPoint, ...] = ()
        self._has_tables = True
        self._fewest: int | None = None
        self._interrupted = False

    @property
    def _left_s(self) -> float:
        return 0.0 if self._interrupted else self._deadline - time.perf_counter()

    def run(self, on_point: Callable[[FrontPoint], object]) -> Front:
        now = running_placement(self._problem)
        assert now is not None, "with_limit asks for it"
        free = self._free(now)
        self._on_the_way = self._states_between(now, free)
        for moves in range(self._last + 1):
            self._points.append(self._point(moves, now, free))
            on_point(self._points[-1])
            if free.is_proven and self._points[-1].values == free.values:
                break
        points = _with_all_bounds(self._points)
        return Front(self._problem, points, free, self._fewest, self._interrupted)

    def _free(self, now: Placement) -> FrontPoint:
        """Return the best placement with any number of moves, and as few as possible."""
        instance = self._problem.instance
        terms = instance.objective.terms
        counted = terms if "moved" in instance.objective.parts else (*terms, "moved")
        few = replace(instance, objective=replace(instance.objective, terms=counted))
        found, bounds = self._solved(compile_problem(few), FREE_FRACTION, now, ())
        found = with_bound(replace(found, bounds=()), bounds[: len(terms)])
        if len(counted) > len(terms) and found.is_proven:
            self._fewest = bounds[-1]
        return found

    def _point(self, moves: int, now: Placement, free: FrontPoint) -> FrontPoint:
        """Return one point: from what is known where that proves it, otherwise by a run."""
        if free.status is Status.INFEASIBLE:
            return replace(free, max_moves=moves, how=FEWER)
        if moves == 0 and self._all_run:
            return self._without_moves(now)
        bounds = self._bounds(free, moves)
        known = replace(self._incumbent(moves, free), max_moves=moves, bounds=(), how=FEWER)
        known = with_bound(replace(known, seconds=0.0), bounds)
        if known.is_proven or self._left_s <= 0:
            return known
        limited = with_limit(self._problem.instance, moves)
        hint = now if known.placement is None else known.placement
        found = self._by_tables(limited, hint, bounds)
        if found is None:
            share = 1 / (self._last - moves + 1)
            found, _ = self._solved(limited, share, hint, bounds, parameters=NO_TABLES)
        return replace(found, max_moves=moves)

    def _by_tables(self, limited: Problem, hint: Placement, bounds: Bounds) -> FrontPoint | None:
        """Return what exact tables prove; ``None`` from the first point that is too large on."""
        self._has_tables = self._has_tables and FEW_MOVES.supports(limited) is None
        if not self._has_tables:
            return None
        try:
            found, _ = self._solved(limited, TABLES_FRACTION, hint, bounds, engine=FEW_MOVES)
        except UntakenError:
            self._has_tables = False
            return None
        self._has_tables = found.is_proven
        return found if found.is_proven else None

    def _without_moves(self, now: Placement) -> FrontPoint:
        """Return what runs now: without moves there is nothing else."""
        verdict = judge(self._problem, now)
        if verdict.valid:
            return FrontPoint(0, Status.OPTIMAL, now, verdict, verdict.scaled, NOW)
        return FrontPoint(0, Status.INFEASIBLE, None, None, (), NOW)

    def _states_between(self, now: Placement, free: FrontPoint) -> tuple[FrontPoint, ...]:
        """Return what stands after each move to the free optimum, where that keeps the rules."""
        if free.placement is None:
            return ()
        problem, token = self._problem, CancellationToken(self._deadline)
        try:
            found = ordered(problem, now, free.placement, token, prefer=_cost_of(problem))
        except CancelledError:
            return ()
        state, points = now, []
        for task, _, (node, worker), _ in found.moves[: self._last]:
            state = moved(state, task, node, worker)
            verdict = judge(problem, state)
            if verdict.valid:
                points.append(FrontPoint(0, Status.FEASIBLE, state, verdict, (), WAY))
        return tuple(points)

    def _incumbent(self, moves: int, free: FrontPoint) -> FrontPoint:
        """Return the best point known that has no more moves."""
        found = [*self._points[-1:], free, *self._on_the_way]
        placed = [point for point in found if point.moves is not None and point.moves <= moves]
        nothing = FrontPoint(moves, Status.UNKNOWN, None, None, (), FEWER)
        return min(placed, key=lambda point: point.values or (), default=nothing)

    def _bounds(self, free: FrontPoint, moves: int) -> Bounds:
        """Return what the free optimum proves: below its fewest moves the cost is higher."""
        if free.values is None or self._fewest is None or moves >= self._fewest:
            return free.bounds
        *first, last = free.values
        return (*first, last + 1)

    def _solved(
        self,
        problem: Problem,
        share: float,
        hint: Placement,
        bounds: Bounds,
        engine: str | Engine = "auto",
        parameters: Mapping[str, Parameters] | None = None,
    ) -> tuple[FrontPoint, Bounds]:
        """Return a run's answer, judged without a limit of moves, and all its bounds."""
        result = solve(
            problem,
            engine=engine,
            parameters=parameters,
            time_limit_s=max(self._left_s * share, LEAST_S),
            workers=self._limits.workers,
            seed=self._limits.seed,
            memory_limit_mb=self._limits.memory_mb,
            hint=hint,
            bounds=bounds,
        )
        self._interrupted |= result.interrupted
        found = tuple(
            None if one.bound is None else int(one.bound / term.unit)
            for one, term in zip(result.objective, problem.terms, strict=True)
        )
        placement = result.placement
        verdict = None if placement is None else judge(self._problem, placement)
        point = FrontPoint(0, result.status, placement, verdict, (), result.engine, result.seconds)
        terms = len(self._problem.terms)
        return with_bound(with_bound(point, bounds[:terms]), found[:terms]), found


def _cost_of(problem: Problem) -> Prefer:
    def cost(placement: Placement) -> tuple[int, ...]:
        return judge(problem, placement).scaled

    return cost


def _with_all_bounds(points: Sequence[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Return the points with what is proven with more moves, which holds with fewer."""
    found = list(points)
    for index in range(len(found) - 2, -1, -1):
        more, point = found[index + 1], found[index]
        if more.status is Status.INFEASIBLE:
            found[index] = replace(more, max_moves=point.max_moves, how=FEWER)
        elif not point.is_proven:
            found[index] = with_bound(point, more.bounds)
    return tuple(found)
