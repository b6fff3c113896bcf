"""What a check says of one instance."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A scheduler does not do on an instance what a check asks.

    Parameters
    ----------
    message
        What it does, in one line.
    kinds
        What sorts of failure it is: every rule that is broken, for example. A search looks for an
        instance of each kind, and makes it small so that the kind stays.
    """

    message: str
    kinds: tuple[str, ...] = ("",)


class UnsupportedError(Exception):
    """A scheduler does not apply to an instance; the message is its reason."""


class NotJudgedError(Exception):
    """A check says nothing of an instance; the message is the reason, a few words."""
