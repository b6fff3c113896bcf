"""What the tasks of a drawn topology need: cpu, memory on and off the heap, and a worker's heap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from slotwise.models.families.storm_like.tables import Kind

ATTEMPTS = 20
"""So often a further demand is drawn that must differ from those before."""

MOST_CPU, MOST_MEMORY_MB = 1800, 45000
"""Of a task: the most in the clusters."""

HEAP_STEP_MB = 64
OTHER_OFFHEAP = 0.15
"""How often a component's off-heap memory is not that of the others."""


@dataclass(frozen=True, slots=True)
class Demands:
    """Of a task of each component: cpu in points, memory in MB; and the heap of a worker, MB."""

    cpu: tuple[int, ...]
    onheap_mb: tuple[int, ...]
    offheap_mb: tuple[int, ...]
    worker_max_heap_mb: int | None


def draw_demands(tasks: Sequence[int], kind: Kind, rng: Generator) -> Demands:
    """Return the demands of components of so many tasks; some of equally many have the same."""
    originals = _originals(tasks, round(kind.draw("types", rng) * len(tasks)), rng)
    drawn = _draw_different(len(tasks), sorted(set(originals)), kind, rng)
    cpu, onheap, offheap = zip(*(drawn[one] for one in originals), strict=True)
    heap = max(onheap) * kind.draw_size("heap", rng)
    return Demands(
        cpu,
        onheap,
        offheap,
        math.ceil(heap / HEAP_STEP_MB) * HEAP_STEP_MB if heap else None,
    )


def _originals(tasks: Sequence[int], wanted: int, rng: Generator) -> list[int]:
    """Return for each component the one whose demand it has, for about `wanted` different ones.

    A component has its own demand if it is the first of so many tasks, or while too few have.
    """
    found = list(range(len(tasks)))
    missing = max(0, wanted - len(set(tasks)))
    first: dict[int, list[int]] = {}
    others = []
    for place in (int(one) for one in rng.permutation(len(tasks))):
        if tasks[place] not in first:
            first[tasks[place]] = [place]
        elif missing:
            first[tasks[place]].append(place)
            missing -= 1
        else:
            others.append(place)
    for place in others:
        found[place] = int(rng.choice(first[tasks[place]]))
    return found


def _draw_different(
    count: int, places: Sequence[int], kind: Kind, rng: Generator
) -> dict[int, tuple[int, int, int]]:
    """Return cpu, on-heap and off-heap memory of the components in `places`, of `count` in all."""
    idle = round(kind.draw("idle", rng) * count)
    busy = len(places) - min(len(places) - 1, idle)
    cpus = _values("cpu", count, busy, kind, rng)
    memories = _values("memory", count, busy, kind, rng)
    measured = kind.draw("correlation", rng)
    correlation = math.copysign(math.sqrt(abs(measured)), measured)  # ties will weaken it
    first = rng.standard_normal(busy)
    second = correlation * first + math.sqrt(1 - correlation**2) * rng.standard_normal(busy)
    shuffled = [int(one) for one in rng.permutation(list(places))]
    by_rank = zip(shuffled[:busy], _by_rank(cpus, first), _by_rank(memories, second), strict=True)
    found = dict.fromkeys(places, (0, 0, 0))
    usual_offheap = _offheap(kind, rng) if kind.draw("offheap", rng) >= 0.5 else 0
    for place, cpu, memory in by_rank:
        offheap = 0
        if usual_offheap:
            other = rng.random() < OTHER_OFFHEAP
            offheap = min(_offheap(kind, rng) if other else usual_offheap, memory // 2)
        found[place] = (cpu, memory - offheap, offheap)
    return found


def usual_cpu(points: float) -> int:
    """Return the points that people would choose for a task of about so many."""
    step = 1 if points < 20 else 5 if points < 150 else 50
    return min(MOST_CPU, max(1, round(points / step) * step))


def usual_memory(megabytes: float) -> int:
    """Return the MB that people would choose for a task of about so many."""
    step = 32 if megabytes < 1024 else 128 if megabytes < 8192 else 1024
    return min(MOST_MEMORY_MB, max(32, round(megabytes / step) * step))


def _values(what: str, count: int, busy: int, kind: Kind, rng: Generator) -> list[int]:
    """Return `busy` sorted demands, of the level and as many different ones as drawn."""
    snapped = usual_cpu if what == "cpu" else usual_memory
    level = kind.draw_size(f"{what}_level", rng)
    wanted = min(busy, max(1, round(kind.draw(f"{what}_kinds", rng) * count)))
    found = [snapped(level)]
    for _ in range(ATTEMPTS * wanted):
        if len(found) == wanted:
            break
        value = snapped(level * 2 ** kind.draw(f"{what}_ratio", rng))
        if value not in found:
            found.append(value)
    cuts = np.sort(rng.choice(busy - 1, len(found) - 1, replace=False)) + 1 if busy > 1 else ()
    sizes = np.diff(np.array([0, *cuts, busy]))
    ordered = sorted((int(one) for one in sizes), reverse=True)
    return sorted(value for value, size in zip(found, ordered, strict=True) for _ in range(size))


def _by_rank(values: Sequence[int], ranked: Sequence[float] | np.ndarray) -> list[int]:
    """Return the sorted `values` in the order of `ranked`: the least where that is least."""
    found = [0] * len(values)
    for value, place in zip(values, np.argsort(ranked, kind="stable"), strict=True):
        found[int(place)] = value
    return found


def _offheap(kind: Kind, rng: Generator) -> int:
    values = kind.values["offheap_mb"]
    return round(values[int(rng.integers(len(values)))])
