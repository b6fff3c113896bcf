"""No plan, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refused:
    """A published algorithm gives no plan.

    Parameters
    ----------
    reason
        One line for people: which algorithm, which task, what it lacks.
    """

    reason: str
