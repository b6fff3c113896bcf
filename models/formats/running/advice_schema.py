"""The shape of one line of an advice file (Pydantic); ``slotwise follow`` writes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from slotwise.models.formats.fields import Amount, FileObject, Name, Whole, choice
from slotwise.models.formats.instance_schema import PlaceFile

STATUSES = ("optimal", "feasible", "infeasible", "unknown")
REASONS = ("gain", "upheld", "small", "cooldown")


class AdviceTermFile(FileObject):
    """One term of the objective, in the user's unit."""

    term: Name = Field(description="Name of the term, as in the instance.")
    now: Amount = Field(description="What it costs as the tasks run now.")
    best: Amount | None = Field(
        description="In the best placement found with at most `max_moves` moves; null = none found."
    )
    bound: Amount | None = Field(
        description="Lower bound for at most `max_moves` moves, given the best of the terms "
        "before; null = nothing is proven."
    )


class AdviceMoveFile(FileObject):
    """A running task and where it should go."""

    task: Name = Field(description="`topology/component[index]`.")
    source: PlaceFile = Field(alias="from", description="Where it runs.")
    to: PlaceFile | None = Field(description="Where it should go; null = its topology is left out.")


class AdviceFile(FileObject):
    """A line of an advice file, ``slotwise.advice/1``: one per batch that brought samples."""

    format: Literal["slotwise.advice/1"] = Field(description="Names this format.")
    stream: Name = Field(description="Id of the checkpoint that the batch belongs to.")
    batch: Whole = Field(description="Number of the batch; each is in the file once.")
    time: Name = Field(description="Time of the latest sample so far (ISO 8601, UTC).")
    samples: Whole = Field(description="Samples that the weights rest on, all batches so far.")
    pays: bool = Field(description="Whether a rebalance pays.")
    reason: Annotated[str, choice(REASONS)] = Field(
        description="`gain`: the gain is enough; `upheld`: less than enough, but earlier advice "
        "stands; `small`: too small; `cooldown`: enough, but advice ended too recently."
    )
    since: Name | None = Field(
        description="When advice began or ended last (ISO 8601, UTC); null = there was none yet."
    )
    gain: Amount = Field(description="The largest relative saving of a term, from 0 to 1.")
    max_moves: Whole = Field(description="Most moves that were allowed.")
    status: Annotated[str, choice(STATUSES)] = Field(
        description="How the search for the best placement ended, as of `solve`."
    )
    objective: list[AdviceTermFile] = Field(description="One entry per term, in order.")
    violations: list[str] = Field(description="Hard rules that what runs now breaks, in words.")
    moves: list[AdviceMoveFile] = Field(
        description="What the best placement moves, whether it pays or not; empty = nothing."
    )
