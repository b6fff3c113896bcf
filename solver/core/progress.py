"""What `solve` tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Event(StrEnum):
    """What happened."""

    ENGINE = "engine"
    """An engine starts; `Progress.why` says why it was picked."""
    PLACEMENT = "placement"
    """A better placement was found, and judged."""
    BOUND = "bound"
    """A better bound was proven; `Progress.why` says of which kind."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known at a moment of a solve.

    Parameters
    ----------
    seconds
        Wall-clock time since the solve began.
    engine
        Who it comes from, for example ``cp-sat`` or ``local-search``.
    event
        What happened.
    values
        Value of each term of the best placement, judged, in the user's units; ``None`` while there
        is no placement.
    bounds
        Proven bound of each term given that the earlier ones are at their best; ``None`` where
        nothing is proven, and after the first term that is not closed.
    why
        For people: why the engine runs, or the kind of the bound; may be empty.
    """

    seconds: float
    engine: str
    event: Event
    values: tuple[Fraction, ...] | None
    bounds: tuple[Fraction | None, ...]
    why: str = ""


OnProgress = Callable[[Progress], None]
"""Called in the thread that called `solve`, between two looks at the clock."""
