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
    changes_input
        Whether it has an answer, but has changed the instance that it was given.
    """

    def __init__(
        self, reason: str, *, timed_out: bool = False, changes_input: bool = False
    ) -> None:
        self.timed_out = timed_out
        self.changes_input = changes_input
        super().__init__(reason)

    def with_reason(self, reason: str) -> MethodError:
        """Return the error with another message."""
        return MethodError(reason, timed_out=self.timed_out, changes_input=self.changes_input)
