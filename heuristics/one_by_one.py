"""Topologies scheduled one after another, each on what the earlier ones have left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import zip_longest

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.partial_placement import Ledger
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem


def place_one_by_one(
    problem: Problem,
    hard: Collection[int],
    place: Callable[[Ledger, int], str | None],
    *,
    order: Iterable[int] | None = None,
    failed_consume: bool = False,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return what `place` makes of the topologies.

    Parameters
    ----------
    hard
        Dimensions that are never exceeded.
    place
        (ledger, topology) -> ``None`` once all its tasks are in the ledger, or why it cannot be
        placed. Then it is left out whole where the objective counts ``rejected``; else that is
        the reason of the refusal.
    order
        Of the topologies; ``None`` = the instance's.
    failed_consume
        Whether what `place` has put on nodes for a topology that is left out stays counted there.
    log
        Where to note what is placed and taken out; ``None`` = nowhere.
    """
    ledger = Ledger(problem, hard, log)
    for t in range(len(problem.rules)) if order is None else order:
        reason = place(ledger, t)
        if reason is not None and not problem.may_reject:
            return Refusal(f"topology {problem.rules[t].id}: {reason}")
        if reason is None:
            continue
        if failed_consume:
            ledger.take_out(t)
        else:
            ledger = ledger.without(t)
    return ledger.placement()


def one_of_each_in_turn(queues: Iterable[Iterable[int]]) -> list[int]:
    """Return the tasks: one of each queue in turn, until all are taken."""
    rounds = zip_longest(*queues)
    return [task for taken in rounds for task in taken if task is not None]


def no_room(problem: Problem, task: int) -> str:
    """Return the reason of a topology with a task that fits nowhere."""
    return f"no node has room for task {problem.instance.task_names()[task][1]}"


def hard_with_memory(problem: Problem) -> set[int]:
    """Return the hard dimensions and memory, which R-Storm never exceeds."""
    hard = {d for d, is_hard in enumerate(problem.hard.tolist()) if is_hard}
    return hard if problem.memory is None else hard | {problem.memory}
