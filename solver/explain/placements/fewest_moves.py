"""The valid placement nearest to a broken or partial one: the fewest tasks that must move."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement, to_places
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve


@dataclass(frozen=True, slots=True)
class FewestMoves:
    """A valid placement near another one.

    Parameters
    ----------
    status
        ``optimal``: no valid placement is nearer. ``infeasible``: there is none at all.
    placement
        The nearest that was found; ``None`` without one.
    moved, placed
        Indices of the tasks that it moves, and of those that had no place.
    interrupted
        Whether Ctrl-C ended the search.
    """

    status: Status
    placement: Placement | None
    moved: tuple[int, ...] = ()
    placed: tuple[int, ...] = ()
    interrupted: bool = False


def fewest_moves(
    instance: Instance,
    placement: Placement,
    *,
    time_limit_s: float,
    seed: int = 0,
    workers: int = 1,
) -> FewestMoves | None:
    """Return the valid placement that differs from `placement` in the fewest tasks.

    ``None`` where the instance limits moves of what runs: the same rule would be needed twice.
    """
    if instance.objective.limits:
        return None
    terms = ("moved", "rejected") if "rejected" in instance.objective.parts else ("moved",)
    near = replace(
        instance,
        running=to_places(instance, placement),
        objective=Objective(terms, instance.objective.soft),
        linear=(),
    )
    result = solve(near, time_limit_s=time_limit_s, seed=seed, workers=workers)
    if result.placement is None:
        return FewestMoves(result.status, None, interrupted=result.interrupted)
    before = zip(placement.nodes, placement.workers, strict=True)
    after = zip(result.placement.nodes, result.placement.workers, strict=True)
    changed = [
        (task, old) for task, (old, new) in enumerate(zip(before, after, strict=True)) if old != new
    ]
    return FewestMoves(
        status=result.status,
        placement=result.placement,
        moved=tuple(task for task, (node, _) in changed if node != UNPLACED),
        placed=tuple(task for task, (node, _) in changed if node == UNPLACED),
        interrupted=result.interrupted,
    )
