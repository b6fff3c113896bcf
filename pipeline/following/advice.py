"""A piece of advice: whether a rebalance pays, after one batch of logs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from slotwise.models.values import plain
from slotwise.pipeline.following.hysteresis import Reason, State, Thresholds, next_state
from slotwise.pipeline.following.saving import Saving, TermSaving

FORMAT = "slotwise.advice/1"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch of logs behind a piece of advice.

    Parameters
    ----------
    stream
        Id of the checkpoint.
    number
        Of the batch in its stream, 0 or more.
    time_ms
        Time of the latest sample of this batch and all before, milliseconds since 1970.
    samples
        Number of samples behind the weights, in all batches so far.
    """

    stream: str
    number: int
    time_ms: int
    samples: int


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether a rebalance pays, and why.

    Parameters
    ----------
    batch
        The batch behind it.
    saving
        Cost now, best cost, bounds and moves.
    state
        Whether advice is in force, and since when.
    reason
        The reason for that.
    """

    batch: Batch
    saving: Saving
    state: State
    reason: Reason

    @property
    def pays(self) -> bool:
        """Whether a rebalance pays."""
        return self.state.pays

    def to_document(self) -> dict[str, Any]:
        """Return a line of an advice file, JSON-ready; ``slotwise schema advice`` describes it."""
        changed = self.state.changed_ms
        return {
            "format": FORMAT,
            "stream": self.batch.stream,
            "batch": self.batch.number,
            "time": time_text(self.batch.time_ms),
            "samples": self.batch.samples,
            "pays": self.pays,
            "reason": str(self.reason),
            "since": None if changed is None else time_text(changed),
            "gain": plain(self.saving.gain),
            "max_moves": self.saving.max_moves,
            "status": str(self.saving.status),
            "objective": [_term_document(term) for term in self.saving.terms],
            "violations": [str(violation) for violation in self.saving.violations],
            "moves": [move.to_document() for move in self.saving.moves],
        }


def advise(batch: Batch, saving: Saving, before: State, thresholds: Thresholds) -> Advice:
    """Return the advice after `batch`; `before` is the state of the advice before it."""
    state, reason = next_state(before, saving.gain, batch.time_ms, thresholds)
    return Advice(batch, saving, state, reason)


def time_text(milliseconds: int) -> str:
    """Return milliseconds since 1970 as ISO 8601 in UTC.

    Examples
    --------
    >>> time_text(1_500)
    '1970-01-01T00:00:01.500+00:00'
    """
    return (_EPOCH + milliseconds * _MS).isoformat(timespec="milliseconds")


def time_ms(text: str) -> int:
    """Return the milliseconds since 1970 of a time that `time_text` wrote."""
    return (datetime.fromisoformat(text) - _EPOCH) // _MS


def _term_document(term: TermSaving) -> dict[str, Any]:
    best, bound = (None if one is None else plain(one) for one in (term.best, term.bound))
    return {"term": term.term, "now": plain(term.now), "best": best, "bound": bound}
