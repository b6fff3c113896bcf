"""The decisions of a method, in order: tasks placed, and placements undone."""

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
    """The longest sequence in force at any time: `decisions`, or those in force in `log`."""

    length: int = 0
    decisions: tuple[TaskDecision, ...] = ()
    log: DecisionLog | None = None


@dataclass(slots=True)
class DecisionLog:
    """The decisions in force, in the order in which they were made, and the longest such sequence.

    A method that backtracks undoes decisions (`remove`); one that tries something on a copy of its
    state works on a `copy` of the log. All copies share one `furthest`.
    """

    _standing: dict[int, TaskDecision] = field(default_factory=dict)
    _furthest: _Furthest = field(default_factory=_Furthest, repr=False)

    @property
    def standing(self) -> tuple[TaskDecision, ...]:
        """The decisions in force now."""
        return tuple(self._standing.values())

    @property
    def furthest(self) -> tuple[TaskDecision, ...]:
        """The longest sequence in force at any time, in any copy; the latest of several."""
        most = self._furthest
        return most.decisions if most.log is None else most.log.standing

    def put(self, task: int, node: int, worker: int) -> None:
        """Record that `task` was put into `worker` of `node`, moved there if it had a place."""
        if task in self._standing:
            self.remove(task)
        self._standing[task] = TaskDecision(task, node, worker)
        if len(self._standing) >= self._furthest.length:
            self._furthest.length, self._furthest.log = len(self._standing), self

    def remove(self, task: int) -> None:
        """Record that `task` was removed from its place."""
        self._keep()
        del self._standing[task]

    def copy(self) -> DecisionLog:
        """Return a log with the same decisions, for a copy of the method's state."""
        return DecisionLog(dict(self._standing), self._furthest)

    def adopt(self, other: DecisionLog) -> None:
        """Take over the decisions of `other`, the log of the copy that the method continues."""
        self._keep()
        self._standing = dict(other._standing)

    def _keep(self) -> None:
        """Save the furthest sequence if it is the present one, which is about to change."""
        if self._furthest.log is self:
            self._furthest.decisions, self._furthest.log = self.standing, None
