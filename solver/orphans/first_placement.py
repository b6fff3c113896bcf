"""A first placement at once where tasks run: keep them, place the orphans, repair only if needed.

Orphans come one by one, those that fit fewest nodes first, each where it costs least; one without
room goes first in the next round. Where that fails others make room: orphans that have a place,
then running tasks, as far as moves are allowed. The judge has the last word on all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.orphans.standing import Fit, Standing

MOST_TRIED = 150_000
"""Places that are looked at, about ten microseconds each; then others must find a placement."""
ROUNDS = 12
"""Orders of the orphans that are tried for each way to choose among places."""
DEPTH = 2
"""Tasks that make room one for another."""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What runs and may stay, and the tasks that need a place.

    Parameters
    ----------
    standing
        Tasks at home.
    orphans
        Tasks that run nowhere.
    crowded
        Running tasks that break a hard rule together with those before them.
    """

    standing: Standing
    orphans: tuple[int, ...]
    crowded: tuple[int, ...]


def kept(problem: Problem, token: CancellationToken) -> Kept:
    """Return what runs, booked task by task."""
    standing, orphans, crowded = Standing(problem), [], []
    for task, c in enumerate(problem.task_class.tolist()):
        token.check()
        home = problem.classes[c].home
        if home is None:
            orphans.append(task)
            continue
        found = standing.fit(c, home)
        if found is None:
            crowded.append(task)
        else:
            standing.put(task, found)
    return Kept(standing, tuple(orphans), tuple(crowded))


def first_placement(problem: Problem, token: CancellationToken) -> Placement | None:
    """Return a placement that moves as few running tasks as a quick search finds.

    Returns
    -------
    Placement | None
        ``None`` where nothing runs, and where the search finds none: that proves nothing.

    Raises
    ------
    CancelledError
        When the token says so.
    """
    if all(one.home is None for one in problem.classes):
        return None
    begin = kept(problem, token)
    waiting = (*begin.crowded, *begin.orphans)
    if len(begin.crowded) > problem.move_limit:
        return None
    if len(waiting) * problem.node_count > MOST_TRIED:
        return None
    return _Search(problem, begin, token).placement(waiting)


class _Search:
    """Places the tasks that wait."""

    def __init__(self, problem: Problem, begin: Kept, token: CancellationToken) -> None:
        self._problem, self._begin, self._token = problem, begin.standing, token
        self._class_of: list[int] = problem.task_class.tolist()
        self._tried = begin.standing.tried

    def placement(self, waiting: Sequence[int]) -> Placement | None:
        """Return a placement with all of them; with topologies left out only where they may be."""
        best: tuple[Standing, list[int]] | None = None
        for is_tight in (False, True):
            order = sorted(waiting, key=self._choices)
            for _ in range(ROUNDS):
                state, left = self._round(order, is_tight=is_tight)
                if best is None or len(left) < len(best[1]):
                    best = state, left
                if not left:
                    return state.placement()
                if self._is_over(state):
                    break
                order = [*left, *(task for task in order if task not in set(left))]
        assert best is not None, "there is a round"
        state, left = best
        still = [task for task in left if not self._make_room(state, task, DEPTH)]
        if not still:
            return state.placement()
        return self._without(state, still) if self._problem.may_reject else None

    def _is_over(self, state: Standing) -> bool:
        self._token.check()
        self._tried = max(self._tried, state.tried)
        return self._tried > MOST_TRIED

    def _choices(self, task: int) -> int:
        """Return on how many nodes a task fits now."""
        return len({found.place[0] for found in self._begin.fits(self._class_of[task])})

    def _round(self, order: Sequence[int], *, is_tight: bool) -> tuple[Standing, list[int]]:
        """Return what stands after each task took the best place in turn, and who found none."""
        state, left = self._begin.copy(), []
        for task in order:
            self._token.check()
            best = self._best(state, task, is_tight=is_tight)
            if best is None:
                left.append(task)
            else:
                state.put(task, best)
        return state, left

    def _best(self, state: Standing, task: int, *, is_tight: bool = False) -> Fit | None:
        """Return the place that costs least, or that leaves least room; ``None`` = no room."""
        c = self._class_of[task]
        attraction = state.attraction(c)

        def key(found: Fit) -> tuple[object, ...]:
            added = state.added(c, found, attraction)
            return (self._room(found), added) if is_tight else (added, self._room(found))

        return min(state.fits(c), key=key, default=None)

    def _room(self, found: Fit) -> float:
        """Return what share of its resources a node has left, each in turn."""
        pairs = zip(found.node.load, self._problem.capacity[found.place[0]].tolist(), strict=True)
        return float(sum(1 - load / capacity for load, capacity in pairs if capacity))

    def _moved(self, state: Standing) -> int:
        """Return how many running tasks stand elsewhere, or nowhere."""
        homes = ((task, self._problem.classes[c].home) for task, c in enumerate(self._class_of))
        return sum(home is not None and state.at.get(task) != home for task, home in homes)

    def _make_room(self, state: Standing, task: int, depth: int) -> bool:
        """Place a task where others make room for it; fewest moves first, then the least cost."""
        for moves in (0, 1):
            for node in range(self._problem.node_count):
                for other in state.on(node):
                    if self._is_over(state):
                        return False
                    home = self._problem.classes[self._class_of[other]].home
                    if (home is not None and state.at[other] == home) != bool(moves):
                        continue
                    if self._instead(state, task, other, node, depth):
                        return True
        return False

    def _instead(self, state: Standing, task: int, other: int, node: int, depth: int) -> bool:
        """Place a task on a node that another leaves, if that finds a place, too."""
        after = state.copy()
        after.take(other)
        c = self._class_of[task]
        attraction = after.attraction(c)
        here = min(
            after.fits_on(c, node), key=lambda one: after.added(c, one, attraction), default=None
        )
        if here is None:
            state.tried = after.tried
            return False
        after.put(task, here)
        if self._moved(after) > self._problem.move_limit:
            state.tried = after.tried
            return False
        there = self._best(after, other)
        if there is not None:
            after.put(other, there)
        elif depth <= 1 or not self._make_room(after, other, depth - 1):
            state.tried = after.tried
            return False
        if self._moved(after) > self._problem.move_limit:
            return False
        _become(state, after)
        return True

    def _without(self, state: Standing, still: Sequence[int]) -> Placement | None:
        """Leave the topologies of tasks without a place out."""
        out = {self._problem.classes[self._class_of[task]].topology for task in still}
        for task in list(state.at):
            if self._problem.classes[self._class_of[task]].topology in out:
                state.take(task)
        return state.placement() if self._moved(state) <= self._problem.move_limit else None


def _become(state: Standing, other: Standing) -> None:
    """Make a state the same as another one, which is not used any more."""
    state.__dict__.update(other.__dict__)
