"""The judge of partitions: cut, loads and broken rules, in whole numbers and without a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from slotwise.models.errors import InputError
from slotwise.models.graph_partition.problem import PartitionProblem


@dataclass(frozen=True, slots=True)
class PartitionVerdict:
    """What a partition costs, and which rules it breaks.

    Parameters
    ----------
    cut
        Weight of the edges between different parts, each counted once.
    loads
        Vertex weight of each part.
    balance
        The largest load over its share in perfect balance: 1 is perfect, 0 where nothing weighs
        anything. For parts of equal size that is METIS's balance.
    violations
        One line for each broken rule; empty where the partition is valid.
    """

    cut: int
    loads: tuple[int, ...]
    balance: Fraction
    violations: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether every vertex is in one of the parts, and none of these is over its capacity."""
        return not self.violations


def judge_partition(problem: PartitionProblem, part: Sequence[int]) -> PartitionVerdict:
    """Recompute the cut and the loads of a partition, and check every rule.

    Parameters
    ----------
    part
        Of each vertex, the index of its part.

    Raises
    ------
    InputError
        When it has more or fewer entries than the graph has vertices.

    Examples
    --------
    >>> path = PartitionProblem((1, 1, 2), ((0, 1, 5), (1, 2, 3)), (2, 2))
    >>> judge_partition(path, [0, 0, 1])
    PartitionVerdict(cut=3, loads=(2, 2), balance=Fraction(1, 1), violations=())
    >>> judge_partition(path, [0, 1, 1]).violations
    ('part 1 weighs 3, more than 2',)
    """
    count, parts = len(problem.weights), len(problem.capacities)
    if len(part) != count:
        rule = f"must have an entry for each of the {count} vertices"
        raise InputError(rule, field="part", value=f"{len(part)} entries")
    loads = [0] * parts
    violations = []
    for vertex, (own, weight) in enumerate(zip(part, problem.weights, strict=True)):
        if 0 <= own < parts:
            loads[own] += weight
        else:
            violations.append(f"vertex {vertex} is in part {own}, not in 0 to {parts - 1}")
    for own, (load, capacity) in enumerate(zip(loads, problem.capacities, strict=True)):
        if load > capacity:
            violations.append(f"part {own} weighs {load}, more than {capacity}")
    cut = sum(weight for low, high, weight in problem.edges if part[low] != part[high])
    shares = zip(loads, problem.shares, strict=True)
    balance = max(Fraction(load) / share if share else Fraction(0) for load, share in shares)
    return PartitionVerdict(cut, tuple(loads), balance, tuple(violations))
