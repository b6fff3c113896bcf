"""Moves from one placement to another, and those among them that change the cost most."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from slotwise.models.explanation.alternatives import moved
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import TaskMove, task_move
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.problem import Problem

MOST_STEPS = 5
"""Moves that are picked to explain the difference."""

MOST_TRIED = 60
"""Moves that are tried for each pick, the first ones; more differ in too much to explain."""


@dataclass(frozen=True, slots=True)
class Step:
    """A move on the way from the dearer placement to the cheaper one.

    Parameters
    ----------
    move
        The move, from the dearer placement to the cheaper one.
    objective
        Term -> value after it and all steps before it.
    broken
        Rules that are broken then.
    """

    move: TaskMove
    objective: dict[str, Fraction]
    broken: tuple[Violation, ...] = ()


def telling_steps(
    problem: Problem, start: Placement, end: Placement, tasks: list[int]
) -> tuple[Step, ...]:
    """Return the moves that lower the objective most, one after another."""
    now, left = start, tasks[:MOST_TRIED]
    value, goal = judge(problem, now).scaled, judge(problem, end).scaled
    steps: list[Step] = []
    while left and value > goal and len(steps) < MOST_STEPS:
        tried = {task: moved(now, task, end.nodes[task], end.workers[task]) for task in left}
        verdicts = {task: judge(problem, placement) for task, placement in tried.items()}
        best = min(left, key=lambda task: verdicts[task].scaled)
        if verdicts[best].scaled >= value:
            break
        now, value = tried[best], verdicts[best].scaled
        left.remove(best)
        objective = {term.term: term.value for term in verdicts[best].objective}
        broken = verdicts[best].violations
        steps.append(Step(task_move(problem, start, end, best), objective, tuple(broken)))
    return tuple(steps)
