"""The settings of a stream of advice."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from slotwise.models.errors import InputError
from slotwise.models.values import number_of_text, time_limit, whole
from slotwise.pipeline.following.hysteresis import Thresholds
from slotwise.pipeline.following.saving import Search
from slotwise.pipeline.following.stream import Trigger


@dataclass(frozen=True, slots=True)
class Following:
    """The settings of a run.

    Parameters
    ----------
    checkpoint
        Folder of the stream; a later run with the same one continues it.
    advice
        File of advice; ``None`` = ``advice.jsonl`` in the checkpoint.
    trigger
        When it reads new lines, and whether it ends.
    search
        How the best placement is searched for after each batch.
    thresholds
        When advice begins and ends.
    """

    checkpoint: Path
    advice: Path | None = None
    trigger: Trigger = field(default_factory=Trigger)
    search: Search = field(default_factory=Search)
    thresholds: Thresholds = field(default_factory=Thresholds)

    def __post_init__(self) -> None:
        """Check each field."""
        time_limit(self.trigger.seconds, "trigger")
        time_limit(self.search.time_limit_s, "time_limit_s")
        whole(self.search.max_moves, "max_moves")
        whole(self.thresholds.cooldown_ms, "cooldown")
        if not 0 < self.thresholds.min_gain <= 1:
            rule = "must be above 0 and at most 1 (100%)"
            raise InputError(rule, field="min_gain", value=float(self.thresholds.min_gain))


def share(text: str, field: str) -> Fraction:
    """Return a share: ``5%`` or ``0.05``.

    Examples
    --------
    >>> share("5%", "min_gain"), share("0.05", "min_gain")
    (Fraction(1, 20), Fraction(1, 20))
    """
    number = text.strip().removesuffix("%")
    try:
        value = number_of_text(number.strip(), field)
    except InputError as error:
        raise InputError("must be a share such as 5% or 0.05", field=field, value=text) from error
    return Fraction(value) / (100 if text.strip().endswith("%") else 1)
