"""An order of moves in which no state in between breaks a hard rule.

A depth-first search over these states: a state is the set of moves made, tasks of a kind being
equal, and no state is searched twice. So it finds an order wherever there is one, up to
`MOST_STATES` states in each part of the moves that shares no node with the others. Only the node
that a task moves to can break a rule, for all hard rules are upper limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.accounting import account
from slotwise.models.judge.judge import judge
from slotwise.models.judge.rules import violations
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.problem import Problem
from slotwise.solver.rebalance.limited import compiled_without_running
from slotwise.solver.structure.matching import exchangeable_classes

# The moves between two placements, by kinds: which of several equal tasks moves is left open.

Place = tuple[int, int]
"""Node and label of a worker; `NOWHERE` of a task that does not run."""
NOWHERE: Place = (UNPLACED, UNPLACED)


@dataclass(frozen=True, slots=True)
class KindMove:
    """The move of a task of a kind from one place to another; a parked task moves on later."""

    kind: int
    source: Place
    target: Place
    is_parking: bool = False


@dataclass(frozen=True, slots=True)
class Demand:
    """The moves still to make: number of tasks of each (kind, place) that leave it, and join it."""

    leave: Counter[tuple[int, Place]]
    come: Counter[tuple[int, Place]]

    def moves(self) -> Iterator[KindMove]:
        """Yield each move of a task to a place that needs one."""
        for kind, source in sorted(self.leave):
            for other, target in sorted(self.come):
                if other == kind:
                    yield KindMove(kind, source, target)


def kind_of_tasks(problem: Problem) -> list[int]:
    """Return the kind of each task: tasks of one kind may be exchanged, wherever they run."""
    of_class = {c: kind for kind, group in enumerate(exchangeable_classes(problem)) for c in group}
    return [of_class[c] for c in problem.task_class.tolist()]


def demand(kinds: list[int], start: Placement, end: Placement) -> Demand:
    """Return what leaves and joins each place, by kind; equal tasks that swap places cancel out."""
    before = Counter(zip(kinds, zip(start.nodes, start.workers, strict=True), strict=True))
    after = Counter(zip(kinds, zip(end.nodes, end.workers, strict=True), strict=True))
    return Demand(before - after, after - before)


def parts(moves: Demand) -> list[Demand]:
    """Return the moves in parts that share no node, so that each can be ordered by itself."""
    group: dict[object, object] = {}

    def root(item: object) -> object:
        while group.setdefault(item, item) != item:
            item = group[item]
        return item

    for kind, (node, _) in [*moves.leave, *moves.come]:
        group[root(("kind", kind))] = root(("node", node) if node != UNPLACED else ("kind", kind))
    names = sorted({root(("kind", kind)) for kind, _ in moves.leave}, key=str)

    def own(all_of: Counter[tuple[int, Place]], name: object) -> Counter[tuple[int, Place]]:
        return Counter({key: n for key, n in all_of.items() if root(("kind", key[0])) == name})

    return [Demand(own(moves.leave, name), own(moves.come, name)) for name in names]


# A state between two placements: the moves so far, and the moves that the rules allow next.

MOST_JUDGED = 100_000
"""Largest product of moves and tasks for which the judge computes what each move saves."""
MOST_COMPARED = 16
"""Moves that are compared at each step."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A move that a rule forbids after all others have been made, with rule and amounts."""

    task: int
    target: Place
    violation: Violation


