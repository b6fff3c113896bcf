"""Exact scaling: decimals to integers by the least power of ten."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slotwise.models.instance.instance import Instance
from slotwise.models.values import decimals

MEMORY = "memory_mb"
CPU = "cpu"


def power_of_ten(numbers: Iterable[Decimal]) -> int:
    """Return the least power of ten that makes all numbers whole."""
    power: int = 10 ** max((decimals(number) for number in numbers), default=0)
    return power


@dataclass(frozen=True, slots=True)
class Scale:
    """One dimension's integers: value = integer * unit; `unit` in the user's unit."""

    unit: Fraction

    @classmethod
    def fitting(cls, numbers: Iterable[Decimal]) -> Scale:
        """Return the coarsest scale on which all numbers are whole (power of ten over gcd)."""
        values = list(numbers)
        power = power_of_ten(values)
        divisor = math.gcd(*(int(value * power) for value in values)) or 1
        return cls(Fraction(divisor, power))

    def __call__(self, value: Decimal) -> int:
        """Return `value` as an integer of this scale; exact by construction."""
        scaled = Fraction(value) / self.unit
        assert scaled.denominator == 1, "the scale was made from this number"
        return scaled.numerator


def resource_numbers(instance: Instance) -> dict[str, list[Decimal]]:
    """Return every number of each dimension, heap limits and shared memory under memory_mb.

    The keys, sorted, are the problem's dimensions.
    """
    numbers: dict[str, list[Decimal]] = {}
    for node in instance.cluster.nodes:
        for key, value in node.resources.items():
            numbers.setdefault(key, []).extend(() if value is None else (value,))
    for topology in instance.topologies:
        for component in topology.placed_components:
            for key, value in component.resources.items():
                numbers.setdefault(dimension(key), []).append(value)
        for region in topology.shared_memory:
            numbers.setdefault(MEMORY, []).append(region.mb)
        if topology.worker_max_heap_mb is not None:
            numbers.setdefault(MEMORY, []).append(topology.worker_max_heap_mb)
    if instance.scheduler.worker_min_cpu:
        numbers.setdefault(CPU, []).append(instance.scheduler.worker_min_cpu)
    return numbers


def dimension(key: str) -> str:
    """Return the node dimension that a task's resource key loads."""
    return MEMORY if key in ("onheap_mb", "offheap_mb") else key
