"""Closing the gap: an exact search among the configurations that a good solution can use.

With duals, every configuration has a reduced cost >= 0 and the value of an integer solution is the
dual bound minus its reduced costs. So a solution worth at least some value uses only configurations
whose reduced cost fits the gap between that value and the bound (reduced-cost fixing).
`min_reduced_cost` searches the residual vector from x down to 0 in order of accumulated reduced
cost (Dijkstra; the next configuration must contain the first kind that is left, which excludes no
solution: the nodes of a type are exchangeable). Exhausted within the gap: no such solution exists.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.rack_splits import DualBound
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError

CHECK_EVERY = 256

Configuration = tuple[int, tuple[int, ...]]
"""(type index within the site, counts of the kinds) of one node."""


class TooLongError(Exception):
    """The search passed its limit of states or of time; it proves nothing."""


@dataclass(frozen=True, slots=True)
class SiteSolution:
    """Configurations of a site's nodes that add up to x, and their total reduced cost, scaled."""

    reduced_cost: int
    configurations: tuple[Configuration, ...]


State = tuple[tuple[int, ...], tuple[int, ...]]
"""What is left of x, and the nodes left of each type; all of them where they cannot run out."""


def min_reduced_cost(
    columns: Sequence[TypeColumns],
    nodes: Sequence[int],
    dual_bound: DualBound,
    x: IntArray,
    gap: int,
    go_on: Callable[[int], bool],
    token: RunToken,
) -> SiteSolution | None:
    """Return the solution for x of least reduced cost; ``None`` if that exceeds `gap`.

    Parameters
    ----------
    columns, nodes
        Configurations and number of nodes of each type of the site.
    dual_bound
        Of the site, at any duals.
    x
        [K] tasks of each kind to place.
    gap
        Largest total reduced cost of interest, on the grid of the dual bound.
    go_on
        Called now and then with the number of states seen; false stops the search.
    token
        Checked with every state, and asked for room.

    Raises
    ------
    TooLongError
        When `go_on` returned false.
    """
    search = _Residuals(columns, nodes, dual_bound, x, gap, token)
    while search.queue:
        reduced_cost, state = heapq.heappop(search.queue)
        if not any(state[0]):
            return SiteSolution(reduced_cost, search.configurations(state))
        if reduced_cost > search.best[state]:
            continue  # reached on a cheaper way since it was queued
        search.seen += 1
        if search.seen % CHECK_EVERY == 0 and not go_on(search.seen):
            raise TooLongError
        search.expand(reduced_cost, state)
    return None


def reduced_cost_of(
    columns: Sequence[TypeColumns],
    nodes: Sequence[int],
    dual_bound: DualBound,
    x: IntArray,
    configurations: Sequence[Configuration],
) -> int | None:
    """Return the reduced cost of a solution for x; ``None`` where it uses none of these columns."""
    left, placed = list(nodes), np.zeros_like(x)
    reduced_cost = 0
    for t, counts in configurations:
        rows = np.flatnonzero((columns[t].counts == counts).all(axis=1))
        if not len(rows):
            return None
        placed += counts
        left[t] -= 1
        reduced_cost += int(dual_bound.reduced_costs(t, columns[t])[rows[0]])
    idle = _idle(_idle_reduced_costs(columns, dual_bound), left)
    return None if idle is None or min(left) < 0 or (placed != x).any() else reduced_cost + idle


class _Residuals:
    """The states reached so far, and the queue of those to look at."""

    def __init__(
        self,
        columns: Sequence[TypeColumns],
        nodes: Sequence[int],
        dual_bound: DualBound,
        x: IntArray,
        gap: int,
        token: RunToken,
    ) -> None:
        self._token = token
        self._moves = _moves(columns, dual_bound, x, gap, token)
        self._idle = _idle_reduced_costs(columns, dual_bound)
        tasks = int(x.sum())
        self._ample = [
            idle == 0 and count >= tasks for idle, count in zip(self._idle, nodes, strict=True)
        ]
        self._gap = gap
        self._start: State = (tuple(x.tolist()), tuple(nodes))
        self._came: dict[State, tuple[State, Configuration]] = {}
        self.best: dict[State, int] = {self._start: 0}
        self.queue: list[tuple[int, State]] = []
        self.seen = 0
        first_cost = 0 if x.any() else _idle(self._idle, self._start[1])
        if first_cost is not None and first_cost <= gap:
            self.queue.append((first_cost, self._start))

    def expand(self, reduced_cost: int, state: State) -> None:
        """Fill one more node in every way that holds the first kind left."""
        residual, left = state
        first = next(k for k, count in enumerate(residual) if count)
        row = np.array(residual, dtype=np.int64)
        for t, count in enumerate(left):
            if not count:
                continue
            counts, reduced_costs = self._moves[t][first]
            within = np.searchsorted(reduced_costs, self._gap - reduced_cost, side="right")
            rest = left if self._ample[t] else (*left[:t], count - 1, *left[t + 1 :])
            for y in np.flatnonzero((counts[:within] <= row).all(axis=1)).tolist():
                after: State = (tuple((row - counts[y]).tolist()), rest)
                self._reach(
                    after,
                    reduced_cost + int(reduced_costs[y]),
                    state,
                    (t, tuple(counts[y].tolist())),
                )

    def _reach(
        self, state: State, reduced_cost: int, before: State, configuration: Configuration
    ) -> None:
        idle = 0 if any(state[0]) else _idle(self._idle, state[1])
        if idle is None:
            return  # a node that must not stay empty would
        total = reduced_cost + idle
        if total <= self._gap and total < self.best.get(state, self._gap + 1):
            self._token.check()
            self.best[state] = total
            self._came[state] = (before, configuration)
            heapq.heappush(self.queue, (total, state))

    def configurations(self, state: State) -> tuple[Configuration, ...]:
        """Return the configurations of the nodes filled on the way to a state."""
        configurations = []
        while state != self._start:
            state, configuration = self._came[state]
            configurations.append(configuration)
        return tuple(configurations)


