"""Branch and price: fewest slots, proven by branching on how many slots hold a bundle.

A node is a set of `CountRow`; its bound is that of its LP (`master`), rounded up. Branching picks a
task and a least option whose number of slots is fractional in the LP and asks for at most the
number below, or at least the number above. At the root each task holds at least
ceil(rate / best rate) slots, which every packing does. A node whose LP is fractional although all
these numbers are whole cannot be branched: it stays open, and so does the bound.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from slotwise.models.cancellation import CancellationToken
from slotwise.solver.slots.contents import Contents, CountRow, SlotType
from slotwise.solver.slots.master import Master, Relaxed
from slotwise.solver.slots.packing import NO_LIMIT, Packing, pack, with_rates
from slotwise.solver.slots.problem import SlotProblem

PACK_S = 1.0
"""Most seconds of one search for a packing into known types."""
PACK_EACH = 10
"""Nodes from one such search to the next."""
FRACTION = 1e-6


@dataclass(frozen=True, slots=True)
class Packed:
    """The best packing found, ``None`` if none was, and the proven lower bound in slots."""

    packing: Packing | None
    bound: int
    nodes: int

    @property
    def optimal(self) -> bool:
        """Whether the packing needs no more slots than the bound."""
        return self.packing is not None and self.packing.slots == self.bound


def fewest(
    problem: SlotProblem, master: Master, *, token: CancellationToken, at_most: int | None = None
) -> Packed:
    """Pack `problem`, which has the options of `master`, into as few slots as possible.

    Parameters
    ----------
    token
        Ends the search.
    at_most
        End as soon as it is known whether these slots suffice; ``None`` = find the fewest.
    """
    return _Tree(problem, master, token, at_most).run()


@dataclass(slots=True)
class _Tree:
    problem: SlotProblem
    master: Master
    token: CancellationToken
    at_most: int | None
    best: Packing | None = None
    bound: int = 0
    nodes: int = 0
    heap: list[tuple[int, int, tuple[CountRow, ...]]] = field(default_factory=list)
    stuck: list[int] = field(default_factory=list)
    packed: int = 0
    """Columns known at the last search for a packing."""

    def run(self) -> Packed:
        rows = tuple(
            CountRow(i, 0, True, math.ceil(task.rate / max(one.peak for one in task.options)))
            for i, task in enumerate(self.problem.tasks)
        )
        entries = count()
        self.heap = [(max((row.count for row in rows), default=0), next(entries), rows)]
        while self.heap:
            self._update()
            if self._ends():
                break
            _, _, node = heapq.heappop(self.heap)
            self.nodes += 1
            relaxed = self.master.solve(self.problem, node, token=self.token, enough=self._enough())
            least = max(math.ceil(relaxed.bound), self.bound)
            children = self._children(node, relaxed) if relaxed.done else []
            if self.nodes % PACK_EACH == 1 or not children:
                self._pack(relaxed)
            if not children:
                self.stuck.append(least)
            for child in children:
                heapq.heappush(self.heap, (least, next(entries), child))
        self._update()
        return Packed(self.best, self.bound, self.nodes)

    def _ends(self) -> bool:
        done = self.best is not None and self.best.slots <= max(self.bound, self.at_most or 0)
        beyond = self.at_most is not None and self.bound > self.at_most
        stuck = bool(self.stuck) and min(self.stuck) <= self.bound
        late = self.nodes > 0 and self.token.is_cancelled
        return done or beyond or stuck or late

    def _enough(self) -> int | None:
        """Return the bound from which on a node is of no interest."""
        ends = [] if self.best is None else [self.best.slots]
        ends += [] if self.at_most is None else [self.at_most + 1]
        return min(ends, default=None)

    def _update(self) -> None:
        """Set the lower bound: the least of all nodes that are left, and of the best packing."""
        left = [*self.stuck, *(entry[0] for entry in self.heap[:1])]
        if self.best is not None:
            left.append(self.best.slots)
        self.bound = max(self.bound, min(left, default=0))

    def _pack(self, relaxed: Relaxed) -> None:
        """Round the LP up, then search for better among the known types, if there are new ones."""
        if self.best is None:
            self.best = _rounded_up(self.problem, relaxed)
        if len(self.master.columns) > self.packed:
            self.packed = len(self.master.columns)
            found = pack(
                self.problem,
                self._types(),
                token=self.token.child(time.perf_counter() + PACK_S),
                least=max(self.bound, 1),
                most=NO_LIMIT if self.best is None else self.best.slots - 1,
            )
            self.best = found or self.best

    def _types(self) -> list[SlotType]:
        return [one.options for one in self.master.columns]

    def _children(self, node: tuple[CountRow, ...], relaxed: Relaxed) -> list[tuple[CountRow, ...]]:
        """Return the two children of a node; none where no number of slots is fractional."""
        enough = self._enough()
        if enough is not None and relaxed.bound > enough - 1:
            return []
        split = _most_fractional(relaxed.used)
        if split is None:
            return []
        task, least, slots = split
        return [
            (*node, CountRow(task, least, False, math.floor(slots))),
            (*node, CountRow(task, least, True, math.ceil(slots))),
        ]


def _rounded_up(problem: SlotProblem, relaxed: Relaxed) -> Packing | None:
    counts: Counter[SlotType] = Counter()
    for contents, slots in relaxed.used:
        counts[contents.options] += math.ceil(slots - FRACTION)
    return with_rates(problem, {kind: slots for kind, slots in counts.items() if slots})


def _most_fractional(used: tuple[tuple[Contents, float], ...]) -> tuple[int, int, float] | None:
    """Return task, least option and their slots, the most fractional; ``None`` if all are whole."""
    found: list[tuple[float, int, int, float]] = []
    for task in range(len(used[0][0].options) if used else 0):
        for least in sorted({one.options[task] for one, _ in used if one.options[task] >= 0} | {0}):
            slots = sum(n for one, n in used if one.options[task] >= least)
            off = abs(slots - round(slots))
            if off > FRACTION:
                found.append((-off, least, task, slots))
    if not found:
        return None
    _, least, task, slots = min(found)
    return task, least, slots
