"""What a check says of one instance."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A scheduler does not do on an instance what a check asks; `message` is one line."""

    message: str


class NotJudgedError(Exception):
    """A check says nothing of an instance; the message is the reason, a few words."""
