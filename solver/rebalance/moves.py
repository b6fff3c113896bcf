"""The moves between two placements, by kinds: which of equal tasks goes where is left open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.structure.kept_running import without_homes
from slotwise.solver.structure.task_types import merge_twins

Place = tuple[int, int]
"""Node and label of a worker; `NOWHERE` of a task that does not run."""
NOWHERE: Place = (UNPLACED, UNPLACED)


@dataclass(frozen=True, slots=True)
class KindMove:
    """One task of a kind goes from one place to another; a parking move goes on later."""

    kind: int
    source: Place
    target: Place
    is_parking: bool = False


@dataclass(frozen=True, slots=True)
class Demand:
    """What is left to move: tasks of each (kind, place) that leave it, and that come to it."""

    leave: Counter[tuple[int, Place]]
    come: Counter[tuple[int, Place]]

    def moves(self) -> Iterator[KindMove]:
        """Yield each way to bring one task where one is wanted."""
        for kind, source in sorted(self.leave):
            for other, target in sorted(self.come):
                if other == kind:
                    yield KindMove(kind, source, target)


def kind_of_tasks(problem: Problem) -> list[int]:
    """Return the kind of each task: tasks of one kind may be exchanged, wherever they run."""
    kinds = merge_twins(without_homes(problem), CancellationToken()).members
    of_class = {c: kind for kind, group in enumerate(kinds) for c in group}
    return [of_class[c] for c in problem.task_class.tolist()]


def demand(kinds: list[int], start: Placement, end: Placement) -> Demand:
    """Return what leaves and what comes, kind by kind; equal tasks that change places cancel."""
    before = Counter(zip(kinds, zip(start.nodes, start.workers, strict=True), strict=True))
    after = Counter(zip(kinds, zip(end.nodes, end.workers, strict=True), strict=True))
    return Demand(before - after, after - before)


def parts(wanted: Demand) -> list[Demand]:
    """Return the moves in parts that share no node: each can be ordered by itself."""
    group: dict[object, object] = {}

    def root(one: object) -> object:
        while group.setdefault(one, one) != one:
            one = group[one]
        return one

    for kind, (node, _) in [*wanted.leave, *wanted.come]:
        group[root(("kind", kind))] = root(("node", node) if node != UNPLACED else ("kind", kind))
    names = sorted({root(("kind", kind)) for kind, _ in wanted.leave}, key=str)

    def own(all_of: Counter[tuple[int, Place]], name: object) -> Counter[tuple[int, Place]]:
        return Counter({key: n for key, n in all_of.items() if root(("kind", key[0])) == name})

    return [Demand(own(wanted.leave, name), own(wanted.come, name)) for name in names]
