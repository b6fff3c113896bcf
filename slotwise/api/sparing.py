"""Whether a cluster could lose a machine or a rack, computed ahead of time."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Unpack

from slotwise.api.exit_code import Exit
from slotwise.api.inputs import (
    NEEDS_RUNNING,
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_instance,
    warn_of_lost_nodes,
)
from slotwise.api.orphans import as_running_places
from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import without_nodes as without
from slotwise.models.values import whole
from slotwise.solver.core.limited import checked_limits
from slotwise.solver.core.supervision import counted_presses
from slotwise.solver.rebalance.spare import Loss, losses


@dataclass(frozen=True, slots=True)
class Spare:
    """The consequences for the tasks when a machine or a rack dies.

    Parameters
    ----------
    given
        The instance.
    losses
        Every single machine, and every rack where there are several; the worst first.
    seconds
        Wall-clock time.
    interrupted
        Whether Ctrl-C ended the search.
    """

    given: Instance
    losses: tuple[Loss, ...]
    seconds: float
    interrupted: bool = False

    @property
    def worst(self) -> str:
        """The status of the worst loss; ``placed`` where there is none."""
        return self.losses[0].status if self.losses else "placed"

    @property
    def exit_code(self) -> Exit:
        """Of ``rebalance --spare``: failed where a loss leaves tasks without a place."""
        if self.interrupted:
            return Exit.INTERRUPTED
        codes = {"placed": Exit.DONE, "open": Exit.NO_ANSWER, "impossible": Exit.FAILED}
        return codes[self.worst]

    def __repr__(self) -> str:
        """One line: the number of losses that the cluster tolerates."""
        good = sum(one.status == "placed" for one in self.losses)
        return f"Spare of {self.given.name}: all tasks have a place after {good} of " + (
            f"{len(self.losses)} losses"
        )

    def to_document(self) -> dict[str, Any]:
        """Return what ``rebalance --spare --json`` prints."""
        return {
            "instance": instance_hash(self.given),
            "status": self.worst,
            "losses": [one.to_document() for one in self.losses],
            "seconds": round(self.seconds, 3),
        }


def spare(
    instance: InstanceLike,
    placement: PlacementLike | None = None,
    *,
    max_moves: int | None = None,
    without_nodes: Collection[str] = (),
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    **decoded: Unpack[DecodedCluster],
) -> Spare:
    """Find for every machine and every rack whether all tasks still have a place without it.

    Parameters
    ----------
    instance, placement, without_nodes, decoded
        As in `rebalance`.
    max_moves
        Most tasks that may move besides those of the machine; ``None`` = any number, or the
        instance's own limit.
    time_limit_s, workers, seed, memory_limit_mb
        As in `solve`; the time is that of all questions together.

    Raises
    ------
    InputError
        For bad input, or where neither the instance nor `placement` says where tasks run now.

    Examples
    --------
    >>> import slotwise
    >>> found = slotwise.spare("docs/examples/machines.json", time_limit_s=30)
    >>> [(one.name, one.status, one.moves) for one in found.losses][:2]
    [('r1', 'impossible', None), ('r2', 'impossible', None)]
    """
    started = time.perf_counter()
    limits = checked_limits(time_limit_s, workers, seed, memory_limit_mb)
    most = None if max_moves is None else whole(max_moves, "max_moves")
    given = as_instance(instance, **decoded)
    running = given
    if placement is not None:
        running = replace(given, running=as_running_places(placement, given))
        warn_of_lost_nodes(running, without_nodes)
    if running.running is None:
        raise InputError(f"{NEEDS_RUNNING}, or a placement", field="instance", has_value=False)
    running = without(running, without_nodes) if without_nodes else running
    with counted_presses() as presses:
        found = losses(running, most, limits, presses.token)
        interrupted = presses.count > 0
    return Spare(given, found, time.perf_counter() - started, interrupted)
