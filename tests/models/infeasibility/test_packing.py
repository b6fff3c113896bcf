"""The most weight that fits: against every choice of counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from slotwise.models.infeasibility import contradictions
from slotwise.models.infeasibility.contradictions import Item, most_weight


def by_hand(items: list[Item], capacity: int) -> int:
    """Return the largest weight over all counts that fit."""
    choices = product(*(range(count + 1) for _, _, count in items))
    return max(
        sum(k * weight for k, (_, weight, _) in zip(counts, items, strict=True))
        for counts in choices
        if sum(k * size for k, (size, _, _) in zip(counts, items, strict=True)) <= capacity
    )


def drawn(seed: int) -> tuple[list[Item], int]:
    """Return up to four items and a capacity."""
    rng = np.random.default_rng(seed)
    rows = rng.integers([0, 0, 0], [12, 9, 4], size=(int(rng.integers(1, 5)), 3)).tolist()
    return [(size, weight, count) for size, weight, count in rows], int(rng.integers(0, 30))


@pytest.mark.parametrize("seed", range(60))
def test_the_most_weight_is_that_of_the_best_choice(seed: int) -> None:
    items, capacity = drawn(seed)
    assert most_weight(items, capacity) == by_hand(items, capacity)


@pytest.mark.parametrize("seed", range(60))
def test_with_too_many_sums_the_answer_is_never_too_low(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contradictions, "MOST_STATES", 1)
    items, capacity = drawn(seed)
    assert most_weight(items, capacity) >= by_hand(items, capacity)
