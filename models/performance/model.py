"""The performance model of a task: what one slot supports with so many threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from slotwise.models.errors import InputError
from slotwise.models.nouns import SPARSE, Exact, Noun, Positive
from slotwise.models.values import plain


@dataclass(frozen=True, slots=True)
class Measurement(Noun):
    """What one slot supports with a number of threads of one task.

    Parameters
    ----------
    threads
        Threads of the task on one slot.
    peak_rate
        Highest stable input rate, tuples/s.
    cpu
        CPU used at that rate, % of the slot above its base load; above 100 where the task was
        measured on more than its slot.
    memory
        Memory used, % of the slot above its base load.
    source
        Where the figures come from.
    """

    threads: Positive
    peak_rate: Exact
    cpu: Exact
    memory: Exact
    source: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class PerformanceModel:
    """The measurements of one task, by threads.

    Parameters
    ----------
    name
        Name of the kind of task, for example ``blob``.
    measurements
        In the order of their threads, each count once, from 1 thread on; the peak rates rise or
        stay up to the highest one (`curves.best_rate`).

    Raises
    ------
    InputError
        Where a rule above is broken.
    """

    name: str
    measurements: tuple[Measurement, ...]

    def __post_init__(self) -> None:
        """Refuse what no interpolation can use."""
        counts = [one.threads for one in self.measurements]
        if not counts:
            raise InputError("a model needs at least one measurement", field="measurements")
        if counts[0] != 1:
            raise InputError(
                "the measurement of 1 thread is missing: every allocation starts from it",
                field="measurements[0].threads",
                value=counts[0],
            )
        for index, (before, here) in enumerate(pairwise(counts), 1):
            if here <= before:
                raise InputError(
                    f"must be above {before}, the number before it: each number of threads is "
                    "measured once, in increasing order",
                    field=f"measurements[{index}].threads",
                    value=here,
                )
        self._check_rising_to_peak()

    def _check_rising_to_peak(self) -> None:
        rates = [one.peak_rate for one in self.measurements]
        peak = rates.index(max(rates))
        for index in range(1, peak):
            if rates[index] < rates[index - 1]:
                raise InputError(
                    f"must be at least {float(rates[index - 1]):g}, the rate with fewer threads: a "
                    "curve falls only beyond its highest rate; measure this point again "
                    "(docs/methods/sam.md, Performance models)",
                    field=f"measurements[{index}].peak_rate",
                    value=plain(rates[index]),
                )
