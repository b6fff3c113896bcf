"""How many parts an edge has on average over generations of tasks, by hand."""

from __future__ import annotations

import pytest

from slotwise.pipeline.statistics.weights.presence import mean_parts

SPANS = {0: (0.0, 540.0), 6_000_000: (6000.0, 7740.0)}
"""With an interval of 60 seconds, 600 and 1800 seconds."""


def test_generations_count_by_their_length() -> None:
    assert mean_parts({0: 12, 6_000_000: 4}, SPANS, 60) == 6
    assert mean_parts({0: 12}, SPANS, 60) == 12


def test_a_generation_that_is_not_there_is_refused() -> None:
    with pytest.raises(KeyError):
        mean_parts({0: 12, -1: 1}, SPANS, 60)
