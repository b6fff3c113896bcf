"""Compile-time proof that no sum leaves 64 bits and no term leaves the integers of a double."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from slotwise.models.errors import InputError
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT

SUM_LIMIT = 2**62
TERM_LIMIT = 2**53


def check_resolution(what: str, numbers: Iterable[Decimal], unit: Fraction) -> None:
    """Refuse, by name, numbers of which one has 2^62 steps of `unit` or more.

    Before any array is made: NumPy refuses such numbers without a name, and `NO_LIMIT` is 2^62.
    """
    _below(SUM_LIMIT, int(Fraction(max(numbers, default=Decimal(0))) / unit), what, "2^62")


def check_sizes(problem: Problem) -> None:
    """Refuse, by name, a dimension or term too large for exact arithmetic.

    Raises
    ------
    InputError
        Naming the dimension or term, its largest possible value and what to do.
    """
    loads = _largest_loads(problem)
    for index, name in enumerate(problem.dims):
        capacities = [int(c) for c in problem.capacity[:, index] if c != NO_LIMIT]
        _below(SUM_LIMIT, max(loads[index], sum(capacities)), f"resource {name}", "2^62")
    for part, total in _largest_parts(problem, loads).items():
        _below(SUM_LIMIT, total, f"objective part {part}", "2^62")
    for term, total in zip(problem.terms, largest_terms(problem), strict=True):
        _below(TERM_LIMIT, total, f"objective term {term.name}", "2^53")


def largest_terms(problem: Problem) -> tuple[int, ...]:
    """Return, per term, a value in its integer steps that no placement can exceed."""
    most = _largest_parts(problem, _largest_loads(problem))
    return tuple(
        sum(multiplier * most[part] for part, multiplier in term.parts) for term in problem.terms
    )


def _largest_parts(problem: Problem, loads: list[int]) -> dict[str, int]:
    return {
        "network": _largest_network(problem),
        "linear": 0 if problem.linear is None else int(problem.linear.max()) * problem.task_count,
        "overload": sum(int(w) * load for w, load in zip(problem.soft_weight, loads, strict=True)),
        "rejected": sum(rule.reject_weight for rule in problem.rules),
        "nodes": problem.node_count,
        "workers": problem.task_count,
        "moved": problem.task_count,
        "bottleneck": 0 if problem.workload is None else problem.workload.largest,
    }


def _largest_loads(problem: Problem) -> list[int]:
    """Return, per dimension, a load that no cluster-wide sum can exceed."""
    tasks = problem.task_count
    loads = [
        sum(int(d) * size for d, size in zip(problem.demand[:, i], problem.sizes, strict=True))
        for i in range(len(problem.dims))
    ]
    if problem.memory is not None:
        loads[problem.memory] += tasks * sum(region.size for region in problem.regions)
    if problem.cpu is not None:
        loads[problem.cpu] += tasks * problem.min_worker_cpu
    return loads


def _largest_network(problem: Problem) -> int:
    sizes = problem.sizes
    farthest = int((problem.distance if problem.matrix is None else problem.matrix).max())
    pairs = sum(flow.weight * sizes[flow.source] * sizes[flow.target] for flow in problem.flows)
    return pairs * farthest


def _below(limit: int, total: int, what: str, shown: str) -> None:
    if total >= limit:
        raise InputError(
            f"could reach {shown} at the resolution of its decimals; use a coarser unit",
            field=what,
            value=total,
        )
