"""The places of one level, nodes or workers, with what their prices prove."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem import IntArray
from slotwise.solver.piece_graph import PieceGraph
from slotwise.solver.piece_prices import Prices, find_prices
from slotwise.solver.piece_profile import Profile, make_profile


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
