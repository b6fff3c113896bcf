"""Errors by which an engine declines a problem."""

from __future__ import annotations

from slotwise.models.errors import InputError, SlotwiseError


class NotTakenError(SlotwiseError):
    """An engine found only while running that it must decline a problem; the message says why."""


class UntakenError(InputError):
    """The engine that the caller named declines the problem; the message says why."""
