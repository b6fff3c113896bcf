"""What a method decided, in order: which task it put where, and which it took back."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """A task (its index in canonical order) put into a worker (its label) of a node (its index)."""

    task: int
    node: int
    worker: int


@dataclass(slots=True)
class _Furthest:
    """The longest sequence of decisions that stood at any one time."""

    decisions: tuple[TaskDecision, ...] = ()


@dataclass(slots=True)
class DecisionLog:
    """The decisions that stand, in the order in which they were made, and the most that ever did.

    A method that steps back takes decisions back (`remove`); one that tries something on a copy of
    its state works on a `copy` of the log. All copies know one `furthest`.
    """

    _standing: dict[int, TaskDecision] = field(default_factory=dict)
    _furthest: _Furthest = field(default_factory=_Furthest)

    @property
    def standing(self) -> tuple[TaskDecision, ...]:
        """The decisions that stand now."""
        return tuple(self._standing.values())

    @property
    def furthest(self) -> tuple[TaskDecision, ...]:
        """The longest sequence that stood at any one time, in any copy; the latest of several."""
        self._keep()
        return self._furthest.decisions

    def put(self, task: int, node: int, worker: int) -> None:
        """Note that `task` was put into `worker` of `node`; a task that was elsewhere has moved."""
        if task in self._standing:
            self.remove(task)
        self._standing[task] = TaskDecision(task, node, worker)

    def remove(self, task: int) -> None:
        """Note that `task` has no place any more."""
        self._keep()
        del self._standing[task]

    def copy(self) -> DecisionLog:
        """Return a log in which the same decisions stand, for a copy of the method's state."""
        self._keep()
        return DecisionLog(dict(self._standing), self._furthest)

    def _keep(self) -> None:
        if len(self._standing) >= len(self._furthest.decisions):
            self._furthest.decisions = tuple(self._standing.values())
