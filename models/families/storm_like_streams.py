"""The streams between the components of a drawn topology.

A part is a tree that grows one component at a time, then gets further edges. Three measured numbers
steer it: how many neighbours the best connected components have (hubs: in topologies of single
tasks they are the coordinators), how many components are leaves, and how many edges there are
beyond a forest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from slotwise.models.families.family import draw
from slotwise.models.families.storm_like_statistics import Kind

DOWNSTREAM = 0.6
"""Probability that an added component receives from the one it is joined to; else it sends."""

SMALL_PART = (2, 4)
"""Least and most components of a part beside the largest one."""

ROWS = ("row", "pairs")
"""Kinds all of whose parts are rows of components."""


_Graph = dict[int, set[int]]
"""Neighbours of each component."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Components 0, 1, ... and what joins them.

    Parameters
    ----------
    parents
        Of each component the earlier one that it was joined to; ``None`` = the first of a part.
    streams
        Pairs (from, to), without cycles.
    degrees
        Neighbours of each component.
    """

    parents: tuple[int | None, ...]
    streams: tuple[tuple[int, int], ...]
    degrees: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Aims:
    """Neighbours of each hub, leaves and edges beyond a tree that a part should have."""

    hubs: tuple[int, ...]
    leaves: int
    extra_edges: int


def draw_structure(name: str, kind: Kind, rng: Generator) -> Structure:
    """Return the structure of a topology of the kind with that name."""
    count = round(kind.draw_size("components", rng))
    parts = min(max(1, round(kind.draw("parts", rng))), max(1, count // 2))
    graph: _Graph = {}
    parents: dict[int, int | None] = {}
    if name in ROWS:
        for size in _equal_sizes(count, parts):
            _add_row(graph, parents, size)
    else:
        first, *others = _sizes(count, parts, rng)
        _add_tree(graph, parents, first, _aims(kind, count, first, rng), rng)
        for size in others:
            _add_row(graph, parents, size)
    return _directed(graph, parents, rng)


def _equal_sizes(count: int, parts: int) -> list[int]:
    return [count // parts + (index < count % parts) for index in range(parts)]


def _sizes(count: int, parts: int, rng: Generator) -> list[int]:
    """Return the components of each part, the largest part first; it has half of them at least."""
    others: list[int] = []
    for _ in range(parts - 1):
        size = draw(rng, *SMALL_PART)
        if 2 * (sum(others) + size) <= count:
            others.append(size)
    return [count - sum(others), *others]


def _aims(kind: Kind, count: int, size: int, rng: Generator) -> _Aims:
    """Draw the aims of the largest part, of `size` among `count` components."""
    most = min(size - 1, int(kind.values["degree"][-1]))
    best = max(2, min(most, round(kind.draw("hub", rng) * (count - 1))))
    others = max(0, round(kind.draw("hubs", rng)) - 1)
    least = min(best, max(3, -(-best // 2)))
    return _Aims(
        hubs=(best, *(draw(rng, least, best) for _ in range(min(others, size // 3)))),
        leaves=round(kind.draw("leaves", rng) * size),
        extra_edges=round(kind.draw("extra_edges", rng) * count),
    )


def _join(graph: _Graph, one: int, other: int) -> None:
    graph[one].add(other)
    graph[other].add(one)


def _add_row(graph: _Graph, parents: dict[int, int | None], size: int) -> None:
    start = len(parents)
    for index in range(start, start + size):
        parents[index] = index - 1 if index > start else None
        graph[index] = set()
        if index > start:
            _join(graph, index - 1, index)


def _add_tree(
    graph: _Graph, parents: dict[int, int | None], size: int, aims: _Aims, rng: Generator
) -> None:
    """Add a part: its hubs first, then components at hubs, at leaves, and at others between."""
    wanted = dict(enumerate(aims.hubs))
    graph[0] = set()
    parents[0] = None
    branches = aims.leaves
    for index in range(1, size):
        left = {hub: most - len(graph[hub]) for hub, most in wanted.items() if hub in graph}
        open_hubs = [hub for hub in left if left[hub] > 0]
        ends = [one for one in graph if len(graph[one]) <= 1 and one not in wanted]
        inner = [one for one in graph if len(graph[one]) > 1 and one not in wanted]
        here = int(rng.choice(open_hubs)) if open_hubs else 0
        if index >= len(wanted) and ends:
            missing = max(0, branches - len(ends))
            extends = int(rng.integers(size - index)) >= missing
            if extends and left[0] < size - index:
                here = int(rng.choice(ends))
            elif not open_hubs and inner:
                here = int(rng.choice(inner))
        graph[index] = set()
        _join(graph, here, index)
        parents[index] = here
    _add_edges(graph, aims, rng)


def _add_edges(graph: _Graph, aims: _Aims, rng: Generator) -> None:
    """Add edges beyond the tree; leaves take part only while there are too many of them."""
    most = max(aims.hubs)
    for _ in range(aims.extra_edges):
        ends = [one for one in graph if len(graph[one]) <= 1]
        inner = [one for one in graph if 1 < len(graph[one]) < most]
        several = len(ends) > aims.leaves
        pair = _unjoined(graph, ends if several else inner, inner or ends, rng)
        if pair is None:
            pair = _unjoined(graph, list(graph), list(graph), rng)
        if pair is not None:
            _join(graph, *pair)


def _unjoined(
    graph: _Graph, ones: Sequence[int], others: Sequence[int], rng: Generator
) -> tuple[int, int] | None:
    pairs = [(a, b) for a in ones for b in others if a != b and b not in graph[a]]
    return pairs[int(rng.integers(len(pairs)))] if pairs else None


def _directed(graph: _Graph, parents: dict[int, int | None], rng: Generator) -> Structure:
    """Direct each edge from the earlier to the later component, by a step of its own each."""
    steps: dict[int, int] = {}
    for index, parent in parents.items():
        step = 1 if rng.random() < DOWNSTREAM else -1
        steps[index] = 0 if parent is None else steps[parent] + step
    edges = ((a, b) for a, others in graph.items() for b in sorted(others) if a < b)
    streams = (tuple(sorted(edge, key=lambda one: (steps[one], one))) for edge in edges)
    return Structure(
        tuple(parents[index] for index in range(len(parents))),
        tuple(sorted((a, b) for a, b in streams)),
        tuple(len(graph[index]) for index in range(len(parents))),
    )


# How many tasks the components of a drawn topology have.

LEAF_WEIGHT = 4.0
"""How much likelier a component with one neighbour is a single task than another one."""

ATTEMPTS = 10
"""Most draws of a number of tasks that must differ from that of the component before."""

MANTISSAS = (
    *(1.0, 1.2, 1.44, 1.5, 1.6, 1.8, 2.0, 2.4, 2.5, 3.0, 3.2, 3.6),
    *(4.0, 4.5, 4.8, 5.0, 6.0, 6.4, 7.2, 7.5, 8.0, 9.0, 9.6),
)
"""Leading digits of numbers of tasks that people choose."""


def draw_parallelism(structure: Structure, kind: Kind, rng: Generator) -> tuple[int, ...]:
    """Return the tasks of each component, 1 or more."""
    count = len(structure.degrees)
    singles = _singles(structure, round(kind.draw("singles", rng) * count), rng)
    level, repeats = kind.draw_size("level", rng), kind.draw("repeats", rng)
    drawn: list[int] = []
    for index, parent in enumerate(structure.parents):
        before = drawn[parent] if parent is not None else 1
        if index in singles:
            drawn.append(1)
        elif before > 1 and rng.random() < repeats:
            drawn.append(before)
        else:
            drawn.append(_other_than(before, level, kind, rng))
    return tuple(drawn)


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
