"""A first placement at once where tasks run: keep them, place the orphans, repair only if needed.

Orphans come one by one, those that fit fewest nodes first, each where it costs least; one without
room goes first in the next round. Where that fails others make room: orphans that have a place,
then running tasks, as far as moves are allowed. The judge has the last word on all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, Problem
from slotwise.solver.exhaustive import Box, BoxRules, Place

# What stands where: a partial placement that keeps every hard rule, and what one more task costs.
#
# Rules of workers and nodes come from `BoxRules`. Flow between the newcomer and what stands is
# summed by worker, node and rack once per newcomer, so that its cost in each place is a few
# look-ups.


@dataclass(frozen=True, slots=True)
class Fit:
    """A place with room for one more task; `worker` and `node` as they are with it."""

    place: Place
    worker: Box
    node: Box


class Flows:
    """Flow between classes, by class, both directions apart."""

    def __init__(self, problem: Problem) -> None:
        self.out: dict[int, list[tuple[int, int]]] = {}
        self.into: dict[int, list[tuple[int, int]]] = {}
        for flow in problem.flows:
            self.out.setdefault(flow.source, []).append((flow.target, flow.weight))
            self.into.setdefault(flow.target, []).append((flow.source, flow.weight))


@dataclass(slots=True)
class Attraction:
    """Network cost of one more task of a class in any place, against all that stands."""

    problem: Problem
    total: int = 0
    by_worker: Counter[Place] = field(default_factory=Counter)
    by_node: Counter[int] = field(default_factory=Counter)
    by_rack: Counter[int] = field(default_factory=Counter)
    sent: Counter[int] = field(default_factory=Counter)
    """Node -> flow to it from the newcomer; only where distances come as a matrix."""
    got: Counter[int] = field(default_factory=Counter)

    def add(self, there: Place, flow: int, *, is_sent: bool) -> None:
        """Add flow between the newcomer and tasks in a place."""
        node = there[0]
        if self.problem.matrix is not None:
            (self.sent if is_sent else self.got)[node] += flow
            return
        self.total += flow
        self.by_worker[there] += flow
        self.by_node[node] += flow
        self.by_rack[int(self.problem.node_rack[node])] += flow

    def cost(self, place: Place) -> int:
        """Return the cost in a place."""
        node, matrix = place[0], self.problem.matrix
        if matrix is not None:
            sent = sum(flow * int(matrix[node, there]) for there, flow in self.sent.items())
            return sent + sum(flow * int(matrix[there, node]) for there, flow in self.got.items())
        far = self.problem.distance.tolist()
        return int(
            far[CLUSTER] * self.total
            - (far[CLUSTER] - far[RACK]) * self.by_rack[int(self.problem.node_rack[node])]
            - (far[RACK] - far[NODE]) * self.by_node[node]
            - (far[NODE] - far[WORKER]) * self.by_worker[place]
        )


class Standing:
    """Tasks and their places, all hard rules kept save the limit of moves.

    Attributes
    ----------
    nodes, workers
        One box per node, and one per worker in use.
    at
        Place of each task that stands.
    tried
        How often it was asked whether a task fits a place: the work so far.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._rules, self._flows = BoxRules(problem), Flows(problem)
        self._class_of: list[int] = problem.task_class.tolist()
        empty = Box(-1, (), (0,) * len(problem.dims), 0, frozenset(), 0)
        self.nodes = [empty] * problem.node_count
        self.workers: dict[Place, Box] = {}
        self._on: list[dict[int, Place]] = [{} for _ in range(problem.node_count)]
        self.at: dict[int, Place] = {}
        self._held: dict[int, Counter[Place]] = {}
        self.tried = 0

    def fit(self, c: int, place: Place) -> Fit | None:
        """Return how a task of class `c` fits a place; ``None`` where a rule forbids it."""
        self.tried += 1
        before = self.workers.get(place)
        worker = self._rules.joined(before, c)
        if worker is None or not self._rules.worker_keeps_rules(worker):
            return None
        node = self._rules.loaded(self.nodes[place[0]], before, worker, c)
        if not self._rules.node_keeps_rules(place[0], node, c):
            return None
        return Fit(place, worker, node)

    def fits(self, c: int) -> Iterator[Fit]:
        """Yield each worker of its topology that takes a task, and a fresh one on each node."""
        for node in range(self.problem.node_count):
            yield from self.fits_on(c, node)

    def fits_on(self, c: int, node: int) -> Iterator[Fit]:
        """Yield the same on one node."""
        labels = {label for _, label in self._on[node].values()}
        fresh = next(label for label in range(len(labels) + 1) if label not in labels)
        topology = self.problem.classes[c].topology
        for label in sorted(labels | {fresh}):
            worker = self.workers.get((node, label))
            if worker is None or worker.topology == topology:
                found = self.fit(c, (node, label))
                if found is not None:
                    yield found

    def put(self, task: int, fit: Fit) -> None:
        """Add a task where it fits."""
        place = fit.place
        self.workers[place], self.nodes[place[0]] = fit.worker, fit.node
        self.at[task] = self._on[place[0]][task] = place
        self._held.setdefault(self._class_of[task], Counter())[place] += 1

    def take(self, task: int) -> None:
        """Take a task away: its node is booked again without it."""
        node = self.at[task][0]
        left = [(one, place) for one, place in self._on[node].items() if one != task]
        for one in self._on[node]:
            self._held[self._class_of[one]][self.at.pop(one)] -= 1
        self.workers = {place: box for place, box in self.workers.items() if place[0] != node}
        empty = Box(-1, (), (0,) * len(self.problem.dims), 0, frozenset(), 0)
        self.nodes[node], self._on[node] = empty, {}
        for one, place in left:
            found = self.fit(self._class_of[one], place)
            assert found is not None, "less than stood there before"
            self.put(one, found)

    def on(self, node: int) -> tuple[int, ...]:
        """Return the tasks on a node."""
        return tuple(self._on[node])

    def copy(self) -> Standing:
        """Return an independent copy; `tried` begins with what was tried here."""
        other = object.__new__(Standing)
        other.problem, other._rules, other._flows = self.problem, self._rules, self._flows
        other._class_of = self._class_of
        other.nodes, other.workers = list(self.nodes), dict(self.workers)
        other._on = [dict(one) for one in self._on]
        other.at = dict(self.at)
        other._held = {c: Counter(held) for c, held in self._held.items()}
        other.tried = self.tried
        return other

    def attraction(self, c: int) -> Attraction:
        """Return what one more task of class `c` pays to what stands, by place."""
        found = Attraction(self.problem)
        for adjacent, is_sent in ((self._flows.out, True), (self._flows.into, False)):
            for other, weight in adjacent.get(c, ()):
                for place, count in self._held.get(other, {}).items():
                    if count:
                        found.add(place, weight * count, is_sent=is_sent)
        return found

    def added(self, c: int, fit: Fit, attraction: Attraction) -> tuple[int, ...]:
        """Return what one more task adds to each term."""
        problem, node = self.problem, fit.place[0]
        before, home = self.nodes[node], problem.classes[c].home
        parts = {
            "overload": self.overload(node, fit.node) - self.overload(node, before),
            "network": attraction.cost(fit.place),
            "rejected": 0,
            "nodes": int(not before.workers),
            "workers": fit.node.workers - before.workers,
            "moved": int(home is not None and home != fit.place),
            "linear": 0 if problem.linear is None else int(problem.linear[c, node]),
            "bottleneck": 0,  # one task says little of the highest utilisation
        }
        return tuple(sum(m * parts[part] for part, m in term.parts) for term in problem.terms)

    def overload(self, node: int, box: Box) -> int:
        """Return the weighted load of a node above its soft capacities."""
        return self._rules.overload(node, box)

    def placement(self) -> Placement:
        """Return it as a placement."""
        nowhere = (UNPLACED, UNPLACED)
        places = [self.at.get(task, nowhere) for task in range(self.problem.task_count)]
        return Placement(tuple(n for n, _ in places), tuple(w for _, w in places))


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