def _idle_reduced_costs(columns: Sequence[TypeColumns], dual_bound: DualBound) -> list[int | None]:
    """Return the reduced cost of an empty node of each type; ``None`` = must not be empty."""
    rows = [column.empty for column in columns]
    return [
        None if row is None else int(dual_bound.reduced_costs(t, columns[t])[row])
        for t, row in enumerate(rows)
    ]


def _idle(reduced_costs: Sequence[int | None], nodes: Sequence[int]) -> int | None:
    """Return the reduced cost of leaving these nodes empty; ``None`` if one of them must not be."""
    total = 0
    for reduced_cost, count in zip(reduced_costs, nodes, strict=True):
        if count and reduced_cost is None:
            return None
        total += count * (reduced_cost or 0)
    return total


def _moves(
    columns: Sequence[TypeColumns], dual_bound: DualBound, x: IntArray, gap: int, token: RunToken
) -> list[list[tuple[IntArray, IntArray]]]:
    """Return, per type and kind k, those with k that fit x and the gap, by reduced cost."""
    moves = []
    for t, column in enumerate(columns):
        reduced_costs = dual_bound.reduced_costs(t, column)
        fitting = np.flatnonzero((reduced_costs <= gap) & (column.counts <= x).all(axis=1))
        fitting = fitting[np.argsort(reduced_costs[fitting], kind="stable")]
        entries = int(np.count_nonzero(column.counts[fitting]))
        size = 8 * (len(fitting) + entries) * len(x)
        token.check_room(size, f"moves by {len(fitting):,} configurations")
        counts, reduced_costs = column.counts[fitting], reduced_costs[fitting]
        moves.append(
            [(counts[counts[:, k] > 0], reduced_costs[counts[:, k] > 0]) for k in range(len(x))]
        )
    return moves


# What a search over splits and configurations works on, and what it knows.

SCALE_BITS = 20
EXACT_BITS = 52


@dataclass(frozen=True, slots=True, eq=False)
class SiteColumns:
    """Configurations and number of nodes of each type of a site."""

    columns: tuple[TypeColumns, ...]
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MasterSolution:
    """A solution of the master: its value and the configurations of each site's nodes."""

    value: int
    configurations: tuple[tuple[Configuration, ...], ...]


@dataclass(slots=True)
class SearchState:
    """What the search knows: the incumbent, and a bound no solution exceeds (``None``: none yet).

    `on_bound` is called with each lower bound. `by_solver` says whether it relies on CP-SAT.
    """

    best: MasterSolution | None = None
    bound: int | None = None
    finished: bool = False
    by_solver: bool = False
    on_bound: Callable[[int], None] = lambda bound: None

    def lower(self, bound: int | None) -> None:
        """Note a bound and tell of it where it is lower."""
        if bound is not None and (self.bound is None or bound < self.bound):
            self.on_bound(bound)
        self.bound = bound


def exact_scale(sites: Sequence[SiteColumns], total: IntArray) -> int:
    """Return the grid of duals on which every sum of a dual bound stays exact in doubles.

    Raises
    ------
    NotTakenError
        When there is none.
    """
    largest = sum(int(np.abs(c.values).max()) for site in sites for c in site.columns)
    nodes = sum(sum(site.nodes) for site in sites)
    most = (2 * largest + 1) * (int(total.sum()) + nodes + 1)
    if most.bit_length() > EXACT_BITS:
        raise NotTakenError("its costs are too large for exact duals")
    return 1 << min(SCALE_BITS, EXACT_BITS - most.bit_length())
