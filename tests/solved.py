"""Tiny instances with their truth, which exhaustive search finds once for all tests of a process.

Tests that compare something with the truth on any tiny instances share these; tests that need
instances of their own kind draw their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from slotwise.models.instance.instance import Instance
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing.random_instances.tiny import tiny_instance

SEED = 20260501


@dataclass(frozen=True, slots=True)
class Solved:
    """An instance, its problem, and its optimum or that there is none."""

    number: int
    instance: Instance
    problem: Problem
    truth: Outcome


@cache
def solved(number: int, seed: int = SEED) -> Solved:
    """Return one; a test that fails on it names its number."""
    instance = tiny_instance(np.random.default_rng((seed, number)))
    problem = compile_problem(instance)
    truth = EXHAUSTIVE.run(problem, Limits(time_s=60.0), None)
    assert truth.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return Solved(number, instance, problem, truth)


def first_solved(count: int) -> Iterator[Solved]:
    """Yield the first ones."""
    return map(solved, range(count))
