"""The shape of one line of an advice file; ``slotwise follow`` writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from slotwise.models.instance.instance import Place
from slotwise.models.nouns import Amount, Flag, Name, Noun, Whole, choice

STATUSES = ("optimal", "feasible", "infeasible", "unknown")
REASONS = ("gain", "upheld", "small", "cooldown")


@dataclass(frozen=True, slots=True)
class AdviceTermFile(Noun):
    """One term of the objective, in the user's unit.

    Parameters
    ----------
    term
        Name of the term, as in the instance.
    now
        What it costs as the tasks run now.
    best
        In the best placement found with at most `max_moves` moves; ``None`` = none found.
    bound
        Lower bound for at most `max_moves` moves, given the best of the terms before; ``None`` =
        nothing is proven.
    """

    term: Name
    now: Amount
    best: Amount | None
    bound: Amount | None


@dataclass(frozen=True, slots=True)
class AdviceMoveFile(Noun):
    """A running task and where it should go.

    Parameters
    ----------
    task
        ``topology/component[index]``.
    source
        Where it runs.
    to
        Where it should go; ``None`` = its topology is left out.
    """

    task: Name
    source: Place = field(metadata={"alias": "from"})
    to: Place | None


@dataclass(frozen=True, slots=True)
class AdviceFile(Noun):
    """A line of an advice file, ``slotwise.advice/1``: one per batch that brought samples.

    Parameters
    ----------
    stream
        Id of the checkpoint that the batch belongs to.
    batch
        Number of the batch; each is in the file once.
    time
        Time of the latest sample so far (ISO 8601, UTC).
    samples
        Samples that the weights rest on, all batches so far.
    pays
        Whether a rebalance pays.
    reason
        ``gain``: the gain is enough; ``upheld``: less than enough, but earlier advice stands;
        ``small``: too small; ``cooldown``: enough, but advice ended too recently.
    since
        When advice began or ended last (ISO 8601, UTC); ``None`` = there was none yet.
    gain
        The largest relative saving of a term, from 0 to 1.
    max_moves
        Most moves that were allowed.
    status
        How the search for the best placement ended, as of ``solve``.
    objective
        One entry per term, in order.
    violations
        Hard rules that what runs now breaks, in words.
    moves
        What the best placement moves, whether it pays or not; empty = nothing.
    """

    FORMAT = "slotwise.advice/1"

    stream: Name
    batch: Whole
    time: Name
    samples: Whole
    pays: Flag
    reason: Annotated[str, choice(REASONS)]
    since: Name | None
    gain: Amount
    max_moves: Whole
    status: Annotated[str, choice(STATUSES)]
    objective: tuple[AdviceTermFile, ...]
    violations: tuple[str, ...]
    moves: tuple[AdviceMoveFile, ...]
