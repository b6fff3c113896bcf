"""When advice begins and ends: a state machine that noise around the threshold does not move.

Advice begins once the gain is at least the least gain, and ends once it is below half of that
(`RELEASE`): between the two nothing changes. After a change it does not begin again until the
cooldown has passed, so that a rebalance has time to show in the logs. It may end at any time, as
soon as the gain is gone.

Time is that of the logs, not of the clock: a batch that is repeated after a crash, or read a year
later, gives the same advice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

RELEASE = Fraction(1, 2)
"""Advice ends below this share of the least gain."""


class Reason(StrEnum):
    """Why a rebalance pays, or does not."""

    GAIN = "gain"
    """The gain is enough."""
    UPHELD = "upheld"
    """The gain is less than enough, but not so small that earlier advice would end."""
    SMALL = "small"
    """The gain is too small."""
    COOLDOWN = "cooldown"
    """The gain is enough, but advice has ended too recently."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When advice begins, and how soon again.

    Parameters
    ----------
    min_gain
        Least relative gain, above 0 and at most 1.
    cooldown_ms
        Milliseconds of the logs' time from the last change to the next beginning, 0 or more.
    """

    min_gain: Fraction = Fraction(1, 20)
    cooldown_ms: int = 600_000


@dataclass(frozen=True, slots=True)
class State:
    """Whether advice is in force, and when it last began or ended.

    Parameters
    ----------
    pays
        Whether advice is in force.
    changed_ms
        Milliseconds since 1970 of the last change; ``None`` = there was none yet.
    """

    pays: bool = False
    changed_ms: int | None = None


def next_state(
    before: State, gain: Fraction, at_ms: int, thresholds: Thresholds
) -> tuple[State, Reason]:
    """Return whether advice is in force with this gain at this time, and why.

    Parameters
    ----------
    before
        What this function returned last; ``State()`` at first.
    gain
        From 0 to 1.
    at_ms
        Milliseconds since 1970, in the time of the logs; never earlier than last time.
    thresholds
        See `Thresholds`.
    """
    enough = gain >= thresholds.min_gain
    if before.pays:
        if enough:
            return before, Reason.GAIN
        if gain >= RELEASE * thresholds.min_gain:
            return before, Reason.UPHELD
        return State(pays=False, changed_ms=at_ms), Reason.SMALL
    if not enough:
        return before, Reason.SMALL
    changed = before.changed_ms
    if changed is not None and at_ms - changed < thresholds.cooldown_ms:
        return before, Reason.COOLDOWN
    return State(pays=True, changed_ms=at_ms), Reason.GAIN
