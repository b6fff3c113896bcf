"""Tasks that run nowhere, and places for them at once.

It loads no engine, so that the first answer does not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.solver.orphans.first_placement import first_placement
from slotwise.solver.rebalance.limited import with_limit


@dataclass(frozen=True, slots=True)
class Orphan:
    """A task that runs nowhere.

    Parameters
    ----------
    task
        Its index.
    name
        ``topology/component[index]``.
    was
        Where it ran, on a machine that is gone; ``None`` = it never ran.
    """

    task: int
    name: str
    was: Place | None

    def __repr__(self) -> str:
        """One line: the task and where it ran."""
        return self.name if self.was is None else f"{self.name} (was {self.was.node})"


@dataclass(frozen=True, slots=True)
class FirstPlaces:
    """Places of the orphans, found at once and not yet the best.

    Parameters
    ----------
    orphans
        The tasks that run nowhere, at least one.
    verdict
        What the judge says of the placement, without a limit of moves; ``None`` = none was found so
        far.
    """

    orphans: tuple[Orphan, ...]
    verdict: Verdict | None

    @property
    def moves(self) -> int | None:
        """Running tasks that the placement moves besides; ``None`` without one."""
        return None if self.verdict is None else int(self.verdict.parts["moved"])


def orphans_of(instance: Instance) -> tuple[Orphan, ...]:
    """Return the tasks that run nowhere, in the instance's order; none where nothing runs."""
    if instance.running is None:
        return ()
    still, before = instance.still_running or {}, instance.running
    return tuple(
        Orphan(index, f"{topology}/{task}", before.get(topology, {}).get(task))
        for index, (topology, task) in enumerate(instance.task_names())
        if task not in still.get(topology, {})
    )


def first_places(instance: Instance, max_moves: int | None) -> FirstPlaces:
    """Return places of the orphans with no other task moved, or else with the moves allowed.

    Parameters
    ----------
    instance
        With `running`, and orphans.
    max_moves
        Most other tasks that may move; ``None`` = the instance's own limit, if any.
    """
    orphans, base = orphans_of(instance), with_limit(instance, None)
    for limit in (0, least_limit(instance, max_moves)):
        problem = with_limit(instance, limit)
        placement = first_placement(problem, CancellationToken())
        if placement is not None and judge(problem, placement).valid:
            return FirstPlaces(orphans, judge(base, placement))
    return FirstPlaces(orphans, None)


def least_limit(instance: Instance, most: int | None) -> int | None:
    """Return the limit of moves: the given one, or the instance's own if that is less."""
    limits = [instance.objective.limits.get("moved"), most]
    return min((one for one in limits if one is not None), default=None)
