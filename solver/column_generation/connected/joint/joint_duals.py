"""Duals of the tasks at which no node content, with its workers, has a negative reduced cost.

Column generation with an in-out scheme (Ben-Ameur and Neto, 2007): prices are asked between the
best proven duals and those of the restricted master. If no content violates them they are proven
themselves, and better; otherwise the violated contents are columns. The closer to proven duals, the
fewer contents the tables leave to be listed, so where they are too many the step is halved. When
the linear program is solved, count cuts that its solution violates are added and it goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.joint.content_pricing import ContentPricing
from slotwise.solver.column_generation.connected.joint.restricted_contents import (
    RestrictedContents,
)
from slotwise.solver.column_generation.connected.joint.shrinking import shrunk
from slotwise.solver.column_generation.connected.joint.worker_bounds import TOLERANCE_BITS
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError

FIRST_STEP, SHORTEST_STEP = 0.5, 0.002
"""Part of the way from proven duals to those of the master: at first, and at least."""

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
    master.add(shrunk(pricing.graphs[0], columns))
    step = FIRST_STEP
    while pricing.token.now() < deadline:
        target = master.duals()
        if not _is_less(pricing, target, proven) or step < SHORTEST_STEP:
            if not master.add_count_cuts(params.max_count_cuts):
                break
            proven, step = _with_cuts(pricing, proven), FIRST_STEP
            continue
        asked = np.ceil((1 - step) * proven + step * target).astype(np.int64)
        if pricing.total(asked) > MAX_TOTAL:
            step /= 2
            continue
        try:
            violated = pricing.below(
                asked, -1 - (1 << TOLERANCE_BITS), params.max_candidates, deadline
            )
        except TooLongError:
            step /= 2
            continue
        if len(violated):
            if not master.add_violated(asked, violated):
                break
            continue
        lifted = asked.copy()
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
