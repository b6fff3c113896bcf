"""What a search over splits and configurations works on, and what it knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.residual_search import Configuration
from slotwise.solver.core.not_taken import NotTakenError

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

    `on_bound` is called with each lower bound. `by_solver` says whether it rests on CP-SAT's word.
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
