"""Algorithm 1: peak rate, CPU and memory by number of threads.

The algorithm counts threads and rates up, and stops a number of threads at its first unstable
rate (line 11) and the whole at a slope of peak rates that is flat or negative (line 6, text of
section 5.1). We read it so:

- Line 6 compares the slope with a largest value where the text says a least one, and the slope
  starts at 0, which would end the loop before it begins: we follow the text, once `window` peak
  rates are there.
- The steps may depend on what was measured (section 5.1). Ours double the rate until it is
  unstable twice, then halve the distance between the highest stable and the lowest unstable
  rate, down to `resolution`; a number of threads begins at the peak rate of the one before.

Everything that is decided depends on the trials alone, so that a sweep that is started again with
the trials it had resumes there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.performance.model import Measurement, PerformanceModel
from slotwise.pipeline.profiling.settings import Settings
from slotwise.pipeline.profiling.trial import Trial

LEAST_RATE = 0.1
"""Tuples/s: a task that does not keep up with this rate is given up."""

DECIMALS = 3
"""Decimals of the numbers in a model."""

RunTrial = Callable[[int, float], Trial]


def sweep(run_trial: RunTrial, settings: Settings, done: Sequence[Trial]) -> Iterator[Trial]:
    """Run the missing trials, one after the other.

    Parameters
    ----------
    run_trial
        ``(threads, rate)`` -> trial.
    done
        Trials of the same task and settings that are there already.

    Yields
    ------
    Trial
        Each new one.
    """
    trials = list(done)
    while (step := next_trial(trials, settings)) is not None:
        trials.append(run_trial(*step))
        yield trials[-1]


def next_trial(trials: Sequence[Trial], settings: Settings) -> tuple[int, float] | None:
    """Return (threads, rate) of the next trial; ``None``: the sweep is over."""
    peaks: list[tuple[int, float]] = []
    start = settings.first_rate
    for threads in settings.threads:
        own = [one for one in trials if one.threads == threads]
        rate = next_rate(own, start, settings)
        if rate is not None:
            return threads, rate
        peak = max((one.rate for one in own if one.stable), default=0.0)
        peaks.append((threads, peak))
        if is_flat(peaks, settings):
            return None
        start = peak or start
    return None


def next_rate(trials: Sequence[Trial], start: float, settings: Settings) -> float | None:
    """Return the next rate for a number of threads; ``None``: its peak rate is known.

    Parameters
    ----------
    trials
        Of this number of threads.
    start
        The first rate to try, tuples/s.
    """
    verdicts = _verdicts(trials)
    if None in verdicts.values():
        return next(rate for rate, verdict in verdicts.items() if verdict is None)
    stable = max((rate for rate, verdict in verdicts.items() if verdict), default=None)
    unstable = min((rate for rate, verdict in verdicts.items() if not verdict), default=None)
    if stable is None:
        if unstable is None:
            return start
        return None if unstable / 2 < LEAST_RATE else _rounded(unstable / 2)
    if unstable is None or unstable <= stable:  # the latter: noise; the higher one counts
        above = [rate for rate, verdict in verdicts.items() if not verdict and rate > stable]
        if above:
            unstable = min(above)
        else:
            higher = _rounded(min(2 * stable, settings.max_rate))
            return higher if higher > stable else None
    if unstable - stable <= settings.resolution * stable:
        return None
    middle = _rounded((stable + unstable) / 2)
    return middle if stable < middle < unstable else None


def _verdicts(trials: Sequence[Trial]) -> dict[float, bool | None]:
    """Return rate -> whether it is stable; ``None``: to be tried once more.

    A hiccup of the machine can make a rate look unstable but not stable: one stable trial is
    enough, an unstable one is repeated, unless less than half of its tuples were answered.
    """
    verdicts: dict[float, bool | None] = {}
    for one in trials:
        if one.stable or verdicts.get(one.rate):
            verdicts[one.rate] = True
        elif one.rate in verdicts or 2 * one.answered < one.sent:
            verdicts[one.rate] = False
        else:
            verdicts[one.rate] = None
    return verdicts


def is_flat(peaks: Sequence[tuple[int, float]], settings: Settings) -> bool:
    """Return whether the last `window` peak rates stay or fall as threads are added.

    They do where the least-squares line through them rises by at most `resolution` of the highest.
    """
    last = peaks[-settings.window :]
    if len(last) < settings.window:
        return False
    threads, rates = zip(*last, strict=True)
    slope = float(np.polyfit(threads, rates, 1)[0])
    return bool(slope * (threads[-1] - threads[0]) <= settings.resolution * max(rates))


def model_of(name: str, trials: Sequence[Trial]) -> tuple[PerformanceModel, tuple[int, ...]]:
    """Return the performance model that trials show, and the thread counts it leaves out.

    A count whose peak rate is below that of fewer threads, although more threads reach more, is
    noise and left out.

    Raises
    ------
    InputError
        Where no rate was stable with one thread.
    """
    peaks: dict[int, Trial] = {}
    for one in trials:
        if one.stable and (one.threads not in peaks or peaks[one.threads].rate < one.rate):
            peaks[one.threads] = one
    if 1 not in peaks:
        raise InputError(
            "one thread of the task keeps up with none of the rates tried; profile it with a "
            "lower first rate or more seconds",
            field="TASK",
            value=name,
        )
    highest = max(one.rate for one in peaks.values())
    kept: list[Measurement] = []
    left_out = []
    reached = False
    for threads in sorted(peaks):
        one = peaks[threads]
        if not reached and kept and Fraction(one.rate) < kept[-1].peak_rate:
            left_out.append(threads)
            continue
        reached = reached or one.rate == highest
        kept.append(
            Measurement(threads, _exact(one.rate), _exact(one.cpu), _exact(one.memory), "measured")
        )
    return PerformanceModel(name, tuple(kept)), tuple(left_out)


def _rounded(rate: float) -> float:
    """Return a rate of three significant digits."""
    return float(f"{rate:.3g}")


def _exact(value: float) -> Fraction:
    return Fraction(f"{max(0.0, value):.{DECIMALS}f}")
