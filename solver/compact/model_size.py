"""The size of a compact model, computed before it is built, since building takes far longer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, WORKER, IntArray, Problem
from slotwise.solver.compact.network import both_ways, stars_of
from slotwise.solver.compact.params import (
    CP_SAT_DEFAULTS,
    MILP_DEFAULTS,
    CpSatParams,
    MilpParams,
)
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.structure.node_types import most_tasks, worker_count

BYTES_A_COUNT, BYTES_A_STEP, BYTES_A_TERM = 6_000, 4_000, 120
"""Bytes of CP-SAT's model and of its search in one thread; measured."""

BYTES_A_COLUMN, BYTES_A_SUMMAND = 5_000, 120
"""Bytes of PuLP's model with its rows, and HiGHS's copy; measured."""


UTILISATIONS = 3
"""Sets of products for ``bottleneck``: bits by node, work by node and worker, work by rack."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """The size of a compact model.

    Parameters
    ----------
    counts
        Of a class (by matrix: a task) in a worker.
    steps
        Values of the centers of stars in all places; by matrix: pairs of places of two tasks.
    shares
        Leaves beside each of these values, added up.
    terms
        Counts that these leaves are sums of, added up.
    """

    counts: int
    steps: int
    shares: int
    terms: int

    def __add__(self, other: ModelSize) -> ModelSize:
        """Return the size of both together."""
        return ModelSize(
            self.counts + other.counts,
            self.steps + other.steps,
            self.shares + other.shares,
            self.terms + other.terms,
        )


def count_size(problem: Problem, token: CancellationToken) -> ModelSize:
    """Return the size of the counts alone."""
    most = most_tasks(problem)
    single = problem.matrix is not None
    counts = sum(
        worker_count(problem, t, n, most, token)
        * sum(problem.classes[c].size if single else 1 for c in rules.classes)
        for t, rules in enumerate(problem.rules)
        for n in range(problem.node_count)
    )
    return ModelSize(counts, 0, 0, 0)


def network_size(problem: Problem, token: CancellationToken) -> ModelSize:
    """Return the size of the products of counts, or an upper bound of it."""
    parts = problem.instance.objective.parts
    kinds = ("network" in parts) + UTILISATIONS * ("bottleneck" in parts)
    if not kinds:
        return ModelSize(0, 0, 0, 0)
    if problem.matrix is not None:
        pairs = sum(problem.sizes[a] * problem.sizes[b] for a, b in both_ways(problem))
        places = pairs * problem.node_count**2
        return ModelSize(0, places, 0, 2 * places)
    most = most_tasks(problem)
    total = ModelSize(0, 0, 0, 0)
    for t, stars in stars_of(problem, token).items():
        workers = np.array(
            [worker_count(problem, t, n, most, token) for n in range(problem.node_count)],
            dtype=np.int64,
        )
        for center, leaves in stars.items():
            size = _star_size(problem, most[center], workers, problem.sizes[center])
            steps, terms = kinds * size[0], kinds * size[1]
            total += ModelSize(0, steps, steps * len(leaves), terms * len(leaves))
    return total


def _star_size(problem: Problem, most: IntArray, workers: IntArray, size: int) -> tuple[int, int]:
    """Return the values of a center in all places, and summed over them the workers there."""
    worker, node, rack, cluster = (int(problem.distance[i]) for i in (WORKER, NODE, RACK, CLUSTER))
    split = bool((workers > 1).any())
    steps = terms = 0
    if split and node != worker:
        steps, terms = int(most @ workers), int(most @ workers)
    if rack != (node if split else worker):
        steps, terms = steps + int(most.sum()), terms + int(most @ workers)
    if len(problem.racks) > 1 and cluster != rack:
        for r in range(len(problem.racks)):
            inside = problem.node_rack == r
            top = min(int(most[inside].sum()), size)
            steps, terms = steps + top, terms + top * int(workers[inside].sum())
    return steps, terms


def check_model_size(
    problem: Problem,
    token: RunToken,
    params: CpSatParams = CP_SAT_DEFAULTS,
    *,
    network: bool = True,
) -> None:
    """Refuse a problem whose compact model would be too large to build or to hold.

    Parameters
    ----------
    problem
        What is modelled.
    token
        Stops the counting, and has the memory that is left.
    params
        What is too large to build.
    network
        Whether the model has products of counts.

    Raises
    ------
    NotTakenError
        Naming the size: more than `max_counts` counts, or more memory than is left.
    """
    size = count_size(problem, token)
    if size.counts > params.max_counts:
        raise NotTakenError(
            f"the compact model would have {size.counts:,} counts of tasks in workers"
        )
    if network:
        size += network_size(problem, token)
    token.check_room(
        size.counts * BYTES_A_COUNT + size.steps * BYTES_A_STEP + size.terms * BYTES_A_TERM,
        f"a model of {size.counts:,} counts and {size.steps:,} values in products",
    )


def check_linear_size(
    problem: Problem, token: RunToken, params: MilpParams = MILP_DEFAULTS
) -> None:
    """Refuse a problem whose linear model would be too large to hold.

    Raises
    ------
    NotTakenError
        Naming the size where it takes more memory than is left.
    """
    size = count_size(problem, token) + network_size(problem, token)
    columns = min(size.counts + size.steps + size.shares, params.max_columns)
    token.check_room(
        columns * BYTES_A_COLUMN + size.terms * BYTES_A_SUMMAND,
        f"a linear model of up to {columns:,} columns",
    )


def check_columns(
    problem: Problem, token: CancellationToken, params: MilpParams = MILP_DEFAULTS
) -> None:
    """Refuse a problem whose linear model has more than `max_columns` columns, as far as is known.

    Raises
    ------
    NotTakenError
        As building the model would.
    """
    columns = 0
    for more in _columns(problem, most_tasks(problem), token):
        columns += more
        if columns > params.max_columns:
            raise NotTakenError(f"its linear model has more than {params.max_columns:,} columns")


def _columns(problem: Problem, most: IntArray, token: CancellationToken) -> Iterator[int]:
    """Yield the columns of counts, then those that say which count the center of a star has."""
    single = problem.matrix is not None
    for t, rules in enumerate(problem.rules):
        groups = {c: problem.classes[c].size if single else 1 for c in rules.classes}
        for n in range(problem.node_count):
            workers = worker_count(problem, t, n, most, token)
            yield workers * sum(size for c, size in groups.items() if most[c, n])
    nearer = problem.distance[RACK] > problem.distance[NODE]
    if single or not nearer or "network" not in problem.instance.objective.parts:
        return
    for stars in stars_of(problem, token).values():
        for center, leaves in stars.items():
            shared = (most[list(leaves)] > 0).any(axis=0)
            yield int(most[center][shared].sum())
