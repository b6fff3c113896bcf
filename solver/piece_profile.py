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

from slotwise.models.problem import IntArray
from slotwise.solver.piece_graph import PieceGraph
from slotwise.solver.piece_kernels import IMPOSSIBLE
from slotwise.solver.piece_prices import Prices
from slotwise.solver.piece_tables import make_tables, worths_by_units
from slotwise.solver.stopping import check_stop

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
    from slotwise.solver.piece_compiled import add_up

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
