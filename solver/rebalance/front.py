"""The best cost for each number of moves: a Pareto front, every point proven or bounded.

Points help each other. The best placement with k - 1 moves is one with at most k, so that is where
point k starts. A bound with k moves holds with fewer. A point whose value is the bound of more
moves is proven without a run. From the fewest moves of a best placement on, nothing is left to
gain, and below them the best cost cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Limits, Result
from slotwise.solver.rebalance.front_search import FrontSearch
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.rebalance.point import FrontPoint
from slotwise.solver.solve import solve


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
        Proven least number of moves of a placement as good as `free`; ``None`` = not proven
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
    """Return the best placement with at most a number of moves: one point of a front.

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
    search = FrontSearch(instance, max_moves, limits)
    points, free = search.run(on_point)
    return Front(search.problem, points, free, search.fewest_moves, search.is_interrupted)
