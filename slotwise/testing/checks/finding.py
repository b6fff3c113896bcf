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
    kind
        What sort of failure it is, the rule that is broken for example. An instance is made small
        so that the kind stays.
    """

    message: str
    kind: str = ""


class NotJudgedError(Exception):
    """A check says nothing of an instance; the message is the reason, a few words."""
