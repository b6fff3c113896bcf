"""Whether a partial placement can be completed: exactly, by solving with its tasks fixed.

A fixed task is one that runs in its place while at most 0 tasks may move: a hard rule of the
problem (``objective.limits.moved``), which every engine keeps for node and worker. Costs are left
out, so any valid placement ends the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from slotwise.heuristics.decision_log import TaskDecision
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve


class Completable(StrEnum):
    """Whether all other tasks can be placed."""

    YES = "yes"
    NO = "no"
    """Proven."""
    UNDECIDED = "undecided"
    """Not settled within the limit."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer: a whole placement that keeps the fixed tasks where it is `Completable.YES`.

    `broken` are the rules that the fixed tasks break by themselves, if any. `interrupted`: Ctrl-C
    ended the search.
    """

    answer: Completable
    placement: Placement | None = None
    broken: tuple[Violation, ...] = ()
    interrupted: bool = False


def everything_placed(instance: Instance) -> Instance:
    """Return the instance in which all tasks must be placed and nothing costs anything.

    Raises `InputError` where moves are limited: then a fixed task could not be told from one that
    runs.
    """
    if instance.objective.limits:
        raise InputError(
            "cannot be explained: tasks are fixed by the same rule",
            field="objective.limits",
            value=dict(instance.objective.limits),
        )
    objective = Objective(("linear",), instance.objective.soft, {"moved": 0})
    return replace(instance, running={}, objective=objective, linear=())


def with_fixed(instance: Instance, decisions: Iterable[TaskDecision]) -> Instance:
    """Return `everything_placed` with the tasks of `decisions` fixed in their places."""
    names = instance.task_names()
    running: dict[str, dict[str, Place]] = {}
    for one in decisions:
        topology, task = names[one.task]
        place = Place(instance.cluster.nodes[one.node].id, one.worker)
        running.setdefault(topology, {})[task] = place
    return replace(everything_placed(instance), running=running)


def partial_placement(instance: Instance, decisions: Iterable[TaskDecision]) -> Placement:
    """Return the placement of these tasks alone."""
    nodes = [UNPLACED] * len(instance.task_names())
    workers = list(nodes)
    for one in decisions:
        nodes[one.task], workers[one.task] = one.node, one.worker
    return Placement(tuple(nodes), tuple(workers))


def complete(
    instance: Instance,
    decisions: Iterable[TaskDecision],
    *,
    time_limit_s: float,
    seed: int = 0,
    workers: int = 1,
) -> Completion:
    """Return whether all tasks can be placed with those of `decisions` where these put them.

    Whether topologies may be left out does not matter here: all are to be placed.
    """
    decisions = tuple(decisions)
    problem = compile_problem(with_fixed(instance, decisions))
    partial = judge(problem, partial_placement(instance, decisions))
    broken = tuple(one for one in partial.violations if one.rule != "placed")
    if broken:  # each rule that some tasks break is broken with more tasks as well
        return Completion(Completable.NO, broken=broken)
    result = solve(problem, time_limit_s=time_limit_s, seed=seed, workers=workers)
    if result.placement is not None:
        return Completion(Completable.YES, result.placement, interrupted=result.interrupted)
    no = result.status is Status.INFEASIBLE
    answer = Completable.NO if no else Completable.UNDECIDED
    return Completion(answer, interrupted=result.interrupted)
