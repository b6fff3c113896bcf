"""Components of a topology of which no two share a worker, with the most workers in all."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.infeasibility.room import Part, least_workers

MOST_STEPS = 5_000
"""Sets that are looked at; the best of them is returned."""


def heaviest_clique(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return components that are pairwise apart, of the most workers together that was found.

    The heaviest there is where `MOST_STEPS` suffice: by branch and bound, the heaviest first.
    """
    ordered = sorted(parts, key=least_workers, reverse=True)
    apart = [
        {
            j
            for j, other in enumerate(ordered)
            if j != i and one.rules.keeps_apart(one.index, other.index)
        }
        for i, one in enumerate(ordered)
    ]
    weights = [least_workers(part) for part in ordered]
    best: tuple[int, ...] = ()
    most, steps = 0, 0
    stack: list[tuple[tuple[int, ...], list[int], int]] = [((), list(range(len(ordered))), 0)]
    while stack and steps < MOST_STEPS:
        chosen, open_, weight = stack.pop()
        steps += 1
        if weight > most:
            best, most = chosen, weight
        if not open_ or weight + sum(weights[j] for j in open_) <= most:
            continue
        first, rest = open_[0], open_[1:]
        stack.append((chosen, rest, weight))
        inside = [j for j in rest if j in apart[first]]
        stack.append(((*chosen, first), inside, weight + weights[first]))
    return tuple(ordered[i] for i in best)
