"""Duals of the tasks at which no node content, with its workers, has a negative reduced cost.

Column generation with an in-out scheme (Ben-Ameur and Neto, 2007): prices are asked between the
best proven duals and those of the restricted master. If no content violates them they are proven
themselves, and better; otherwise the violated contents are columns. The closer to proven duals, the
fewer contents the tables leave to be listed, so where they are too many the step is halved.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.joint.content_pricing import ContentPricing
from slotwise.solver.column_generation.connected.joint.worker_bounds import TOLERANCE_BITS
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import RestrictedMaster, on_grid

MAX_DUAL = 1 << 58
FIRST_STEP, SHORTEST_STEP = 0.5, 0.002
COLUMNS_A_ROUND = 10


@dataclass(frozen=True, slots=True, eq=False)
class JointDuals:
    """Proven duals pi [K] on the grid of the pricing, and the columns [Y, K] found on the way."""

    pi: IntArray
    columns: IntArray


def find_joint_duals(
    pricing: ContentPricing,
    sizes: IntArray,
    proven: IntArray,
    columns: IntArray,
    deadline: float,
    params: ConnectedParams,
) -> JointDuals:
    """Return the least duals found until the deadline, starting from `proven` ones [K].

    `columns` [Y, K] are contents to start with; those that break a rule are left out.
    """
    master = _Master(pricing, sizes)
    master.add(np.eye(len(sizes), dtype=np.int64))
    master.add(columns[pricing.graphs[0].admits(columns)])
    step = FIRST_STEP
    while time.perf_counter() < deadline and step >= SHORTEST_STEP:
        target = master.duals()
        if int(proven @ sizes) // pricing.scale <= int(target @ sizes) // pricing.scale:
            break  # no better bound is left
        asked = np.ceil((1 - step) * proven + step * target).astype(np.int64)
        try:
            violated = pricing.below(
                asked, -1 - (1 << TOLERANCE_BITS), params.max_candidates, deadline
            )
        except TooLongError:
            step /= 2
            continue
        if not len(violated):
            lifted = asked + (1 << TOLERANCE_BITS)
            if int(lifted @ sizes) >= int(proven @ sizes):
                break
            proven, step = lifted, min(1.0, 1.5 * step)
        elif not master.add_violated(asked, violated):
            break
    return JointDuals(proven, master.columns())


class _Master:
    """The restricted master; made anew where cuts lower the values of its columns."""

    def __init__(self, pricing: ContentPricing, sizes: IntArray) -> None:
        self._pricing = pricing
        self._sizes = sizes
        self._known: dict[bytes, IntArray] = {}
        self._lp: RestrictedMaster | None = None

    def add(self, contents: IntArray) -> bool:
        """Add contents [Y, K] with the cuts they give; return whether there was a new one."""
        new = False
        for row in contents:
            self._pricing.token.check()
            lowered = self._pricing.workers is not None and self._pricing.workers.tighten(row)
            if row.tobytes() not in self._known:
                self._known[row.tobytes()] = row
                new = True
            if lowered or new:
                self._lp = None
        return new

    def add_violated(self, duals: IntArray, contents: IntArray) -> bool:
        """Add the most violated contents, each after the cuts of those before it.

        Returns whether anything was new.
        """
        new = False
        for _ in range(COLUMNS_A_ROUND):
            new |= self.add(contents[:1])
            costs = self._pricing.reduced_costs(duals, contents)
            left = np.flatnonzero(costs < -(1 << TOLERANCE_BITS))
            left = left[[contents[i].tobytes() not in self._known for i in left]]
            if not len(left):
                break
            contents = contents[left[np.argsort(costs[left], kind="stable")]]
        return new

    def duals(self) -> IntArray:
        """Return the duals [K] of the optimum over the columns known, on the grid."""
        if self._lp is None:
            contents = self.columns()
            self._lp = RestrictedMaster(maximize=True)
            self._lp.add_rows(self._sizes.tolist())
            self._lp.add_columns(self._pricing.values(contents) / self._pricing.scale, contents)
        found = on_grid(self._lp.duals(), self._pricing.scale, MAX_DUAL)
        return np.asarray(np.maximum(found, 0))

    def columns(self) -> IntArray:
        """Return [Y, K] the columns."""
        return np.array(list(self._known.values()))
