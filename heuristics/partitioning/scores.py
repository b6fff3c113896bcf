"""What a part is worth to a vertex: the formulas of LDG and Fennel, for numbers and for arrays.

The kernels compile them; methods on instances call them with arrays of all parts. Both are extended
to weights and to parts of different sizes such that with weights of 1 and equal parts they are the
published ones.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Value: TypeAlias = Any
"""A number, or an array of them."""


def ldg(gain: Value, load: Value, capacity: Value) -> Value:
    """Return linear deterministic greedy's score (Stanton and Kliot 2012, section 3).

    Parameters
    ----------
    gain
        Weight of the edges to neighbours in the part.
    load, capacity
        Weight of the vertices in the part, and the most it may be.
    """
    return gain * (1.0 - load / capacity)


def fennel(gain: Value, load: Value, weight: float, size: Value, alpha: float) -> Value:
    """Return Fennel's score, gain - (c(load + weight) - c(load)) with c(x) = alpha x^1.5.

    (Tsourakakis et al. 2014, section 4, gamma = 1.5.) A part of relative size s, 1 where all are
    equal, costs s c(x / s), so that the total cost is least where loads are as the sizes.

    Parameters
    ----------
    gain, load
        As in `ldg`.
    weight
        Of the vertex.
    size
        Relative size of the part, above 0.
    alpha
        See `fennel_alpha`.
    """
    before, after = load / size, (load + weight) / size
    return gain - alpha * size * (after * np.sqrt(after) - before * np.sqrt(before))


def fennel_alpha(parts: int, vertex_weight: float, edge_weight: float) -> float:
    """Return alpha = m k^(gamma - 1) / n^gamma, the published weight of balance against the cut."""
    if not vertex_weight:
        return 0.0
    return float(edge_weight * np.sqrt(parts) / (vertex_weight * np.sqrt(vertex_weight)))