class StateBetween:
    """A state, and the moves that lead to it."""

    def __init__(
        self, problem: Problem, start: Placement, token: CancellationToken, saves_first: bool
    ) -> None:
        self._problem, self.token, self._saves_first = problem, token, saves_first
        self._kinds = kind_of_tasks(problem)
        self._rest = compiled_without_running(problem.instance)
        self._rules = RulesBetween(self._rest, self._kinds, start)
        self._held: Contents = contents(self._kinds, start)
        self._nodes, self._workers = list(start.nodes), list(start.workers)
        self._made: list[tuple[int, Place, Place, bool]] = []

    def moves_to(self, end: Placement) -> Demand:
        """Return the moves left to `end`; savings are compared unless that would take too long."""
        moves = demand(self._kinds, self.placement(), end)
        self._saves_first &= moves.come.total() * self._problem.task_count <= MOST_JUDGED
        return moves

    @property
    def made(self) -> tuple[tuple[int, Place, Place, bool], ...]:
        """The moves so far: task, from where, to where, and whether it is only parked there."""
        return tuple(self._made)

    def placement(self) -> Placement:
        """Return the state as a placement."""
        return Placement(tuple(self._nodes), tuple(self._workers))

    def broken_by(self, move: KindMove) -> tuple[Violation, ...]:
        """Return the rules that a move would break now."""
        node, label = move.target
        if node == UNPLACED:
            return ()
        counts = Counter(self._held.get(node, Counter()))
        if move.source[0] == node:
            counts[move.kind, move.source[1]] -= 1
        counts[move.kind, label] += 1
        return self._rules.broken(node, +counts)

    def blocked(self, move: KindMove) -> Blocked:
        """Return a move that would break a rule now, with that rule."""
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
        """Undo the last move."""
        task, source, target, _ = self._made.pop()
        self._nodes[task], self._workers[task] = source
        put(self._held, move.kind, target, -1)
        put(self._held, move.kind, source, 1)

    def task_at(self, kind: int, place: Place) -> int:
        """Return the first task of a kind at a place."""
        rows = zip(self._kinds, self._nodes, self._workers, strict=True)
        return next(task for task, row in enumerate(rows) if row == (kind, *place))

    def by_cost(self, moves: list[KindMove]) -> list[KindMove]:
        """Return moves, those of tasks that run nowhere and those to cheaper states first."""
        if not self._saves_first:
            return moves
        costs = []
        for move in moves[:MOST_COMPARED]:
            self.make(move)
            costs.append(judge(self._rest, self.placement()).scaled)
            self.undo(move)
        runs = [move.source != NOWHERE for move in moves]
        order = sorted(range(len(costs)), key=lambda index: (runs[index], costs[index]))
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


# Which hard rules a state between two placements breaks, node by node.
#
# By the judge: each node is judged with its tasks and nothing else placed. Rules that the current
# placement breaks are tolerated as long as they are not broken worse.

_OF_WHOLE = ("placed", "max_moved")
"""Rules that do not concern a single node."""

Contents = dict[int, Counter[tuple[int, int]]]
"""Node -> tasks of each (kind, label of the worker) on it."""


class RulesBetween:
    """Judges nodes; each set of tasks on a node is judged once.

    Parameters
    ----------
    problem
        What is placed, without `running`.
    kinds
        Kind of each task.
    start
        What runs now.
    """

    def __init__(self, problem: Problem, kinds: list[int], start: Placement) -> None:
        self._problem = problem
        self._tasks: dict[int, list[int]] = {}
        for task, kind in enumerate(kinds):
            self._tasks.setdefault(kind, []).append(task)
        self._known: dict[tuple[int, frozenset[object]], tuple[Violation, ...]] = {}
        self._tolerated: dict[tuple[str, str, str], Fraction] = {}
        for node, counts in contents(kinds, start).items():
            for violation in self._judged(node, counts):
                self._tolerated[violation.rule, violation.place, violation.subject] = (
                    violation.needed
                )

    def broken(self, node: int, counts: Mapping[tuple[int, int], int]) -> tuple[Violation, ...]:
        """Return the rules that a node breaks with these tasks but did not break before."""
        key = (node, frozenset(counts.items()))
        if key not in self._known:
            self._known[key] = tuple(
                violation
                for violation in self._judged(node, counts)
                if not self._is_tolerated(violation)
            )
        return self._known[key]

    def _is_tolerated(self, violation: Violation) -> bool:
        before = self._tolerated.get((violation.rule, violation.place, violation.subject))
        return before is not None and violation.needed <= before

    def _judged(self, node: int, counts: Mapping[tuple[int, int], int]) -> list[Violation]:
        nodes, workers = ([UNPLACED] * self._problem.task_count for _ in range(2))
        used: Counter[int] = Counter()
        for (kind, label), count in counts.items():
            for task in self._tasks[kind][used[kind] : used[kind] + count]:
                nodes[task], workers[task] = node, label
            used[kind] += count
        accounting = account(self._problem, Placement(tuple(nodes), tuple(workers)))
        broken = violations(self._problem, accounting, moved=0)
        return [one for one in broken if one.rule not in _OF_WHOLE]


def contents(kinds: list[int], placement: Placement) -> Contents:
    """Return what each node holds."""
    by_node: Contents = {}
    places = zip(placement.nodes, placement.workers, strict=True)
    for kind, (node, label) in zip(kinds, places, strict=True):
        if node != UNPLACED:
            by_node.setdefault(node, Counter())[kind, label] += 1
    return by_node


def put(by_node: Contents, kind: int, place: Place, count: int) -> None:
    """Add `count` tasks of a kind to a place; below 0, remove them."""
    if place == NOWHERE:
        return
    node, label = place
    counts = by_node.setdefault(node, Counter())
    counts[kind, label] += count
    if not counts[kind, label]:
        del counts[kind, label]


