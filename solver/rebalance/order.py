"""The order of moves in which no state between breaks a hard rule.

A depth-first search over the states between: a state is the moves that are made, each kind's tasks
being equal, and no state is searched twice. So it finds an order wherever there is one, up to
`MOST_STATES` states in each part of the moves that shares no node with the others. Only the node
that a task comes to can break a rule, for all hard rules are upper limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.problem import Problem
from slotwise.solver.rebalance.limited import homeless
from slotwise.solver.rebalance.moves import (
    NOWHERE,
    Demand,
    KindMove,
    Place,
    demand,
    kind_of_tasks,
    parts,
)
from slotwise.solver.rebalance.rules_between import Contents, RulesBetween, contents, put

MOST_STATES = 20_000
"""States that are searched in each part."""
MOST_JUDGED = 100_000
"""Moves times tasks up to which the judge says what each move saves."""
MOST_COMPARED = 16
"""Moves that are compared at each step."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A move that cannot be made in the state in which the others have been: rule and amounts."""

    task: int
    target: Place
    violation: Violation


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
    return _Orders(problem, start, token, saves_first).run(end, parking)


class _Orders:
    """The state that is reached, and the moves up to it."""

    def __init__(
        self, problem: Problem, start: Placement, token: CancellationToken, saves_first: bool
    ) -> None:
        self._problem, self.token, self._saves_first = problem, token, saves_first
        self._kinds = kind_of_tasks(problem)
        self._rest = homeless(problem.instance)
        self._rules = RulesBetween(self._rest, self._kinds, start)
        self._held: Contents = contents(self._kinds, start)
        self._nodes, self._workers = list(start.nodes), list(start.workers)
        self._made: list[tuple[int, Place, Place, bool]] = []

    def run(self, end: Placement, parking: int) -> StepByStep:
        start = Placement(tuple(self._nodes), tuple(self._workers))
        wanted = demand(self._kinds, start, end)
        self._saves_first &= wanted.come.total() * self._problem.task_count <= MOST_JUDGED
        blocked: list[Blocked] = []
        is_proven = True
        for part in parts(wanted):
            for spare in range(parking + 1):
                search = _PartSearch(self, part, spare)
                if search.run():
                    break
            else:
                blocked += search.blocked
                is_proven &= search.is_complete
        return StepByStep(tuple(self._made), self.placement(), tuple(blocked), is_proven)

    def placement(self) -> Placement:
        return Placement(tuple(self._nodes), tuple(self._workers))

    def broken_by(self, move: KindMove) -> tuple[Violation, ...]:
        """Return the rules that a move would break now."""
        node, label = move.target
        if node == UNPLACED:
            return ()
        held = Counter(self._held.get(node, Counter()))
        if move.source[0] == node:
            held[move.kind, move.source[1]] -= 1
        held[move.kind, label] += 1
        return self._rules.broken(node, +held)

    def blocked(self, move: KindMove) -> Blocked:
        """Return what a move that breaks a rule now would break."""
        task = self.task_at(move.kind, move.source)
        return Blocked(task, move.target, self.broken_by(move)[0])

    def make(self, move: KindMove) -> None:
        """Make a move: of any task of its kind that is at its source."""
        task = self.task_at(move.kind, move.source)
        self._nodes[task], self._workers[task] = move.target
        self._made.append((task, move.source, move.target, move.is_parking))
        put(self._held, move.kind, move.source, -1)
        put(self._held, move.kind, move.target, 1)

    def undo(self, move: KindMove) -> None:
        """Take the last move back."""
        task, source, target, _ = self._made.pop()
        self._nodes[task], self._workers[task] = source
        put(self._held, move.kind, target, -1)
        put(self._held, move.kind, source, 1)

    def task_at(self, kind: int, place: Place) -> int:
        """Return a task of a kind at a place: the first."""
        rows = zip(self._kinds, self._nodes, self._workers, strict=True)
        return next(task for task, row in enumerate(rows) if row == (kind, *place))

    def by_cost(self, moves: list[KindMove]) -> list[KindMove]:
        """Return moves, those to cheaper states first."""
        if not self._saves_first:
            return moves
        costs = []
        for move in moves[:MOST_COMPARED]:
            self.make(move)
            costs.append(judge(self._rest, self.placement()).scaled)
            self.undo(move)
        order = sorted(range(len(costs)), key=lambda index: costs[index])
        return [moves[index] for index in order] + moves[MOST_COMPARED:]

    def parkings(self, move: KindMove) -> Iterator[KindMove]:
        """Yield where a task could wait: a worker of its topology, or a fresh one, on each node."""
        of_class = self._problem.task_class.tolist()
        own = self._problem.classes[of_class[self.task_at(move.kind, move.source)]].topology
        tenants: dict[Place, int] = {}
        for task, place in enumerate(zip(self._nodes, self._workers, strict=True)):
            tenants[place] = self._problem.classes[of_class[task]].topology
        fresh = max((label for _, label in tenants), default=0) + 1
        for node in range(self._problem.node_count):
            if node == move.source[0]:
                continue
            labels = [w for (n, w), who in tenants.items() if n == node and who == own]
            for label in (*sorted(labels), fresh):
                yield KindMove(move.kind, move.source, (node, label), is_parking=True)


class _PartSearch:
    """The search for an order of one part of the moves, depth first."""

    def __init__(self, orders: _Orders, wanted: Demand, parking: int) -> None:
        self._orders, self._parking = orders, parking
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
            self._orders.token.check()
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
        orders, all_moves = self._orders, list(self._left.moves())
        good = [move for move in all_moves if not orders.broken_by(move)]
        if not good and self._left.come.total() < self._fewest_left:
            self._fewest_left = self._left.come.total()
            self.blocked = [orders.blocked(move) for move in all_moves]
        if len(good) > 1 and not self._went_back:
            good = orders.by_cost(good)
        return good + (self._parkings() if self._parking else [])

    def _parkings(self) -> list[KindMove]:
        left, orders = self._left, self._orders
        return [
            move
            for kind, source in sorted(left.leave)
            if source != NOWHERE
            for move in orders.parkings(KindMove(kind, source, NOWHERE))
            if (kind, move.target) not in left.come and not orders.broken_by(move)
        ]

    def _make(self, move: KindMove) -> None:
        self._orders.make(move)
        self._count(move, 1)

    def _undo(self, move: KindMove) -> None:
        self._orders.undo(move)
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
