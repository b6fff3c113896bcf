"""Memory of a task, from that of the workers it runs in: Storm measures workers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Composition = Mapping[str, float]
"""Component -> how many tasks of it a worker has, on average over time."""


def split(
    workers: Sequence[Composition], used: Sequence[float], declared: Mapping[str, float]
) -> dict[str, float]:
    """Return the memory of one task of each component that best explains the workers'.

    Of all least-squares solutions the one nearest to the proportions of `declared`, so that what
    the workers do not tell apart is shared in these. Nothing is below 0.

    Parameters
    ----------
    workers
        What runs in each.
    used
        Memory of each worker, any unit.
    declared
        Component -> what a task should need, any unit; where one has 0, all share alike.
    """
    components = sorted({name for one in workers for name in one})
    known = [declared.get(name, 0.0) for name in components]
    weights = np.array(known if all(value > 0 for value in known) else [1.0] * len(known))
    counts = np.array([[one.get(name, 0.0) for name in components] for one in workers])
    memory = np.array(used, dtype=float)
    expected = counts @ weights
    start = weights * (memory.sum() / expected.sum())
    correction, *_ = np.linalg.lstsq(counts, memory - counts @ start, rcond=1e-9)
    found = np.maximum(start + correction, 0.0)
    return {name: float(value) for name, value in zip(components, found, strict=True)}
