"""Events that `solve` reports while it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from slotwise.models.values import short_text


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
    """The state of a solve at one moment.

    Parameters
    ----------
    seconds
        Wall-clock time since the solve began.
    engine
        The engine that reports it, for example ``cp-sat`` or ``local-search``.
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

LOG = logging.getLogger("slotwise.solve")
"""INFO: begin and end of a solve, engines, better placements. DEBUG: better bounds."""


def logged(terms: Sequence[str], then: OnProgress | None) -> OnProgress | None:
    """Return a callback that logs each event and calls `then`; `then` itself if logging is off.

    Parameters
    ----------
    terms
        Names of the objective's terms.
    then
        ``None`` = nothing else is to be called.
    """
    if not LOG.isEnabledFor(logging.INFO):
        return then

    def take(event: Progress) -> None:
        level = logging.DEBUG if event.event is Event.BOUND else logging.INFO
        LOG.log(level, "%s", _line(terms, event))
        if then is not None:
            then(event)

    return take


def _line(terms: Sequence[str], event: Progress) -> str:
    values = event.values or (None,) * len(terms)
    bounds = ", ".join(
        f"{term} {short_text(value)} (bound {short_text(bound)})"
        for term, value, bound in zip(terms, values, event.bounds, strict=True)
    )
    why = f" ({event.why})" if event.why else ""
    return f"{event.seconds:.2f} s, {event.engine}: {event.event}{why}; {bounds}"
