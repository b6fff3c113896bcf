"""Best-first search for the best split and the best contents of its nodes.

The split with the highest bound is looked at: first its own relaxation is solved, which bounds all
others too; then the contents worth exactly its bound are searched for. If there are none, its
bound falls by one and the next best is taken. The first plan found at the highest bound of all is
therefore optimal, and the highest bound is valid at any moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.rack_splits import Splits
from slotwise.solver.column_generation.residual_cp_sat import close_by_cp_sat
from slotwise.solver.column_generation.residual_search import (
    Plan,
    TooLongError,
    least_loss,
    loss_of,
)
from slotwise.solver.column_generation.restricted_master import Cut, Master
from slotwise.solver.column_generation.search_state import (
    Found,
    SearchState,
    SiteColumns,
    exact_scale,
)
from slotwise.solver.core.ctrl_c import check_stop
from slotwise.solver.core.result import Limits

MOST_STATES = 10_000
"""Residual vectors looked at before CP-SAT takes over."""

IMPOSSIBLE = -(2**60)
"""Value of a split that no nodes can hold."""


class PlanSearch:
    """The search over splits; `state` can be read whenever it stops."""

    def __init__(
        self,
        sites: Sequence[SiteColumns],
        first: IntArray,
        total: IntArray,
        bonus: IntArray,
        deadline: float,
        state: SearchState,
        on_best: Callable[[Found], None],
        limits: Limits,
    ) -> None:
        scale = exact_scale(sites, total)
        self._sites = tuple(sites)
        self._masters = [Master(site.columns, site.nodes, total, scale) for site in sites]
        self._scale = scale
        self._deadline = deadline
        self._on_best = on_best
        self._limits = limits
        self.splits = Splits(first, total, bonus, len(sites), scale)
        self.state = state

    def run(self) -> None:
        """Search until the best plan is proven, nothing is left, or the deadline passes.

        Raises
        ------
        TooLongError
            When the deadline passed or a search grew too large; `state` holds what is known.
        """
        while self._prune():
            check_stop()
            if time.perf_counter() > self._deadline:
                raise TooLongError
            values = self.splits.values()
            split = int(values.argmax())
            if not self.splits.is_solved(split):
                self._relax(split)
            elif not self._is_dive_due() or not self._dive(split):
                self._prove(split, int(values[split]))
        self.state.finished = True

    def _is_dive_due(self) -> bool:
        """Many splits are compared step by step, once there is an incumbent to beat."""
        return self.state.best is None or len(self._sites) == 1

    def _prune(self) -> bool:
        """Note the highest bound, drop hopeless splits, say if any is left."""
        values = self.splits.values()
        best = self.state.best
        hopeful = values > (IMPOSSIBLE if best is None else best.value)
        if not hopeful.all():
            self.splits.keep(hopeful)
            values = values[hopeful]
        if self.splits.cuts:
            highest = [int(values.max())] if len(values) else []
            self.state.lower(max([*highest, *([best.value] if best else [])], default=None))
        return bool(len(values))

    def _relax(self, split: int) -> None:
        """Solve the relaxation of a split in each site and cut all splits by it."""
        for site, master in enumerate(self._masters):
            self.splits.add(master.cut(self.splits.contents(split, site)), site)
        self.splits.mark_solved(split)

    def _dive(self, split: int) -> bool:
        """Look for the best plan of the split, allowing more and more loss.

        Returns whether that settled something: a plan, or the proof that none beats the incumbent.
        """
        contents, loss = [], 0
        for site in range(len(self._sites)):
            try:
                plan = self._any_plan(split, site)
            except TooLongError:
                return False
            if plan is None:
                self.splits.lower(split, IMPOSSIBLE)
                return True
            contents.append(plan.contents)
            loss += plan.loss
        found = Found(self.splits.worth(split, loss), tuple(contents))
        self.splits.lower(split, found.value)
        self._take(found)
        return True

    def _any_plan(self, split: int, site: int) -> Plan | None:
        """Return the plan of least loss, ``None`` if there is none that beats the incumbent."""
        cut = self.splits.cut_of(split, site)
        here = self._sites[site]
        most = sum(
            count * int(cut.losses(t, column).max())
            for t, (column, count) in enumerate(zip(here.columns, here.nodes, strict=True))
        )
        if len(self._sites) == 1 and self.state.best is not None:
            most = min(most, self.splits.slack(split, self.state.best.value + 1))
        budget = min(self._scale, most)
        while True:
            plan = self._least_loss(split, site, budget)
            if plan is not None or budget == most:
                return plan
            budget = min(4 * budget, most)

    def _prove(self, split: int, value: int) -> None:
        """Find a plan of the split worth `value`, or note that there is none."""
        slack = self.splits.slack(split, value)
        contents = []
        for site in range(len(self._sites)):
            plan = self._least_loss(split, site, slack)
            if plan is None:
                self.splits.lower(split, value - 1)
                return
            slack -= plan.loss
            contents.append(plan.contents)
        self._take(Found(value, tuple(contents)))

    def _least_loss(self, split: int, site: int, budget: int) -> Plan | None:
        """Search residual vectors; where they are too many, let CP-SAT close the gap."""
        here = self._sites[site]
        cut = self.splits.cut_of(split, site)
        x = self.splits.contents(split, site)
        try:
            return least_loss(here.columns, here.nodes, cut, x, budget, self._go_on)
        except TooLongError:
            left = replace(self._limits, time_s=self._deadline - time.perf_counter())
            closing = close_by_cp_sat(here.columns, here.nodes, cut, x, budget, left)
            self.state.by_solver = True
        if closing.plan is None and closing.proven:
            self._check_incumbent(site, cut, x, budget)
        if closing.plan is not None and len(self._sites) == 1:
            plan = closing.plan
            self._take(Found(self.splits.worth(split, plan.loss), (plan.contents,)))
        if not closing.proven:
            raise TooLongError
        return closing.plan

    def _check_incumbent(self, site: int, cut: Cut, x: IntArray, budget: int) -> None:
        """Raise an `InternalError` where CP-SAT found no plan and the incumbent is one."""
        if self.state.best is None or not self.state.best.contents:
            return
        here = self._sites[site]
        loss = loss_of(here.columns, here.nodes, cut, x, self.state.best.contents[site])
        if loss is not None and loss <= budget:
            raise InternalError(
                f"CP-SAT finds no plan that loses at most {budget}, the incumbent loses {loss}"
            )

    def _go_on(self, seen: int) -> bool:
        check_stop()
        return seen < MOST_STATES and time.perf_counter() < self._deadline

    def _take(self, found: Found) -> None:
        if self.state.best is None or found.value > self.state.best.value:
            self.state.best = found
            self._on_best(found)
