"""How an engine says that it does not take a problem."""

from __future__ import annotations

from slotwise.models.errors import InputError, SlotwiseError


class NotTakenError(SlotwiseError):
    """An engine found only while running that it does not take a problem; says why."""


class UntakenError(InputError):
    """The engine that was asked for does not take the problem; says why."""
