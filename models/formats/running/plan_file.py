"""The shape of a plan: moves in the order in which they are made, and the placement after them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from slotwise.models.formats.fields import FileObject, Name
from slotwise.models.formats.instance_schema import PlaceFile, PlacementFile

PLAN_FORMAT = "slotwise.plan/1"


class MoveFile(FileObject):
    """One move of one task."""

    task: Name = Field(description="`topology/component[index]`.")
    source: PlaceFile | None = Field(
        alias="from", description="Where it runs until then; null = it does not run yet."
    )
    target: PlaceFile | None = Field(
        alias="to", description="Where it runs from then on; null = its topology is left out."
    )
    saves: dict[str, Any] = Field(
        default={},
        description="Term of the objective, less what counts moves -> what the move saves where "
        "those before it have been made; below 0 where it costs.",
    )
    parking: bool = Field(
        default=False, description="Whether it only waits there, to make room, and moves on later."
    )


class PlanFile(FileObject):
    """A file ``slotwise.plan/1``."""

    format: Literal["slotwise.plan/1"] = Field(description="Names this format.")
    instance: Name = Field(description="Hash of the instance that is rebalanced, `sha256:...`.")
    method: Name = Field(description="What made the placement: `optimal` or a method.")
    ordered: bool = Field(
        description="Whether the moves, in this order, break no hard rule between them; otherwise "
        "those after the first without room have no order."
    )
    moves: list[MoveFile] = Field(description="The moves, first to last.")
    placement: PlacementFile = Field(description="The placement after all moves.")
