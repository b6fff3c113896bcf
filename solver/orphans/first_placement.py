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
from slotwise.solver.orphans.partial_placement import Fit, PartialPlacement

MOST_TRIED = 150_000
"""Places tried at most, about ten microseconds each, copies included; then it gives up."""
ROUNDS = 12
"""Orders of the orphans that are tried for each way to choose among places."""
DEPTH = 2
"""Longest chain of tasks of which each makes room for the one before."""


@dataclass(frozen=True, slots=True, eq=False)
class CurrentPlacement:
    """Where tasks run now, and the tasks that need a place.

    Parameters
    ----------
    partial
        The running tasks that can stay, each in its current place.
    orphans
        Tasks that run nowhere.
    conflicting
        Running tasks that break a hard rule together with those in `partial`.
    """

    partial: PartialPlacement
    orphans: tuple[int, ...]
    conflicting: tuple[int, ...]


def current_placement(problem: Problem, token: CancellationToken) -> CurrentPlacement:
    """Return where tasks run now; of running tasks in conflict, those of lower index stay."""
    partial, orphans, conflicting = PartialPlacement(problem), [], []
    for task, c in enumerate(problem.task_class.tolist()):
        token.check()
        home = problem.classes[c].home
        if home is None:
            orphans.append(task)
            continue
        fit = partial.fit(c, home)
        if fit is None:
            conflicting.append(task)
        else:
            partial.put(task, fit)
    return CurrentPlacement(partial, tuple(orphans), tuple(conflicting))


def first_placement(problem: Problem, token: CancellationToken) -> Placement | None:
    """Return a placement that moves as few running tasks as a quick search finds.

    Returns
    -------
    Placement | None
        ``None`` where nothing runs, and where the search finds none, which is not a proof.

    Raises
    ------
    CancelledError
        When the token is cancelled.
    """
    if all(one.home is None for one in problem.classes):
        return None
    current = current_placement(problem, token)
    waiting = (*current.conflicting, *current.orphans)
    if len(current.conflicting) > problem.move_limit:
        return None
    if len(waiting) * problem.node_count > MOST_TRIED:
        return None
    return _Search(problem, current.partial, token).placement(waiting)


class _Search:
    """Places the tasks that need a place, beginning from a partial placement."""

    def __init__(self, problem: Problem, start: PartialPlacement, token: CancellationToken) -> None:
        self._problem, self._start, self._token = problem, start, token
        self._class_of: list[int] = problem.task_class.tolist()
        self._tried = start.tried

    def placement(self, waiting: Sequence[int]) -> Placement | None:
        """Return a placement of all these tasks, or, where allowed, of some topologies only."""
        best: tuple[PartialPlacement, list[int]] | None = None
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
        unplaced = [task for task in left if not self._make_room(state, task, DEPTH)]
        if not unplaced:
            return state.placement()
        return self._leave_out(state, unplaced) if self._problem.may_reject else None

    def _is_over(self, state: PartialPlacement) -> bool:
        self._token.check()
        self._tried = max(self._tried, state.tried)
        return self._tried > MOST_TRIED

    def _choices(self, task: int) -> int:
        """Return on how many nodes a task fits now."""
        return len({fit.place[0] for fit in self._start.fits(self._class_of[task])})

    def _round(self, order: Sequence[int], *, is_tight: bool) -> tuple[PartialPlacement, list[int]]:
        """Give each task in turn its best place; return also the tasks that fit nowhere."""
        state, left = self._start.copy(), []
        for task in order:
            self._token.check()
            best = self._best(state, task, is_tight=is_tight)
            if best is None:
                left.append(task)
            else:
                state.put(task, best)
        return state, left

    def _best(self, state: PartialPlacement, task: int, *, is_tight: bool = False) -> Fit | None:
        """Return the place of least cost, or with least room left; ``None`` = it fits nowhere."""
        c = self._class_of[task]
        attraction = state.attraction(c)

        def key(fit: Fit) -> tuple[object, ...]:
            cost, room = state.added_cost(c, fit, attraction), self._room(fit)
            return (room, cost) if is_tight else (cost, room)

        return min(state.fits(c), key=key, default=None)

    def _room(self, fit: Fit) -> float:
        """Return the sum over resources of the share of a node's capacity that is left."""
        pairs = zip(fit.node.load, self._problem.capacity[fit.place[0]].tolist(), strict=True)
        return float(sum(1 - load / capacity for load, capacity in pairs if capacity))

    def _moved(self, state: PartialPlacement) -> int:
        """Return how many running tasks are in another place, or in none."""
        homes = ((task, self._problem.classes[c].home) for task, c in enumerate(self._class_of))
        return sum(home is not None and state.places.get(task) != home for task, home in homes)

    def _make_room(self, state: PartialPlacement, task: int, depth: int) -> bool:
        """Place a task where another makes room for it: one that has moved already, or else any."""
        may_return = self._problem.classes[self._class_of[task]].home is not None
        for moves in (0, 1):
            if moves and self._moved(state) - may_return >= self._problem.move_limit:
                return False  # a task that leaves its home is one more
            for node in range(self._problem.node_count):
                for other in state.tasks_on(node):
                    if self._is_over(state):
                        return False
                    home = self._problem.classes[self._class_of[other]].home
                    if (home is not None and state.places[other] == home) != bool(moves):
                        continue
                    if self._replace_task(state, task, other, node, depth):
                        return True
        return False

    def _replace_task(
        self, state: PartialPlacement, task: int, other: int, node: int, depth: int
    ) -> bool:
        """Place a task on a node that another task leaves, if both then have a place."""
        after = state.copy()
        after.remove(other)
        c = self._class_of[task]
        attraction = after.attraction(c)
        own_fit = min(
            after.fits_on(c, node),
            key=lambda fit: after.added_cost(c, fit, attraction),
            default=None,
        )
        if own_fit is None:
            state.tried = after.tried
            return False
        after.put(task, own_fit)
        if self._moved(after) > self._problem.move_limit:
            state.tried = after.tried
            return False
        other_fit = self._best(after, other)
        if other_fit is not None:
            after.put(other, other_fit)
        elif depth <= 1 or not self._make_room(after, other, depth - 1):
            state.tried = after.tried
            return False
        if self._moved(after) > self._problem.move_limit:
            return False
        _overwrite(state, after)
        return True

    def _leave_out(self, state: PartialPlacement, unplaced: Sequence[int]) -> Placement | None:
        """Leave out the topologies of tasks without a place."""
        out = {self._problem.classes[self._class_of[task]].topology for task in unplaced}
        for task in list(state.places):
            if self._problem.classes[self._class_of[task]].topology in out:
                state.remove(task)
        return state.placement() if self._moved(state) <= self._problem.move_limit else None


def _overwrite(state: PartialPlacement, other: PartialPlacement) -> None:
    """Give `state` the contents of `other`, which must not be used afterwards."""
    state.__dict__.update(other.__dict__)
