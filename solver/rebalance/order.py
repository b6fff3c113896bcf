"""The order of moves in which no state between breaks a hard rule.

A depth-first search over the states between: a state is the moves that are made, each kind's tasks
being equal, and no state is searched twice. So it finds an order wherever there is one, up to
`MOST_STATES` states in each part of the moves that shares no node with the others. Only the node
that a task comes to can break a rule, for all hard rules are upper limits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.rebalance.moves import NOWHERE, Demand, KindMove, Place, parts
from slotwise.solver.rebalance.state_between import Blocked, StateBetween

MOST_STATES = 20_000
"""States that are searched in each part."""


@dataclass(frozen=True, slots=True)
class StepByStep:
    """An order of moves.

    Parameters
    ----------
    moves
        Task, from where, to where, and whether it is parked there only: it moves on later.
    placement
        After all of them; as good as the one that was asked for, equal tasks exchanged.
    blocked
        Of the moves that no order was found for, which rule each would break; empty = all are
        ordered.
    is_proven
        Whether it is certain that those have no order (with as many parking moves as were allowed).
    """

    moves: tuple[tuple[int, Place, Place, bool], ...]
    placement: Placement
    blocked: tuple[Blocked, ...]
    is_proven: bool


def ordered(
    problem: Problem,
    start: Placement,
    end: Placement,
    token: CancellationToken,
    *,
    parking: int = 0,
    saves_first: bool = False,
) -> StepByStep:
    """Return the moves from `start` to `end` in an order that keeps the hard rules.

    Parameters
    ----------
    parking
        Most tasks of a part of the moves that may go to another place for a while.
    saves_first
        Whether the moves that save most come first where the rules allow it, unless there are too
        many to ask the judge; otherwise the order of the instance decides.
    """
    state = StateBetween(problem, start, token, saves_first)
    blocked: list[Blocked] = []
    is_proven = True
    for part in parts(state.wanted(end)):
        for spare in range(parking + 1):
            search = _PartSearch(state, part, spare)
            if search.run():
                break
        else:
            blocked += search.blocked
            is_proven &= search.is_complete
    return StepByStep(state.made, state.placement(), tuple(blocked), is_proven)


class _PartSearch:
    """The search for an order of one part of the moves, depth first."""

    def __init__(self, state: StateBetween, wanted: Demand, parking: int) -> None:
        self._state, self._parking = state, parking
        self._left = Demand(Counter(wanted.leave), Counter(wanted.come))
        self._seen: set[object] = set()
        self._went_back = False
        self._fewest_left = wanted.come.total() + 1
        self.blocked: list[Blocked] = []
        self.is_complete = True

    def run(self) -> bool:
        """Make all moves; return ``False``, with none of them made, where no order is found."""
        path: list[KindMove] = []
        untried = [self._options()]
        while self._left.come:
            self._state.token.check()
            if not untried[-1]:
                untried.pop()
                self._went_back = True
                if not path:
                    return False
                self._undo(path.pop())
                continue
            move = untried[-1].pop(0)
            self._make(move)
            if self._is_new():
                path.append(move)
                untried.append(self._options())
            else:
                self._undo(move)
            if len(self._seen) >= MOST_STATES and self._left.come:
                self.is_complete = False
                while path:
                    self._undo(path.pop())
                return False
        return True

    def _is_new(self) -> bool:
        left = self._left
        key = (frozenset(left.leave.items()), frozenset(left.come.items()), self._parking)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _options(self) -> list[KindMove]:
        """Return the moves that break nothing now; parking moves last."""
        state, all_moves = self._state, list(self._left.moves())
        good = [move for move in all_moves if not state.broken_by(move)]
        if not good and self._left.come.total() < self._fewest_left:
            self._fewest_left = self._left.come.total()
            self.blocked = [state.blocked(move) for move in all_moves]
        if len(good) > 1 and not self._went_back:
            good = state.by_cost(good)
        return good + (self._parkings() if self._parking else [])

    def _parkings(self) -> list[KindMove]:
        left, state = self._left, self._state
        return [
            move
            for kind, source in sorted(left.leave)
            if source != NOWHERE
            for move in state.parkings(KindMove(kind, source, NOWHERE))
            if (kind, move.target) not in left.come and not state.broken_by(move)
        ]

    def _make(self, move: KindMove) -> None:
        self._state.make(move)
        self._count(move, 1)

    def _undo(self, move: KindMove) -> None:
        self._state.undo(move)
        self._count(move, -1)

    def _count(self, move: KindMove, made: int) -> None:
        leave, come = self._left.leave, self._left.come
        leave[move.kind, move.source] -= made
        if move.is_parking:
            leave[move.kind, move.target] += made
            self._parking -= made
        else:
            come[move.kind, move.target] -= made
        for counter in (leave, come):
            for key in [key for key, count in counter.items() if not count]:
                del counter[key]
