"""Advice does not flap: the state machine alone, without Spark."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slotwise.pipeline.following.hysteresis import (
    RELEASE,
    Reason,
    State,
    Thresholds,
    next_state,
)

FIVE = Thresholds(min_gain=Fraction(5, 100), cooldown_ms=600_000)
GAINS = st.fractions(0, 1, max_denominator=1000)
STEPS = st.lists(st.tuples(GAINS, st.integers(0, 10**6)), max_size=60)
THRESHOLDS = st.builds(
    Thresholds,
    min_gain=st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
    cooldown_ms=st.integers(0, 10**6),
)


def run(steps, thresholds, state=None):
    """Return (time, gain, state, reason) of each step; a step is a gain and the time it takes."""
    now, told = 0, []
    state = state or State()
    for gain, passed in steps:
        now += passed
        state, reason = next_state(state, gain, now, thresholds)
        told.append((now, gain, state, reason))
    return told


def begins(told):
    """The times at which advice began."""
    before = [State(), *(state for _, _, state, _ in told)]
    pairs = zip(told, before, strict=False)
    return [now for (now, _, state, _), old in pairs if state.pays and not old.pays]


@pytest.mark.parametrize(
    ("gains", "pays"),
    [
        ((4, 4, 4), (False, False, False)),
        ((5, 4, 3, 2), (True, True, True, False)),
        ((9, 0), (True, False)),
        ((2.5,), (False,)),
        ((5, 2.5), (True, True)),
    ],
)
def test_begins_at_the_least_gain_and_ends_below_half_of_it(gains, pays):
    told = run([(Fraction(gain) / 100, 10**9) for gain in gains], FIVE)
    assert tuple(state.pays for _, _, state, _ in told) == pays


def test_advice_does_not_begin_again_before_the_cooldown_has_passed():
    minutes = 60_000
    told = run([(Fraction(gain) / 100, 3 * minutes) for gain in (9, 0, 9, 9, 9, 9)], FIVE)
    # Ended at minute 6: minutes 9, 12 and 15 are too soon.
    assert [state.pays for _, _, state, _ in told] == [True, False, False, False, False, True]
    assert [reason for _, _, _, reason in told] == [
        Reason.GAIN,
        Reason.SMALL,
        Reason.COOLDOWN,
        Reason.COOLDOWN,
        Reason.COOLDOWN,
        Reason.GAIN,
    ]


@given(st.lists(st.fractions(Fraction(26, 1000), Fraction(74, 1000)), min_size=1, max_size=60))
def test_noise_around_the_threshold_changes_advice_at_most_once(gains):
    told = run([(gain, 10**7) for gain in gains], FIVE)
    changes = sum(old.pays != new.pays for (*_, old, _), (*_, new, _) in pairwise(told))
    assert changes + told[0][2].pays <= 1


@given(STEPS, THRESHOLDS)
def test_beginnings_are_at_least_the_cooldown_apart(steps, thresholds):
    told = run(steps, thresholds)
    assert all(later - sooner >= thresholds.cooldown_ms for sooner, later in pairwise(begins(told)))


@given(STEPS, THRESHOLDS)
def test_advice_stands_only_while_the_gain_is_there(steps, thresholds):
    for _, gain, state, reason in run(steps, thresholds):
        if state.pays:
            assert gain >= RELEASE * thresholds.min_gain
            assert gain > 0
        else:
            assert gain < thresholds.min_gain or reason is Reason.COOLDOWN
        assert (reason in (Reason.GAIN, Reason.UPHELD)) is state.pays


@given(STEPS, THRESHOLDS, GAINS)
def test_a_gain_that_stays_is_advised_once_the_cooldown_has_passed(steps, thresholds, gain):
    told = run(steps, thresholds)
    last, _, state, _ = told[-1] if told else (0, 0, State(), None)
    enough = max(gain, thresholds.min_gain)
    assert next_state(state, enough, last + thresholds.cooldown_ms, thresholds)[0].pays


@given(STEPS, THRESHOLDS)
def test_a_restart_changes_nothing(steps, thresholds):
    whole = run(steps, thresholds)
    now, state = 0, State()
    for (gain, passed), expected in zip(steps, whole, strict=True):
        now += passed
        state, _ = next_state(State(state.pays, state.changed_ms), gain, now, thresholds)
        assert state == expected[2]
