"""The least cut of a graph in parts of limited weight, proven by any engine of placement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from slotwise.models.errors import InputError, InternalError
from slotwise.models.graph_partition import (
    PartitionProblem,
    PartitionVerdict,
    instance_of,
    judge_partition,
    part_of,
    placement_of,
)
from slotwise.models.instance.instance import Instance
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.progress import OnProgress
from slotwise.solver.core.result import Result, Status
from slotwise.solver.parameters import Parameters

MOST_VERTICES = 20_000
MOST_EDGES = 200_000
"""Of a graph that is proven; reading and compiling a larger one takes minutes, and no engine
takes it."""

MOST_PAIRED_VERTICES = 40
"""The compact models of a graph of at most this size have a choice for each pair of vertices; their
rows grow with its cube."""


@dataclass(frozen=True, slots=True)
class PartitionResult:
    """The least cut of a graph that was found, and what is proven about it.

    Parameters
    ----------
    problem
        The graph and the capacities of the parts.
    status
        See `Status`; ``infeasible``: no partition keeps the capacities.
    part
        Of each vertex, the index of its part; ``None`` where there is no partition.
    value
        The cut, as the judge recomputes it; ``None`` without a partition.
    bound
        A weight that no partition cuts less than, whole and proven; ``None`` = nothing is proven.
    reason
        Why there is no partition, in a sentence; empty where there is one.
    verdict
        The judge's verdict on `part`; ``None`` without one.
    instance, placed
        The same as a placement: what `solve` was given and its result, with engine, version,
        limits and proofs. Certificates are made of these two.
    """

    problem: PartitionProblem
    status: Status
    part: tuple[int, ...] | None
    value: int | None
    bound: int | None
    reason: str
    verdict: PartitionVerdict | None
    instance: Instance
    placed: Result

    def __repr__(self) -> str:
        """One line: status, cut and bound, by which engine."""
        cut = "no partition" if self.value is None else f"cut {self.value}"
        bound = "none" if self.bound is None else self.bound
        return f"PartitionResult: {self.status}, {cut} (bound {bound}) by {self.placed.engine}"


def solve_partition(
    problem: PartitionProblem,
    *,
    engine: str | Engine = "auto",
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    start: Sequence[int] | None = None,
    on_progress: OnProgress | None = None,
    name: str = "partition",
) -> PartitionResult:
    """Return the best partition found within the limits and what is proven about it.

    Parameters
    ----------
    problem
        What to partition.
    engine, time_limit_s, workers, seed, memory_limit_mb, on_progress
        As in `solver.solve.solve`.
    start
        Of each vertex, its part in a partition to start from; it need not be valid. ``None`` =
        none.
    name
        Of the instance, for people.

    Raises
    ------
    InputError
        For a graph of more than `MOST_VERTICES` or `MOST_EDGES`, an argument out of range, or an
        engine that does not take the graph.
    InternalError
        When the judge contradicts the engine.

    Examples
    --------
    >>> square = PartitionProblem((1,) * 4, ((0, 1, 2), (1, 2, 1), (2, 3, 2), (0, 3, 1)), (2, 2))
    >>> solve_partition(square, engine="exhaustive")
    PartitionResult: optimal, cut 2 (bound 2) by exhaustive
    """
    from slotwise.solver.solve import solve  # loads every engine: a second

    check_size(len(problem.weights), len(problem.edges))
    instance = instance_of(problem, name)
    if start is not None:
        judge_partition(problem, start)  # refuses the partition of another graph
    placed = solve(
        instance,
        engine=engine,
        time_limit_s=time_limit_s,
        workers=workers,
        seed=seed,
        memory_limit_mb=memory_limit_mb,
        hint=None if start is None else placement_of(problem, start),
        on_progress=on_progress,
        parameters=_parameters(engine),
    )
    (network,) = placed.objective
    part = None if placed.placement is None else part_of(problem, placed.placement)
    verdict = None if part is None else judge_partition(problem, part)
    if verdict is not None and (not verdict.valid or verdict.cut != network.value):
        rule = f"cost {network.value} as a placement, as a partition {verdict}"
        raise InternalError(f"{placed.engine}: {rule}")
    return PartitionResult(
        problem=problem,
        status=placed.status,
        part=part,
        value=None if verdict is None else verdict.cut,
        bound=_bound_of(placed),
        reason="" if part is not None else _reason(problem, placed),
        verdict=verdict,
        instance=instance,
        placed=placed,
    )


def _parameters(engine: str | Engine) -> dict[str, Parameters]:
    """Return what a compact model goes by here."""
    from slotwise.solver.compact.params import CpSatParams, MilpParams

    if engine == "cp-sat":
        return {engine: CpSatParams(max_pair_tasks=MOST_PAIRED_VERTICES)}
    if engine == "milp":
        return {engine: MilpParams(max_pair_tasks=MOST_PAIRED_VERTICES)}
    return {}


def _bound_of(placed: Result) -> int | None:
    """Return the bound of the cut, which is whole; nothing bounds what does not exist."""
    bound = placed.objective[0].bound
    return None if bound is None or placed.status is Status.INFEASIBLE else ceil(bound)


def check_size(vertices: int, edges: int) -> None:
    """Raise `InputError` for a graph of more than `MOST_VERTICES` or `MOST_EDGES`."""
    counted = (("vertices", vertices, MOST_VERTICES), ("edges", edges, MOST_EDGES))
    for field, count, most in counted:
        if count > most:
            rule = f"must be at most {most:,} for a proof; use a partitioner, for example metis"
            raise InputError(rule, field=field, value=count)


def _reason(problem: PartitionProblem, placed: Result) -> str:
    """Return why there is no partition; reasons that need no search come first."""
    if placed.status is not Status.INFEASIBLE:
        return "no partition within the limits was found, nor proven impossible"
    heaviest = max(range(len(problem.weights)), key=problem.weights.__getitem__)
    weight, largest = problem.weights[heaviest], max(problem.capacities)
    if weight > largest:
        who = f"vertex {heaviest} (counted from 0)"
        return f"{who} weighs {weight}, more than the {largest} that a part may hold"
    total, room = problem.vertex_weight, sum(problem.capacities)
    if total > room:
        return f"all vertices weigh {total}, more than the {room} that all parts may hold"
    return f"no partition keeps every part within its capacity, proven by {placed.engine}"
