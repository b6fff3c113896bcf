"""Conflicts and repairs of random infeasible instances, checked by exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from explained import check_conflict, check_explanation, exists

from slotwise.models.instance.instance import Instance
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.testing.random_instances.tiny import mixed_instance


def infeasible(seed: int, count: int) -> Iterator[Instance]:
    """Yield `count` infeasible instances of every rule."""
    rng = np.random.default_rng(seed)
    while count:
        one = mixed_instance(rng)
        if not exists(one):
            count -= 1
            yield one


@pytest.mark.slow
def test_every_conflict_is_minimal_and_every_repair_holds() -> None:
    for instance in infeasible(1, 5):
        check_explanation(instance, explain_infeasible(instance, time_limit_s=300))  # busy machines


@pytest.mark.deep
def test_every_conflict_is_minimal_and_every_repair_holds_on_more() -> None:
    for instance in infeasible(2, 100):
        found = explain_infeasible(instance, time_limit_s=60)
        for conflict in found.conflicts:
            check_conflict(instance, conflict)
        if found.complete:
            check_explanation(instance, found)
