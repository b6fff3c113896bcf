"""Tasks that run nowhere, and a quick first placement of them.

It loads no engine, so that the first answer comes at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from slotwise.api.inputs import TEXT, PlacementLike, is_text
from slotwise.api.paths import path_of
from slotwise.api.plain_data import plain_data
from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.errors import in_file
from slotwise.models.formats.given_placement import (
    given_placement_from_data,
    is_answer,
    of_larger_cluster,
)
from slotwise.models.formats.text import parse_text, read_data
from slotwise.models.instance.instance import Instance, Place, Running
from slotwise.models.instance.placement import Placement, places_from_data, to_places
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
        Where it ran, on a lost machine; ``None`` = it never ran.
    """

    task: int
    name: str
    was: Place | None

    def __repr__(self) -> str:
        """One line: the task and where it ran."""
        return self.name if self.was is None else f"{self.name} (was {self.was.node})"


@dataclass(frozen=True, slots=True)
class FirstPlaces:
    """First places of the orphans, not yet optimised.

    Parameters
    ----------
    orphans
        The tasks that run nowhere, at least one.
    verdict
        The judge's verdict on the placement, without a limit of moves; ``None`` = none was found.
    """

    orphans: tuple[Orphan, ...]
    verdict: Verdict | None

    @property
    def moves(self) -> int | None:
        """Number of running tasks that the placement also moves; ``None`` without one."""
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


def first_places(
    instance: Instance, max_moves: int | None, token: CancellationToken
) -> FirstPlaces:
    """Return places of the orphans with no other task moved, or else with the moves allowed.

    Parameters
    ----------
    instance
        With `running`, and orphans.
    max_moves
        Most other tasks that may move; ``None`` = the instance's own limit, if any.
    token
        Ends the search: then none were found.
    """
    orphans, base = orphans_of(instance), with_limit(instance, None)
    for limit in (0, least_limit(instance, max_moves)):
        problem = with_limit(instance, limit)
        try:
            placement = first_placement(problem, token)
        except CancelledError:
            break
        if placement is not None and judge(problem, placement).valid:
            return FirstPlaces(orphans, judge(base, placement))
    return FirstPlaces(orphans, None)


def least_limit(instance: Instance, most: int | None) -> int | None:
    """Return the limit of moves: the given one, or the instance's own if that is less."""
    limits = [instance.objective.limits.get("moved"), most]
    return min((one for one in limits if one is not None), default=None)


# Where tasks run now, as users pass it in: also a placement of a cluster with more nodes.


def as_running_places(given: PlacementLike, instance: Instance) -> Running:
    """Return `given` as places by name.

    Parameters
    ----------
    given
        As in `read_placement`, or a placement of a cluster with more nodes than the instance's.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    if isinstance(given, Placement):
        return to_places(instance, given)
    if isinstance(given, Mapping):
        data, file = plain_data(given), ""
        is_file = isinstance(data.get("format"), str) or isinstance(data.get("refused"), str)
        if not (is_file or is_answer(data)):
            return places_from_data(data)
    elif is_text(given):
        file = TEXT
        with in_file(TEXT):
            data = parse_text(str(given))
    else:
        data, file = read_data(path_of(given, "placement", "a path, a dict, text or a Placement"))
    with in_file(file):
        data, larger = of_larger_cluster(data, instance)
        read = given_placement_from_data(data, larger)
    if read.note is not None and larger is instance:
        warnings.warn(f"{file}: {read.note}" if file else read.note, UserWarning, stacklevel=3)
    return to_places(larger, read.placement)
