"""A method's answer when it makes no placement."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A method found no placement, or does not apply; `reason` in words for people."""

    reason: str
