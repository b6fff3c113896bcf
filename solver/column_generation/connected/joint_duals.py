"""Duals of the tasks at which no node content, with its workers, has a negative reduced cost.

Column generation with an in-out scheme (Ben-Ameur and Neto, 2007): prices are asked between the
best proven duals and those of the restricted master. If no content violates them they are proven
themselves, and better; otherwise the violated contents are columns. The closer to proven duals, the
fewer contents the tables leave to be listed, so where they are too many the step is halved. When
the linear program is solved, count cuts that its solution violates are added and it goes on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.content_pricing import ContentPricing, shrunk
from slotwise.solver.column_generation.connected.worker_bounds import TOLERANCE_BITS
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import (
    FloatArray,
    RestrictedMaster,
    on_grid,
)

FIRST_STEP, SHORTEST_STEP = 0.5, 0.002
"""Part of the way from proven duals to those of the master: at first, and at least."""

FIRST_CUTS = 0.2
"""Part of the time in which contents to start with get cuts of their own."""

MAX_TOTAL = 1 << 60
"""No sum of duals may be larger, in 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class JointDuals:
    """Proven duals pi [K + J] on the grid of the pricing, and the columns [Y, K] found."""

    pi: IntArray
    columns: IntArray


def find_joint_duals(
    pricing: ContentPricing,
    proven: IntArray,
    columns: IntArray,
    deadline: float,
    params: ConnectedParams,
) -> JointDuals:
    """Return the least duals found until the deadline, starting from `proven` ones [K].

    `columns` [Y, K] are contents to start with; those that break a rule are left out.
    """
    master = RestrictedContents(pricing)
    master.add(np.eye(len(proven), dtype=np.int64))
    now = pricing.token.now()
    master.add(shrunk(pricing.graphs[0], columns), now + FIRST_CUTS * (deadline - now))
    step = FIRST_STEP
    while pricing.token.now() < deadline:
        target = master.duals()
        if not _is_less(pricing, target, proven) or step < SHORTEST_STEP:
            if not master.add_count_cuts(params.max_count_cuts):
                break
            proven, step = _with_cuts(pricing, proven), FIRST_STEP
            continue
        trial = np.ceil((1 - step) * proven + step * target).astype(np.int64)
        if pricing.total(trial) > MAX_TOTAL:
            step /= 2
            continue
        try:
            violated = pricing.below(
                trial, -1 - (1 << TOLERANCE_BITS), params.max_candidates, deadline
            )
        except TooLongError:
            step /= 2
            continue
        if len(violated):
            if not master.add_violated(trial, violated):
                break
            continue
        lifted = trial.copy()
        lifted[: pricing.graphs[0].count] += 1 << TOLERANCE_BITS
        if pricing.total(lifted) >= pricing.total(proven):
            break
        proven, step = lifted, min(1.0, 1.5 * step)
    return JointDuals(_with_cuts(pricing, proven), master.columns())


def _is_less(pricing: ContentPricing, target: IntArray, proven: IntArray) -> bool:
    """Return whether a better bound may be left between the two."""
    return pricing.total(target) // pricing.scale < pricing.total(proven) // pricing.scale


def _with_cuts(pricing: ContentPricing, duals: IntArray) -> IntArray:
    """Return the duals with 0 for cuts that are new; they stay proven."""
    more = pricing.graphs[0].count + len(pricing.count_cuts) - len(duals)
    return np.concatenate([duals, np.zeros(more, dtype=np.int64)])


# The restricted master over node contents, with count cuts that its solution violates.

COLUMNS_A_ROUND, CUTS_A_ROUND = 10, 5
VIOLATION = 0.02
"""A count cut is worth adding from here on."""


class RestrictedContents:
    """The linear program over the contents known; rebuilt where cuts change it."""

    def __init__(self, pricing: ContentPricing) -> None:
        self._pricing = pricing
        self._known: dict[bytes, IntArray] = {}
        self._lp: RestrictedMaster | None = None

    def add(self, contents: IntArray, cuts_until: float = math.inf) -> bool:
        """Add contents [Y, K] with the cuts they give; return whether there was a new one."""
        workers, new = self._pricing.workers, False
        for row in contents:
            self._pricing.token.check()
            is_late = self._pricing.token.now() > cuts_until
            lowered = workers is not None and not is_late and workers.tighten(row)
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
        """Return the duals [K + J] of the optimum over the contents known, on the grid."""
        pricing = self._pricing
        if self._lp is None:
            self._lp = self._make_master()
        duals = on_grid(self._lp.duals(), pricing.scale, pricing.most)
        return np.asarray(np.maximum(duals, 0))

    def add_count_cuts(self, most: int) -> bool:
        """Add the count cuts that the optimum violates most, up to `most` in all."""
        pricing = self._pricing
        if self._lp is None:
            self._lp = self._make_master()
            self._lp.duals()
        used = self._lp.solution()
        contents, sizes = self.columns()[used > 0], pricing.graphs[0].sizes.tolist()
        cuts: list[tuple[float, tuple[int, int]]] = []
        for k, size in enumerate(sizes):
            violation, c = self._worst_cut(k, size, contents[:, k], used[used > 0])
            if violation > VIOLATION:
                cuts.append((violation, (k, c)))
        room = min(CUTS_A_ROUND, most - len(pricing.count_cuts))
        chosen = [cut for _, cut in sorted(cuts, reverse=True)[: max(room, 0)]]
        pricing.count_cuts += chosen
        if chosen:
            self._lp = None
        return bool(chosen)

    def _worst_cut(
        self, k: int, size: int, counts: IntArray, used: FloatArray
    ) -> tuple[float, int]:
        """Return the new cut on kind k that is violated most, and by how much.

        Of all c with the same ``size // c`` the least gives the strongest cut.
        """
        options = {size // (many + 1) + 1 for many in range(1, size)}
        cuts = self._pricing.count_cuts
        return max(
            (
                (float((counts // c) @ used) - size // c, c)
                for c in options
                if 1 < c <= counts.max(initial=0) and (k, c) not in cuts
            ),
            default=(0.0, 0),
        )

    def columns(self) -> IntArray:
        """Return [Y, K] the contents known."""
        return np.array(list(self._known.values()))

    def _make_master(self) -> RestrictedMaster:
        pricing, contents = self._pricing, self.columns()
        sides = pricing.entries(pricing.graphs[0].sizes[None, :])[0].tolist()
        count = contents.shape[1]
        lp = RestrictedMaster(maximize=True)
        lp.add_rows(sides[:count])
        lp.add_rows(sides[count:], limit=True)
        lp.add_columns(pricing.values(contents) / pricing.scale, pricing.entries(contents))
        return lp
