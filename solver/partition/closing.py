"""Closing the gap: a search among all parts whose reduced cost fits it, wider and wider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.rack_splits import all_in_one
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.search_state import MasterSolution, SearchState, SiteColumns
from slotwise.solver.column_generation.split_search import SplitSearch
from slotwise.solver.core.result import Limits
from slotwise.solver.partition.frontier import Frontier
from slotwise.solver.partition.model import Partition
from slotwise.solver.partition.params import PartitionParams
from slotwise.solver.partition.pricing import PartDuals

GROWTH = 4
"""Of the gap, from one search to the next."""


@dataclass(slots=True, eq=False)
class Closing:
    """The search; `best` and `bound` can be read whenever it stops.

    Parameters
    ----------
    best, bound
        Flow inside of the incumbent (-1 = none), and what no solution holds more of. Where `bound`
        falls below 0 there is no solution.
    by_solver
        Whether `bound` rests on CP-SAT's word.
    on_best
        Called with the parts [K] of each better solution.
    """

    model: Partition
    frontier: Frontier
    params: PartitionParams
    limits: Limits
    on_best: Callable[[list[IntArray]], None]
    bound: int
    best: int = -1
    by_solver: bool = False

    def among(self, parts: IntArray) -> None:
        """Look for a better solution among these parts [Y, K]; proves nothing."""
        try:
            self._solve(parts, self.best + 1)
        except TooLongError:
            return

    def run(self, duals: PartDuals) -> None:
        """Search until incumbent and bound meet.

        Raises
        ------
        TooLongError
            When the search grows too large; `bound` is what is proven.
        """
        step = 1
        while self.best < self.bound:
            self.frontier.token.check()
            least = max(self.best + 1, self.bound + 1 - step)
            state = self._solve(self._parts(duals, least), least)
            self.by_solver |= state.by_solver
            self.bound = least - 1 if state.best is None else max(least - 1, state.best.value)
            step *= GROWTH

    def _parts(self, duals: PartDuals, least: int) -> IntArray:
        """Return [Y, K] the parts that a solution with so much flow inside can have."""
        gap = duals.total(self.model) - least * duals.scale
        parts = self.frontier.parts_within(
            duals.tables, duals.scale, duals.pi, duals.sigma - gap, self.params.max_parts
        )
        parts = parts[self.model.admits(parts)]
        if not self.model.ample:
            return parts
        return parts[are_connected(self.model.kinds.flow, parts, self.frontier.token)]

    def _solve(self, parts: IntArray, least: int) -> SearchState:
        """Return the best solution made of these parts that holds `least` or more, if any."""
        kinds = self.model.kinds
        counts = np.concatenate([np.zeros((1, kinds.count), dtype=np.int64), parts])
        column = TypeColumns(counts, np.asarray(kinds.pairs(counts)))
        places = self.model.problem.task_count if self.model.ample else self.model.parts
        state = SearchState(best=MasterSolution(least - 1, ()))
        SplitSearch(
            (SiteColumns((column,), (places,)),),
            all_in_one(kinds.sizes),
            kinds.sizes,
            np.zeros(1, dtype=np.int64),
            self.frontier.token.deadline,
            state,
            self._take,
            self.limits,
            self.params.residual,
            self.frontier.token,
        ).run()
        return state

    def _take(self, found: MasterSolution) -> None:
        if found.value > self.best:
            self.best = found.value
            self.on_best([np.array(counts) for _, counts in found.configurations[0]])


def are_connected(flow: IntArray, parts: IntArray, token: CancellationToken) -> BoolArray:
    """Return [Y]: whether flows [K, K] connect the kinds present in each part [Y, K].

    Tasks of one kind have no flow to each other: several of them alone are not connected.
    """
    present = parts > 0
    near = (flow > 0).astype(np.float32)
    reached = np.zeros_like(present)
    reached[np.arange(len(parts)), present.argmax(axis=1)] = True
    while True:
        token.check()
        wider = present & (reached | ((reached.astype(np.float32) @ near) > 0))
        if (wider == reached).all():
            break
        reached = wider
    alone = (present.sum(axis=1) == 1) & (parts.sum(axis=1) > 1)
    return np.asarray((reached == present).all(axis=1) & ~alone)
