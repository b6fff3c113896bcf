"""Whether one method is better than another by more than chance: Wilcoxon's signed-rank test.

Paired by instance, one difference each; instances on which both are equal say nothing and are left
out (Wilcoxon's own way). Of several pairs Holm's correction keeps the chance of any false alarm
below the level.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEAST_PAIRS = 6
"""With fewer instances that differ, even the clearest result has a p-value above 0.05."""


def wilcoxon_p(differences: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the two-sided p-value; ``None`` where fewer than `LEAST_PAIRS` differ."""
    from scipy.stats import wilcoxon

    # Equal differences must have equal ranks, whatever was rounded in computing them.
    numbers = np.round(np.asarray(differences, dtype=float), 12)
    numbers = numbers[numbers != 0]
    if len(numbers) < LEAST_PAIRS:
        return None
    return float(wilcoxon(numbers).pvalue)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values corrected for their number (Holm 1979); ``None`` counts not as a test."""
    tested = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    least = 0.0
    for done, (p, index) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - done)))
        corrected[index] = least
    return corrected
