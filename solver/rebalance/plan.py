"""A plan: moves from the current placement to another one, in a feasible order."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.explanation.alternatives import moved
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import TaskMove, place_of, task_moves
from slotwise.models.judge.verdict import Verdict, Violation
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain
from slotwise.solver.rebalance.limited import compiled_without_running
from slotwise.solver.rebalance.order import StepByStep, ordered
from slotwise.solver.structure.matching import exchange_tasks, exchangeable_classes


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A move of a plan.

    Parameters
    ----------
    move
        The task, from where, to where.
    saves
        Term of the objective, without parts that count moves -> what this move saves after those
        before it; below 0 where it costs.
    is_parking
        Whether the task is only parked there, to make room, and moves on later.
    """

    move: TaskMove
    saves: dict[str, Fraction]
    is_parking: bool = False

    def to_document(self) -> dict[str, Any]:
        """Return the move, JSON-ready."""
        saves = {term: plain(value) for term, value in self.saves.items()}
        return self.move.to_document() | {"saves": saves, "parking": self.is_parking}


@dataclass(frozen=True, slots=True)
class MissingRoom:
    """A move for which there is no room at its turn, and the rule that it would break."""

    move: TaskMove
    violation: Violation

    @property
    def missing(self) -> Fraction:
        """The missing amount, in the user's unit."""
        return self.violation.needed - self.violation.available

    def to_document(self) -> dict[str, Any]:
        """Return the move and the missing amount, JSON-ready."""
        violation = self.violation
        rule = {"rule": violation.rule, "place": violation.place, "subject": violation.subject}
        return {"task": self.move.name} | rule | {"missing": plain(self.missing)}


@dataclass(frozen=True, slots=True)
class Plan:
    """The moves from one placement to another.

    Parameters
    ----------
    before, after
        Verdicts on the two placements, without a limit of moves.
    placement
        The second placement, equal tasks exchanged as the moves have it.
    moves
        In an order in which no state between breaks a hard rule that was not broken at the start.
    rest
        Moves without such an order; empty = all have one.
    missing
        For each move of `rest`, the rule it would break in the state where the search got furthest.
    is_proven
        Whether it is proven that `rest` has no order, with as many parking moves as were allowed.
    """

    before: Verdict
    after: Verdict
    placement: Placement
    moves: tuple[PlannedMove, ...]
    rest: tuple[TaskMove, ...] = ()
    missing: tuple[MissingRoom, ...] = ()
    is_proven: bool = True

    @property
    def is_ordered(self) -> bool:
        """Whether every move has a place in the order."""
        return not self.rest


def make_plan(
    problem: Problem,
    start: Placement,
    end: Placement,
    token: CancellationToken,
    parking: int = 0,
) -> Plan:
    """Return the moves from `start` to `end`, those that save most first where rules allow it.

    Parameters
    ----------
    problem
        Without a limit of moves.
    token
        Ends the search for an order: then all moves are in `Plan.rest`.
    parking
        Most tasks of each part of the moves that may wait elsewhere for a while.
    """
    before = judge(problem, start)
    try:
        order = ordered(problem, start, end, token, parking=parking, saves_first=True)
    except CancelledError:
        end = _fewest_moves_from(problem, start, end)
        rest = task_moves(problem, start, end)
        return Plan(before, judge(problem, end), end, (), rest, is_proven=False)
    steps = _steps(problem, start, order)
    if not order.blocked:  # the same as `end`, equal tasks exchanged
        return Plan(before, judge(problem, order.placement), order.placement, steps)
    missing = tuple(
        MissingRoom(
            _move(problem, blocked.task, order.placement, blocked.target), blocked.violation
        )
        for blocked in order.blocked
    )
    end = _fewest_moves_from(problem, order.placement, end)
    rest = task_moves(problem, order.placement, end)
    return Plan(before, judge(problem, end), end, steps, rest, missing, order.is_proven)


def _fewest_moves_from(problem: Problem, state: Placement, end: Placement) -> Placement:
    """Return `end` with equal tasks exchanged so that as many as possible stay as in `state`."""
    own = {place: place for place in zip(end.nodes, end.workers, strict=True)}
    return exchange_tasks(problem, state, end, own, exchangeable_classes(problem))


def _steps(problem: Problem, start: Placement, order: StepByStep) -> tuple[PlannedMove, ...]:
    """Return the ordered moves with what each saves."""
    costs = compiled_without_running(problem.instance)
    state, verdict = start, judge(costs, start)
    steps = []
    for task, _, target, is_parking in order.moves:
        move = _move(problem, task, state, target)
        state = moved(state, task, *target)
        after = judge(costs, state)
        pairs = zip(verdict.objective, after.objective, strict=True)
        saves = {one.term: one.value - other.value for one, other in pairs}
        steps.append(PlannedMove(move, saves, is_parking))
        verdict = after
    return tuple(steps)


def _move(problem: Problem, task: int, state: Placement, target: tuple[int, int]) -> TaskMove:
    name = "/".join(problem.instance.task_names()[task])
    source = (state.nodes[task], state.workers[task])
    return TaskMove(task, name, place_of(problem, *source), place_of(problem, *target))
