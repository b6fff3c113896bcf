"""Indices of tasks as text."""

from __future__ import annotations

from collections.abc import Sequence

MOST_RANGES = 8
"""Ranges that are written out; of further indices only the number."""


def ranges(indices: Sequence[int], most: int = MOST_RANGES) -> str:
    """Return ascending indices as text: ``0-2, 5`` with an en dash, and how many more there are."""
    found: list[list[int]] = []
    for index in indices:
        if found and index == found[-1][1] + 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    texts = [str(a) if a == b else f"{a}\N{EN DASH}{b}" for a, b in found[:most]]
    left = sum(b - a + 1 for a, b in found[most:])
    return ", ".join(texts) + (f" and {left:,} more" if left else "")
