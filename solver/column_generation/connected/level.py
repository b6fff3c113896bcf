"""What pieces lose by the units they take, and what all of them lose together at least.

Prices alone let a plan use 5.09 full nodes. But the units that pieces take add up to those of all
tasks: either one piece is small, which loses nearly all that its tasks cost, or several are not
full. The least loss of a piece of exactly h units, added up to the units of all tasks in the
cheapest way, is what every plan loses.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.graph import PieceGraph
from slotwise.solver.column_generation.connected.kernels import IMPOSSIBLE
from slotwise.solver.column_generation.connected.pricing import Prices, find_prices
from slotwise.solver.column_generation.connected.tree_knapsack import make_tables, worths_by_units
from slotwise.solver.core.ctrl_c import check_stop

MOST_STEPS = 3_000_000_000
"""Steps of the tables: some seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The least losses against prices, on their grid.

    Parameters
    ----------
    weights, capacity
        [K] units of a task; those of a place.
    least
        [W + 1] least loss of pieces that take so many units together; W = units of all tasks.
    """

    weights: IntArray
    capacity: int
    least: IntArray

    @property
    def lost(self) -> int:
        """What every plan of all tasks loses."""
        return int(self.least[-1])

    @property
    def lost_beside(self) -> int:
        """What the others lose at least, whatever the piece."""
        return int(self.least[-1 - self.capacity :].min())

    def beside(self, counts: IntArray) -> IntArray:
        """Return [Y] what all other pieces lose at least where one holds counts [Y, K]."""
        return np.asarray(self.least[len(self.least) - 1 - counts @ self.weights])


def make_profile(graph: PieceGraph, prices: Prices, deadline: float = math.inf) -> Profile:
    """Return the profile of proven prices; of zeros where its tables take too long."""
    units = int(graph.weights @ graph.sizes)
    least = np.zeros(units + 1, dtype=np.int64)
    profile = Profile(graph.weights, min(graph.capacity, units), least)
    cases = sum(1 for _ in graph.cases())
    if cases * _steps(graph) + units * graph.capacity > MOST_STEPS:
        return profile
    from slotwise.solver.column_generation.connected.compiled import add_up

    losses = np.full(graph.capacity + 1, -IMPOSSIBLE, dtype=np.int64)
    for case in graph.cases():
        check_stop()
        if time.perf_counter() > deadline:
            return profile
        tables = make_tables(graph, prices.scale, prices.prices, case, exactly=True)
        used = int(case @ graph.weights)
        worths = worths_by_units(tables)
        losses[used:] = np.minimum(losses[used:], np.maximum(-worths, 0))
        del tables  # before the next are made
    add_up(np.minimum(losses, -IMPOSSIBLE // 2), least)
    return profile


def _steps(graph: PieceGraph) -> int:
    """Return the steps that combining the subtrees of a case takes at most."""
    children = sum((int(graph.most[k]) + 1) * len(graph.children[k]) for k in graph.order)
    roots = sum(graph.parent[k] < 0 for k in graph.order)
    return (children + roots) * graph.capacity**2 // 2


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The places of one level, their proven prices, and the profile of these."""

    graph: PieceGraph
    prices: Prices
    profile: Profile

    @property
    def most(self) -> int:
        """The most flow that the places can hold inside."""
        return (self.prices.total(self.graph.sizes) - self.profile.lost) // self.prices.scale

    def losses(self, counts: IntArray, inside: IntArray) -> IntArray:
        """Return [Y] what plans lose with pieces [Y, K] that hold so much flow inside."""
        own = counts @ self.prices.prices - self.prices.scale * inside
        return np.asarray(own + self.profile.beside(counts))


def make_level(graph: PieceGraph, scale: int, deadline: float) -> Level:
    """Find the prices of a graph until the deadline, and their profile."""
    prices = find_prices(graph, scale, deadline)
    return Level(graph, prices, make_profile(graph, prices, deadline))
