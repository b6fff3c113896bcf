"""Confidence intervals and p-values, without Spark."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.stats import PermutationMethod, wilcoxon

from slotwise.benchmarks.judged.intervals import (
    generator,
    holm,
    mean_interval,
    quantile_interval,
    wilcoxon_p,
)

NUMBERS = np.sort(np.random.default_rng(1).lognormal(size=37))


@pytest.mark.parametrize("share", [0.5, 0.95, 0.3])
def test_a_quantile_has_the_interval_of_a_bootstrap_that_draws_every_number(share):
    random = np.random.default_rng(2)
    drawn = random.choice(NUMBERS, (20_000, len(NUMBERS)))
    expected = np.quantile(np.quantile(drawn, share, axis=1), [0.025, 0.975])
    found = quantile_interval(NUMBERS, share, generator(0))
    assert found == pytest.approx(expected, rel=0.06)


def test_a_mean_has_the_interval_of_its_resamples():
    error = NUMBERS.std() / np.sqrt(len(NUMBERS))
    low, high = mean_interval(NUMBERS, generator(0))
    assert low < NUMBERS.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_a_mean_over_many_has_the_normal_interval():
    many = np.random.default_rng(5).normal(3, 1, 40_000)
    low, high = mean_interval(many, generator(0))
    assert (low + high) / 2 == pytest.approx(many.mean())
    assert high - low == pytest.approx(2 * 1.96 / 200, rel=0.03)


def test_failures_make_the_upper_end_infinite():
    numbers = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, inf, inf]
    low, high = quantile_interval(numbers, 0.95, generator(0))
    assert (low > 0.4, high) == (True, inf)
    assert mean_interval(numbers, generator(0)) is None


def test_the_interval_depends_on_seed_and_names_alone():
    first = quantile_interval(NUMBERS, 0.5, generator(0, "r-storm", "network"))
    assert first == quantile_interval(NUMBERS, 0.5, generator(0, "r-storm", "network"))
    others = [generator(1, "r-storm", "network").random(), generator(0, "x", "network").random()]
    assert generator(0, "r-storm", "network").random() not in others


def test_too_few_instances_have_none():
    assert quantile_interval([1.0] * 4, 0.5, generator(0)) is None
    assert mean_interval([1.0] * 4, generator(0)) is None
    assert quantile_interval([1.0] * 5, 0.5, generator(0)) == (1.0, 1.0)


def test_six_clear_wins_are_the_fewest_that_can_be_significant():
    # The exact distribution: all six signs equal has probability 2 / 2^6.
    assert wilcoxon_p([-1, -2, -3, -4, -5, -6]) == pytest.approx(2 / 64)
    assert wilcoxon_p([-1, -2, -3, -4, -5]) is None
    assert wilcoxon_p([0, 0, -1, -2, -3, -4, -5]) is None


@pytest.mark.parametrize("seed", range(4))
def test_p_values_are_those_of_scipy(seed):
    random = np.random.default_rng(seed)
    untied = random.normal(0.3, 1, 20)
    assert wilcoxon_p(untied) == pytest.approx(wilcoxon(untied, method="exact").pvalue)
    tied = random.choice([-2, -1, 1, 2, 3], 8)
    flips = PermutationMethod(n_resamples=np.inf)
    assert wilcoxon_p(tied) == pytest.approx(wilcoxon(tied, method=flips).pvalue)
    many = random.normal(0.3, 1, 80)
    assert wilcoxon_p(many) == pytest.approx(wilcoxon(many).pvalue)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, None]) == pytest.approx([0.03, 0.06, 0.06, None])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
