"""Components as the viewer shows them, by letter, name and colour; the component of each task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from slotwise.models.problem.problem import Problem

SERIES = 8
"""Colours of the page, ``--series-1`` to ``--series-8``; letters distinguish equal colours."""


@dataclass(frozen=True, slots=True)
class Component:
    """A component that has tasks.

    Parameters
    ----------
    letter
        ``A`` to ``Z``, then ``AA``, ``AB`` and so on.
    name
        Its id, with that of the topology before it where there are several.
    series
        Its colour, 1 to `SERIES`.
    count
        Number of its tasks.
    """

    letter: str
    name: str
    series: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    """The components that have tasks; of each task the component (an index), and which it is."""

    components: tuple[Component, ...]
    component: tuple[int, ...]
    index: tuple[int, ...]


def tasks_of(problem: Problem) -> Tasks:
    """Return the tasks in canonical order."""
    has_several = len(problem.instance.topologies) > 1
    components: list[Component] = []
    of_task: list[int] = []
    index: list[int] = []
    for topology in problem.instance.topologies:
        for component in topology.placed_components:
            if not component.parallelism:
                continue
            number = len(components)
            name = f"{topology.id}/{component.id}" if has_several else component.id
            components.append(
                Component(_letter(number), name, number % SERIES + 1, component.parallelism)
            )
            of_task += [number] * component.parallelism
            index += range(component.parallelism)
    return Tasks(tuple(components), tuple(of_task), tuple(index))


def _letter(number: int) -> str:
    size = len(ascii_uppercase)
    before = _letter(number // size - 1) if number >= size else ""
    return before + ascii_uppercase[number % size]


MOST_RANGES = 8
"""Ranges that are written out; of further indices only the number."""


def ranges(indices: Sequence[int], most: int = MOST_RANGES) -> str:
    """Return ascending indices as text: ``0-2, 5`` with an en dash, and how many more there are."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    texts = [str(a) if a == b else f"{a}\N{EN DASH}{b}" for a, b in runs[:most]]
    left = sum(b - a + 1 for a, b in runs[most:])
    return ", ".join(texts) + (f" and {left:,} more" if left else "")
