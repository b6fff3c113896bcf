"""The search of the engine ``exhaustive``: branch and bound over all placements up to symmetry.

Depth first over the tasks, class by class, each to a place (node, worker label). A branch ends
where a hard rule breaks (adding tasks never mends a rule) or where the terms so far are not
lexicographically below the incumbent's (every part only grows as tasks are added, so a partial
vector is a lower bound of all its completions).

Symmetry. Three kinds of change turn a placement into one that keeps the same rules at the same
cost in every term:

- swap two tasks of one class (same demand, flows, costs, home);
- on one node, swap two *plain* worker labels, that is labels which are nobody's home there
  (labels matter to the part ``moved`` alone, and that compares them with homes only);
- swap the whole contents of two *twin* nodes: same rack, capacities, slots and linear costs,
  neither is anyone's home, and distances come by level, not from a matrix.

Write a placement as the sequence of places of the tasks in search order, and take, among all
placements these changes reach, the one whose sequence is lexicographically least (there is one:
places are pairs of non-negative integers). Then

1. inside a class the places do not fall, else swapping the two tasks gives a smaller sequence;
2. a plain label that its node's earlier tasks do not use is the smallest such label, else
   swapping it with the smallest leaves the earlier tasks alone and lowers this one;
3. a node that no earlier task uses has no unused twin of lower index, else swapping the two
   leaves the earlier tasks alone and lowers this one.

So the search offers only places that keep 1, 2 and 3 and still meets every placement up to those
changes; the three rules combine because one and the same sequence keeps them all. Topologies left
out whole are the same ones throughout. Racks are never swapped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from slotwise.models.cancellation import CancelledError
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.result import Limits
from slotwise.solver.exhaustive.box_rules import Place
from slotwise.solver.exhaustive.partial_placement import Books
from slotwise.solver.structure.node_types import equal_nodes

CLOCK_EVERY = 256
"""Places tried between two looks at the clock."""


class _OutOfTimeError(Exception):
    """The search met its limit."""


class Search:
    """One run: the books, the incumbent and the clock."""

    def __init__(self, best: Incumbent, limits: Limits) -> None:
        self.problem = problem = best.problem
        self.best = best
        self.books = Books(problem)
        self.tried = 0
        self._limits = limits
        self._homes = _home_labels(problem)
        self._twins_before = _twins_before(problem)
        self._order = [
            [c for c in rules.classes for _ in problem.classes[c].tasks] for rules in problem.rules
        ]

    def run(self, hint: Placement | None) -> bool:
        """Search; return whether the search came to its end."""
        try:
            if hint is not None:
                self._replay(hint)
            self._topology(0)
        except _OutOfTimeError:
            return False
        except CancelledError:
            self.best.interrupted = True
            return False
        return True

    def _topology(self, t: int) -> None:
        """Place or leave out topology `t` and all after it."""
        if t == len(self._order):
            self._record()
            return
        self._task(t, 0, (0, 0))
        if self.problem.may_reject and self._order[t]:
            before = self.books.reject(t)
            if before is not None:
                if self._promising():
                    self._topology(t + 1)
                self.books.parts = before

    def _task(self, t: int, k: int, least: Place) -> None:
        """Place tasks k, k+1, ... of topology `t`, task k not below place `least`."""
        order = self._order[t]
        if k == len(order):
            self._topology(t + 1)
            return
        for place in self._offers(t, least):
            self._tick()
            undo = self.books.put(order[k], place)
            if undo is None:
                continue
            if self._promising():
                same_class = k + 1 < len(order) and order[k + 1] == order[k]
                self._task(t, k + 1, place if same_class else (0, 0))
            self.books.take_back(undo)

    def _offers(self, t: int, least: Place) -> Iterator[Place]:
        """Yield the places worth trying, ascending, from `least` on."""
        nodes = self.books.nodes
        for n in range(least[0], len(nodes)):
            if not nodes[n].workers and any(not nodes[m].workers for m in self._twins_before[n]):
                continue
            for label in self._labels(n, t):
                if (n, label) >= least:
                    yield n, label

    def _labels(self, n: int, t: int) -> list[int]:
        """Return homes on node `n`, labels of topology `t` in use, and the first plain one free.

        Labels in use by other topologies are not a choice: a worker has one topology.
        """
        homes = self._homes[n]
        used = {label: box for (node, label), box in self.books.workers.items() if node == n}
        fresh = next(i for i in itertools.count() if i not in used and i not in homes)
        mine = {label for label, box in used.items() if box.topology == t}
        return sorted(mine | (homes - used.keys()) | {fresh})

    def _promising(self) -> bool:
        known = self.best.values
        return known is None or self.books.values() < known

    def _record(self) -> None:
        """Keep the complete placement of the books if it is better than the incumbent.

        With the books' own values: they are what the judge is compared with.
        """
        if self._promising():
            self.best.keep(self._placement(), self.books.values())

    def _placement(self) -> Placement:
        """Return the books' tasks as a placement; tasks of a class take its places in order."""
        nodes = [UNPLACED] * self.problem.task_count
        labels = [UNPLACED] * self.problem.task_count
        places: dict[int, list[Place]] = {}
        for c, place in self.books.placed:
            places.setdefault(c, []).append(place)
        for c, taken in places.items():
            for task, (n, label) in zip(self.problem.classes[c].tasks, taken, strict=True):
                nodes[task], labels[task] = n, label
        return Placement(tuple(nodes), tuple(labels))

    def _replay(self, hint: Placement) -> None:
        """Make the hint the incumbent if it is whole and keeps every rule."""
        undos = []
        before = self.books.parts
        valid = len(hint.nodes) == self.problem.task_count
        for t, rules in enumerate(self.problem.rules):
            tasks = [(c, task) for c in rules.classes for task in self.problem.classes[c].tasks]
            if not valid or not tasks:
                continue
            if self.problem.may_reject and all(hint.nodes[task] == UNPLACED for _, task in tasks):
                valid = self.books.reject(t) is not None
                continue
            for c, task in tasks:
                place = (hint.nodes[task], hint.workers[task])
                known = 0 <= place[0] < self.problem.node_count
                undo = self.books.put(c, place) if known else None
                if undo is None:
                    valid = False
                    break
                undos.append(undo)
        if valid:
            self._record()
        for undo in reversed(undos):
            self.books.take_back(undo)
        self.books.parts = before

    def _tick(self) -> None:
        """Count one place tried; stop at the limits."""
        work = self._limits.deterministic_work
        if work is not None and self.tried >= work:
            raise _OutOfTimeError
        look = self.tried % CLOCK_EVERY == 0
        if look:
            self.best.reporter.token.check()
        if look and self.best.seconds > self._limits.time_s:
            raise _OutOfTimeError
        self.tried += 1


def _home_labels(problem: Problem) -> list[set[int]]:
    """Return, per node, the worker labels that are some class's home."""
    homes: list[set[int]] = [set() for _ in range(problem.node_count)]
    for one in problem.classes:
        if one.home is not None:
            homes[one.home[0]].add(one.home[1])
    return homes


def _twins_before(problem: Problem) -> list[list[int]]:
    """Return, per node, the nodes of lower index that nothing tells apart from it."""
    twins: list[list[int]] = [[] for _ in range(problem.node_count)]
    for alike in equal_nodes(problem) if problem.matrix is None else ():
        for position, n in enumerate(alike):
            twins[n] = alike[:position]
    return twins
