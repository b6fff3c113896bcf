"""The settings of a stream of advice."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.values import time_limit, whole
from slotwise.pipeline.following.hysteresis import Thresholds
from slotwise.pipeline.following.saving import Saving, saving
from slotwise.pipeline.following.stream import Trigger


@dataclass(frozen=True, slots=True)
class Search:
    """How the best placement is searched for after each batch; as in `slotwise.solve`."""

    max_moves: int = 3
    engine: str = "auto"
    time_limit_s: float = 10.0
    workers: int = 1
    seed: int = 0

    def saving(self, instance: Instance) -> Saving:
        """Return the saving by at most that number of moves."""
        return saving(
            instance,
            self.max_moves,
            engine=self.engine,
            time_limit_s=self.time_limit_s,
            workers=self.workers,
            seed=self.seed,
        )


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
        See `Search`.
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
        value = Fraction(number) / (100 if text.strip().endswith("%") else 1)
    except (ValueError, ZeroDivisionError) as error:
        raise InputError("must be a share such as 5% or 0.05", field=field, value=text) from error
    return value
