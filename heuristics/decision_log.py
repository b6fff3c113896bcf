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
    """The longest sequence that stood at any one time: `decisions`, or all that stand in `log`."""

    length: int = 0
    decisions: tuple[TaskDecision, ...] = ()
    log: DecisionLog | None = None


@dataclass(slots=True)
class DecisionLog:
    """The decisions that stand, in the order in which they were made, and the most that ever did.

    A method that steps back takes decisions back (`remove`); one that tries something on a copy of
    its state works on a `copy` of the log. All copies know one `furthest`.
    """

    _standing: dict[int, TaskDecision] = field(default_factory=dict)
    _furthest: _Furthest = field(default_factory=_Furthest, repr=False)

    @property
    def standing(self) -> tuple[TaskDecision, ...]:
        """The decisions that stand now."""
        return tuple(self._standing.values())

    @property
    def furthest(self) -> tuple[TaskDecision, ...]:
        """The longest sequence that stood at any one time, in any copy; the latest of several."""
        most = self._furthest
        return most.decisions if most.log is None else most.log.standing

    def put(self, task: int, node: int, worker: int) -> None:
        """Note that `task` was put into `worker` of `node`; a task that was elsewhere has moved."""
        if task in self._standing:
            self.remove(task)
        self._standing[task] = TaskDecision(task, node, worker)
        if len(self._standing) >= self._furthest.length:
            self._furthest.length, self._furthest.log = len(self._standing), self

    def remove(self, task: int) -> None:
        """Note that `task` has no place any more."""
        self._keep()
        del self._standing[task]

    def copy(self) -> DecisionLog:
        """Return a log in which the same decisions stand, for a copy of the method's state."""
        return DecisionLog(dict(self._standing), self._furthest)

    def adopt(self, other: DecisionLog) -> None:
        """Take over what stands in `other`, the copy of a state that the method goes on with."""
        self._keep()
        self._standing = dict(other._standing)

    def _keep(self) -> None:
        """Write down the furthest point where it is what stands here, which is about to change."""
        if self._furthest.log is self:
            self._furthest.decisions, self._furthest.log = self.standing, None
