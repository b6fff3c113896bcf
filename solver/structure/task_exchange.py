"""Equal tasks of a placement exchanged, so that as many as possible are where another has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem

Place = tuple[int, int]
"""Node index and worker label."""


def exchange_tasks(
    problem: Problem,
    first: Placement,
    second: Placement,
    stands_for: Mapping[Place, Place],
    kinds: Sequence[Sequence[int]],
) -> Placement:
    """Return `second` at the places that its own stand for, equal tasks exchanged.

    A task is where `first` has it, else where `second` has it, as far as that many are to be there.

    Parameters
    ----------
    stands_for
        Place of `second` -> place that is meant.
    kinds
        Groups of classes whose tasks may be exchanged.
    """
    here = list(zip(first.nodes, first.workers, strict=True))
    there = [stands_for[place] for place in zip(second.nodes, second.workers, strict=True)]
    after = list(there)
    for members in kinds:
        waiting = [task for c in members for task in problem.classes[c].tasks]
        wanted = Counter(there[task] for task in waiting)
        for places in (here, there):
            waiting = _settle(waiting, places, wanted, after)
        for task, place in zip(waiting, wanted.elements(), strict=True):
            after[task] = place
    return Placement(tuple(node for node, _ in after), tuple(label for _, label in after))


def _settle(
    tasks: Sequence[int], places: Sequence[Place], wanted: Counter[Place], after: list[Place]
) -> list[int]:
    """Put tasks where `places` has them while `wanted` has room there; return the others."""
    waiting = []
    for task in tasks:
        if wanted[places[task]] > 0:
            wanted[places[task]] -= 1
            after[task] = places[task]
        else:
            waiting.append(task)
    return waiting
