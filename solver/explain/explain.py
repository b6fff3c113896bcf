"""Why an instance has no placement: `explain_infeasible`."""

from __future__ import annotations

from slotwise.models.instance.instance import Instance
from slotwise.solver.explain.explanation import Explanation
from slotwise.solver.explain.prices import RepairPrices

DEFAULT_PRICES = RepairPrices()


def explain_infeasible(
    instance: Instance,
    *,
    time_limit_s: float = 30.0,
    prices: RepairPrices = DEFAULT_PRICES,
    seed: int = 0,
    workers: int = 1,
) -> Explanation:
    """Return why `instance` has no placement and the cheapest repairs."""
    raise NotImplementedError