MOST_STATES = 20_000
"""Most states searched in each part."""


@dataclass(frozen=True, slots=True)
class StepByStep:
    """An order of moves.

    Parameters
    ----------
    moves
        Task, from where, to where, and whether it is parked there only: it moves on later.
    placement
        After all of them; as good as the requested one, equal tasks exchanged.
    blocked
        Moves without an order, each with the rule that it would break; empty = all are ordered.
    is_proven
        Whether it is proven that `blocked` have no order with the parking moves allowed, not even
        in between the moves of other parts.
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
        many to judge; otherwise the order of the instance decides.
    """
    state = StateBetween(problem, start, token, saves_first)
    all_parts = parts(state.moves_to(end))
    failed = _one_after_another(state, all_parts, parking)
    is_proven = all(search.is_complete for _, search in failed)
    if parking and failed and is_proven:
        bare = StateBetween(problem, start, token, saves_first=False)
        is_proven = _have_no_order(bare, [part for part, _ in failed], all_parts, parking)
    blocked = tuple(one for _, search in failed for one in search.blocked)
    return StepByStep(state.made, state.placement(), blocked, is_proven)


def _one_after_another(
    state: StateBetween, all_parts: list[Demand], parking: int
) -> list[tuple[Demand, _PartSearch]]:
    """Make the moves of the parts; return those without an order, each with its last search.

    With parking they are tried again after others have moved, which may leave a place to park; when
    the time is over meanwhile, what was ordered stays.
    """
    failed = [(part, search) for part in all_parts if (search := _failed(state, part, parking))]
    before = len(all_parts)
    while parking and 0 < len(failed) < before:
        before, waiting, failed = len(failed), failed, []
        for index, (part, _) in enumerate(waiting):
            try:
                search = _failed(state, part, parking)
            except CancelledError:
                return failed + waiting[index:]
            if search is not None:
                failed.append((part, search))
    return failed


def _failed(state: StateBetween, part: Demand, parking: int) -> _PartSearch | None:
    """Make the moves of a part; where no order is found, make none and return the last search."""
    for spare in range(parking + 1):
        search = _PartSearch(state, part, spare)
        if search.run():
            return None
    return search


def _have_no_order(
    state: StateBetween, blocked: list[Demand], all_parts: list[Demand], parking: int
) -> bool:
    """Return whether it is proven that these parts have no order, not even in between the others.

    They have none where all tasks that the others concern are gone, which leaves at least as much
    room to park as there is at any time while they move.
    """
    try:
        for part in blocked:
            gone = [
                KindMove(kind, source, NOWHERE)
                for other in all_parts
                for (kind, source), count in other.leave.items()
                for _ in range(count)
                if other is not part and source != NOWHERE
            ]
            for move in gone:
                state.make(move)
            search = _PartSearch(state, part, parking)
            if search.run() or not search.is_complete:
                return False
            for move in reversed(gone):
                state.undo(move)
    except CancelledError:
        return False
    return True


class _PartSearch:
    """The search for an order of one part of the moves, depth first."""

    def __init__(self, state: StateBetween, moves: Demand, parking: int) -> None:
        self._state, self._parking = state, parking
        self._left = Demand(Counter(moves.leave), Counter(moves.come))
        self._seen: set[object] = set()
        self._went_back = False
        self._fewest_left = moves.come.total() + 1
        self.blocked: list[Blocked] = []
        self.is_complete = True

    def run(self) -> bool:
        """Make all moves; return ``False`` where no order is found; then none of them is made."""
        path: list[KindMove] = []
        has_order = False
        try:
            has_order = self._extend(path)
        finally:
            while path and not has_order:
                self._undo(path.pop())
        return has_order

    def _extend(self, path: list[KindMove]) -> bool:
        """Make all moves, which `path` then has; return ``False`` where no order is found."""
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
                return False
        return True

    def _is_new(self) -> bool:
        left = self._left
        key = (frozenset(left.leave.items()), frozenset(left.come.items()), self._parking)
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _options(self) -> list[KindMove]:
        """Return the moves that break no rule now; parking moves last."""
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

    def _count(self, move: KindMove, change: int) -> None:
        leave, come = self._left.leave, self._left.come
        leave[move.kind, move.source] -= change
        if move.is_parking:
            leave[move.kind, move.target] += change
            self._parking -= change
        else:
            come[move.kind, move.target] -= change
        for counter in (leave, come):
            for key in [key for key, count in counter.items() if not count]:
                del counter[key]
