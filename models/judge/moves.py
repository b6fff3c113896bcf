"""What runs now, judged; and the tasks that a placement moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slotwise.models.instance.placement import UNPLACED, Placement, from_places
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class TaskMove:
    """A task that is elsewhere in a second placement.

    Parameters
    ----------
    task
        Its index.
    name
        ``topology/component[index]``.
    before, after
        Id of the node and label of the worker in either placement; ``None`` = it has no place
        there.
    """

    task: int
    name: str
    before: tuple[str, int] | None
    after: tuple[str, int] | None

    def __repr__(self) -> str:
        """One line: the task, from where, to where."""
        return f"{self.name}: {_text(self.before)} -> {_text(self.after)}"

    def to_document(self) -> dict[str, Any]:
        """Return ``{"task", "from", "to"}``, JSON-ready; a place has `node` and `worker`."""
        return {"task": self.name, "from": _document(self.before), "to": _document(self.after)}


def task_moves(problem: Problem, first: Placement, second: Placement) -> tuple[TaskMove, ...]:
    """Return the tasks that are elsewhere in `second`, in the instance's order."""
    before = zip(first.nodes, first.workers, strict=True)
    after = zip(second.nodes, second.workers, strict=True)
    moved = [
        (task, here, there)
        for task, (here, there) in enumerate(zip(before, after, strict=True))
        if here != there
    ]
    names = problem.instance.task_names() if moved else ()
    return tuple(_move(problem, names, *one) for one in moved)


def task_move(problem: Problem, first: Placement, second: Placement, task: int) -> TaskMove:
    """Return the move of one task from `first` to `second`."""
    source, target = ((one.nodes[task], one.workers[task]) for one in (first, second))
    return _move(problem, problem.instance.task_names(), task, source, target)


def running_placement(problem: Problem) -> Placement | None:
    """Return where tasks run now; ``None`` where the instance has no `running`."""
    running = problem.instance.still_running
    if running is None:
        return None
    return from_places(problem.instance, running)


def judged_running(problem: Problem) -> Verdict | None:
    """Return what the judge says of what runs now; ``None`` where the instance has no `running`.

    Tasks that do not run yet have no place: the rule ``placed`` names their topologies.
    """
    running = running_placement(problem)
    return None if running is None else judge(problem, running)


def moves_from_running(problem: Problem, placement: Placement) -> tuple[TaskMove, ...]:
    """Return the tasks that run now, and elsewhere in `placement`: those that ``moved`` counts."""
    running = running_placement(problem)
    if running is None:
        return ()
    moves = task_moves(problem, running, placement)
    return tuple(move for move in moves if move.before is not None)


def _move(
    problem: Problem,
    names: Sequence[tuple[str, str]],
    task: int,
    source: tuple[int, int],
    target: tuple[int, int],
) -> TaskMove:
    return TaskMove(
        task, "/".join(names[task]), place_of(problem, *source), place_of(problem, *target)
    )


def place_of(problem: Problem, node: int, worker: int) -> tuple[str, int] | None:
    """Return the id of a node and the label of a worker; ``None`` = no place."""
    return None if node == UNPLACED else (problem.instance.cluster.nodes[node].id, worker)


def _document(place: tuple[str, int] | None) -> dict[str, Any] | None:
    return None if place is None else {"node": place[0], "worker": place[1]}


def _text(place: tuple[str, int] | None) -> str:
    return "nowhere" if place is None else f"{place[0]}/{place[1]}"
