"""The shape of a plan: moves in the order in which they are made, and the placement after them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slotwise.models.formats.placement_file import PlacementFile
from slotwise.models.instance.instance import Place
from slotwise.models.nouns import Flag, Name, Noun

PLAN_FORMAT = "slotwise.plan/1"


@dataclass(frozen=True, slots=True)
class MoveFile(Noun):
    """One move of one task.

    Parameters
    ----------
    task
        ``topology/component[index]``.
    source
        Where it runs until then; ``None`` = it does not run yet.
    target
        Where it runs from then on; ``None`` = its topology is left out.
    saves
        Term of the objective, less what counts moves -> what the move saves where those before it
        have been made; below 0 where it costs.
    parking
        Whether it only waits there, to make room, and moves on later.
    """

    task: Name
    source: Place | None = field(metadata={"alias": "from"})
    target: Place | None = field(metadata={"alias": "to"})
    saves: Mapping[str, Any] = field(default_factory=dict)
    parking: Flag = False


@dataclass(frozen=True, slots=True)
class PlanFile(Noun):
    """A file ``slotwise.plan/1``.

    Parameters
    ----------
    instance
        Hash of the instance that is rebalanced, ``sha256:...``.
    method
        What made the placement: ``optimal`` or a method.
    ordered
        Whether the moves, in this order, break no hard rule between them; otherwise those after the
        first without room have no order.
    moves
        The moves, first to last.
    placement
        The placement after all moves.
    """

    FORMAT = PLAN_FORMAT

    instance: Name
    method: Name
    ordered: Flag
    moves: tuple[MoveFile, ...]
    placement: PlacementFile
