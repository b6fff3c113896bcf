"""Without the least cpu that a worker counts: a relaxation that more engines take.

Loads only fall, so every placement stays valid and costs no more (less where cpu is soft and
overloaded), and a bound of the relaxation is one of the original. The terms are the same, and so
is which topologies may be left out. Where its placement is valid and costs as much with the least
cpu as well, its optimum is the original's.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from slotwise.models.problem.problem import Problem


def without_least_cpu(problem: Problem) -> Problem | None:
    """Return the problem whose workers count what their tasks need; ``None`` = it is that one."""
    if not problem.min_worker_cpu:
        return None
    scheduler = replace(problem.instance.scheduler, worker_min_cpu=Decimal(0))
    instance = replace(problem.instance, scheduler=scheduler)
    return replace(problem, min_worker_cpu=0, instance=instance)
