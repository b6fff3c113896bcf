"""The rules that one topology sets for its workers and nodes, compiled."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rules:
    """What one topology asks of its workers and nodes.

    Parameters
    ----------
    id
        The topology's id.
    classes
        Its classes.
    heap_limit
        Most on-heap memory of a worker in memory units; `NO_LIMIT` = none.
    one_task_per_worker, one_component_per_worker
        Worker isolation; when the first holds, the second follows.
    incompatible
        Pairs of component indices that share no worker; (c, c) = at most one task of c in one.
    conflicts
        `incompatible` compiled: each pair in both orders.
    max_per_node
        (component index, most tasks of it on a node).
    reject_weight
        What leaving the topology out costs in the term ``rejected``: 1 for the lowest priority
        of the instance, one more per step of priority above it.
    """

    id: str
    classes: tuple[int, ...]
    heap_limit: int
    one_task_per_worker: bool
    one_component_per_worker: bool
    incompatible: tuple[tuple[int, int], ...]
    max_per_node: tuple[tuple[int, int], ...]
    reject_weight: int
    conflicts: frozenset[tuple[int, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the incompatible pairs, in both orders."""
        pairs = frozenset(p for a, b in self.incompatible for p in ((a, b), (b, a)))
        object.__setattr__(self, "conflicts", pairs)

    @property
    def isolates(self) -> bool:
        """Whether any rule but the heap limit keeps tasks from sharing a worker."""
        return self.one_task_per_worker or self.one_component_per_worker or bool(self.conflicts)

    def keeps_apart(self, a: int, b: int) -> bool:
        """Return whether a task of component `a` and another of `b` never share a worker.

        By isolation or incompatibility; `a` may be `b`. Heap limits play no part.
        """
        return (
            self.one_task_per_worker
            or (self.one_component_per_worker and a != b)
            or (a, b) in self.conflicts
        )
