"""How many tasks the components of a drawn topology have."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from slotwise.models.families.storm_like.streams import Structure
from slotwise.models.families.storm_like.tables import Kind

LEAF_WEIGHT = 4.0
"""A component with one neighbour is so much likelier a single task than another one."""

ATTEMPTS = 10
"""So often a number of tasks is drawn that must differ from that of the component before."""

MANTISSAS = (
    *(1.0, 1.2, 1.44, 1.5, 1.6, 1.8, 2.0, 2.4, 2.5, 3.0, 3.2, 3.6),
    *(4.0, 4.5, 4.8, 5.0, 6.0, 6.4, 7.2, 7.5, 8.0, 9.0, 9.6),
)
"""People choose numbers of tasks that begin like these."""


def draw_parallelism(structure: Structure, kind: Kind, rng: Generator) -> tuple[int, ...]:
    """Return the tasks of each component, 1 or more."""
    count = len(structure.degrees)
    singles = _singles(structure, round(kind.draw("singles", rng) * count), rng)
    level, repeats = kind.draw_size("level", rng), kind.draw("repeats", rng)
    found: list[int] = []
    for index, parent in enumerate(structure.parents):
        before = found[parent] if parent is not None else 1
        if index in singles:
            found.append(1)
        elif before > 1 and rng.random() < repeats:
            found.append(before)
        else:
            found.append(_other_than(before, level, kind, rng))
    return tuple(found)


def _other_than(before: int, level: float, kind: Kind, rng: Generator) -> int:
    """Draw a number of several tasks that is not `before`, as far as `ATTEMPTS` go."""
    number = before
    for _ in range(ATTEMPTS):
        number = max(2, usual(level * 2 ** kind.draw("parallelism_ratio", rng)))
        if number != before:
            break
    return number


def usual(number: float) -> int:
    """Return the whole number that people would choose for one of this size, at least 1."""
    if number < 10:
        return max(1, round(number))
    power = float(10 ** math.floor(math.log10(number)))
    scaled = number / power
    nearest = min((*MANTISSAS, 10.0), key=lambda one: abs(math.log(one / scaled)))
    return round(nearest * power)


def _singles(structure: Structure, wanted: int, rng: Generator) -> set[int]:
    weights = np.array([LEAF_WEIGHT if degree <= 1 else 1.0 for degree in structure.degrees])
    chosen = rng.choice(len(weights), wanted, replace=False, p=weights / weights.sum())
    return {int(one) for one in chosen}
