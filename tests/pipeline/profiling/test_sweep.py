"""Algorithm 1 on tasks whose true capacity is known: trials are simulated, nothing is timed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slotwise.models.errors import InputError
from slotwise.pipeline.profiling.settings import Settings
from slotwise.pipeline.profiling.sweep import model_of, next_trial, sweep
from slotwise.pipeline.profiling.trial import Trial

SETTINGS = Settings(threads=(1, 2, 4, 8, 16), resolution=0.05, first_rate=1)

Capacity = Callable[[int], float]


def trial_of(capacity: Capacity) -> Callable[[int, float], Trial]:
    """Return what a trial of a task measures that supports `capacity` of its threads."""

    def run(threads: int, rate: float) -> Trial:
        most = capacity(threads)
        slope = max(0.0, rate / most - 1) if most else 1.0
        busy = 100 * min(1.0, rate / most) if most else 0.0
        return Trial(threads, rate, slope <= 0, slope, 0.01, busy, 5.0 * threads, 100, 100)

    return run


def peaks(capacity: Capacity, settings: Settings = SETTINGS) -> dict[int, float]:
    model, _ = model_of("task", list(sweep(trial_of(capacity), settings, [])))
    return {one.threads: float(one.peak_rate) for one in model.measurements}


@pytest.mark.parametrize("each", [0.2, 0.7, 50, 12_345])
def test_the_peak_rate_is_found_to_the_resolution(each: float) -> None:
    found = peaks(lambda threads: each * threads)
    assert list(found) == [1, 2, 4, 8, 16]
    for threads, rate in found.items():
        assert each * threads * 0.95 <= rate <= each * threads


def test_the_sweep_stops_where_more_threads_bring_nothing() -> None:
    """A flat or falling window of three peak rates ends it."""
    assert list(peaks(lambda threads: 300)) == [1, 2, 4]
    assert list(peaks(lambda threads: 310 - 8 * threads)) == [1, 2, 4]
    assert list(peaks(lambda threads: min(100 * threads, 350))) == [1, 2, 4, 8, 16]


def test_a_rate_is_not_raised_above_the_highest() -> None:
    settings = Settings(threads=(1, 2), max_rate=80)
    assert peaks(lambda threads: 1e9, settings) == {1: 80, 2: 80}


def test_a_task_that_supports_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="keeps up with none of the rates tried"):
        peaks(lambda threads: 0)


def test_a_sweep_goes_on_where_it_was() -> None:
    run = trial_of(lambda threads: min(30 * threads, 200))
    whole = list(sweep(run, SETTINGS, []))
    for had in range(len(whole) + 1):
        assert list(sweep(run, SETTINGS, whole[:had])) == whole[had:]
    assert next_trial(whole, SETTINGS) is None


def test_a_trial_that_contradicts_another_does_not_keep_the_sweep_going() -> None:
    """Noise: a low rate was unstable, a higher one stable. The higher one counts."""
    run = trial_of(lambda threads: 100)
    odd = Trial(1, 1.0, False, 1.0, 0.1, 1, 1, 20, 20)
    once = [odd, *sweep(run, Settings(threads=(1,)), [odd])]  # it is repeated, and was a hiccup
    assert 95 <= model_of("task", once)[0].measurements[0].peak_rate <= 100
    twice = [odd, odd, *sweep(run, Settings(threads=(1,)), [odd, odd])]
    assert model_of("task", twice)[0].measurements[0].peak_rate < 1
    higher = [odd, odd, run(1, 64.0)]
    found = [*higher, *sweep(run, Settings(threads=(1,)), higher)]
    assert 95 <= model_of("task", found)[0].measurements[0].peak_rate <= 100


def test_a_dent_before_the_peak_is_left_out_and_named() -> None:
    capacity = {1: 100.0, 2: 80.0, 4: 200.0, 8: 190.0, 16: 180.0}
    model, left_out = model_of("task", list(sweep(trial_of(capacity.__getitem__), SETTINGS, [])))
    assert left_out == (2,)
    assert [one.threads for one in model.measurements] == [1, 4, 8, 16]
