"""A method that broke down: no placement and no refusal came of it."""

from __future__ import annotations

from slotwise.models.errors import SlotwiseError


class MethodError(SlotwiseError):
    """A method failed; the message says in one line how, and where.

    Unlike a refusal this is nothing that the method said: its command ended with an exit code other
    than 0, by a signal, at the time limit or without a valid answer, or its code raised an
    exception.

    Parameters
    ----------
    reason
        What happened.
    timed_out
        Whether it was ended at its time limit.
    """

    def __init__(self, reason: str, *, timed_out: bool = False) -> None:
        self.timed_out = timed_out
        super().__init__(reason)
