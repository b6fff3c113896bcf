"""Figures of methods on the instances of a group: gaps, wins, tests, profiles, times.

Of each instance a method has one number: the mean over its seeds. Failing costs infinity, so that
failing more never looks better: in quantiles, shares, wins and profiles. Means are taken over the
instances that every method of the group placed with a finite gap, and stand with their number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slotwise.benchmarks.judged.groups import Group, groups_of
from slotwise.benchmarks.judged.intervals import (
    generator,
    holm,
    mean_interval,
    quantile_interval,
    wilcoxon_p,
)
from slotwise.benchmarks.judged.judging import Flags, Floats, Indices, Judged, blocks

TIME_SHIFT_S = 0.01
"""Shift of the geometric mean of times: exp(mean(log(t + shift))) - shift, seconds."""

LEAST_SECONDS = 1e-3
"""Shorter times count as this in profiles: below it a clock measures itself."""

QUANTILES = {"q25": 0.25, "median": 0.5, "q75": 0.75, "p95": 0.95}
"""Names of the quantiles and their shares."""

VIRTUAL_BEST = "virtual best"
"""The compared method with the least values, instance by instance."""

WITH_INTERVAL = ("mean", "median", "p95")
"""Statistics that have a 95 % interval."""

OF_SEEDS = ("mean_seeds_low", "mean_seeds_high")
"""The spread over seeds of the mean gap; see `MethodComparison.seed_means`."""

STATISTICS = (
    *("instances", "proven", "placed", "finite", "at_optimum", "common"),
    *(f"{name}_{end}" for name in ("mean", *QUANTILES, "most") for end in ("low", "high")),
    *(f"{name}_ci_{end}" for name in WITH_INTERVAL for end in ("low", "high")),
    *OF_SEEDS,
)
"""What `Gaps.statistics` returns."""

ECDF_AT = (
    *(0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4),
    *(0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0),
)
"""Gaps at which their distribution is given."""

TAUS = (
    *(1.0, 1.001, 1.01, 1.02, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.75, 2.0, 2.5, 3.0),
    *(4.0, 5.0, 7.5, 10.0, 20.0, 50.0, 100.0, 1000.0),
)
"""Ratios at which profiles of times are given."""


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """The methods of a group on some of its instances, one number each; N instances, M methods.

    Parameters
    ----------
    judged, group
        What is compared.
    instances
        [N] indices of the instances: all of the group, or those of a class.
    """

    judged: Judged
    group: Group
    instances: Indices

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The M methods: exact engines first, then those that are compared."""
        return (*self.group.engines, *self.group.methods)

    @cached_property
    def compared(self) -> Flags:
        """[M] whether a member is one of the methods that are compared."""
        return np.arange(len(self.members)) >= len(self.group.engines)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The members' names."""
        return tuple(self.judged.methods[method] for method in self.members)

    @cached_property
    def _runs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Runs of the members on the instances, and the cell (instance x M + member) of each."""
        judged = self.judged
        column = np.full(len(judged.methods), -1)
        column[list(self.members)] = np.arange(len(self.members))
        row = np.full(len(judged.instances), -1)
        row[self.instances] = np.arange(len(self.instances))
        at, member = row[judged.instance], column[judged.method]
        runs = np.flatnonzero((at >= 0) & (member >= 0)).astype(np.int32)
        return runs, (at[runs] * len(self.members) + member[runs]).astype(np.int32)

    def _mean(self, numbers: Floats) -> Floats:
        """Return [N, M] the mean over the seeds of what each of `_runs` has."""
        _, cells = self._runs
        size = len(self.instances) * len(self.members)
        mean: Floats
        if self._once:
            mean = np.empty(size)
            mean[cells] = numbers
        else:
            with np.errstate(invalid="ignore"):
                mean = np.asarray(np.bincount(cells, numbers, size), dtype=np.float64)
                mean /= np.bincount(cells, minlength=size)
        return mean.reshape(len(self.instances), len(self.members))

    @cached_property
    def _once(self) -> bool:
        """Whether each member ran once on each instance: then nothing is summed."""
        size = len(self.instances) * len(self.members)
        return bool((np.bincount(self._runs[1], minlength=size) == 1).all())

    @cached_property
    def placed(self) -> Flags:
        """[N, M] whether every run of a member on an instance has a valid placement."""
        return self._all(self.judged.placed)

    @cached_property
    def optimal(self) -> Flags:
        """[N, M] whether every run of a member is at the proven optimum of every term."""
        return self._all(self.judged.optimal)

    def _all(self, holds: Flags) -> Flags:
        """Return [N, M] whether something holds of every run."""
        return np.asarray(self._mean(holds[self._runs[0]].astype(float)) == 1, dtype=bool)

    @property
    def seconds(self) -> Floats:
        """[N, M] mean seconds over the seeds."""
        return self._mean(self.judged.runs["seconds"].to_numpy()[self._runs[0]])

    @property
    def _seeds(self) -> Indices:
        """[N x M] number of runs in each cell, at least 1."""
        size = len(self.instances) * len(self.members)
        return np.maximum(np.bincount(self._runs[1], minlength=size), 1)

    @cached_property
    def scale(self) -> int:
        """What `values` are multiplied with, so that means over the seeds are whole; mostly 1."""
        return 1 if self._once else math.lcm(*np.unique(self._seeds).tolist())

    @cached_property
    def values(self) -> NDArray[Any]:
        """[N, M, P] the means of the values over the seeds, times `scale`."""
        runs, cells = self._runs
        values = self.judged.values[runs]
        if self.scale > 1:
            values = values.astype(object)
        shape = (len(self.instances), len(self.members), values.shape[1])
        sums = np.zeros((shape[0] * shape[1], shape[2]), dtype=values.dtype)
        if self._once:
            sums[cells] = values
        else:
            np.add.at(sums, cells, values)
            sums *= (self.scale // self._seeds).astype(sums.dtype)[:, None]
        return sums.reshape(shape)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The terms that the objectives of these instances have."""
        present = set(np.unique(self.judged.term_at[self.instances]).tolist())
        return tuple(term for i, term in enumerate(self.judged.terms) if i in present)

    def gaps(self, term: str) -> Gaps:
        """Return the gaps of the members in a term."""
        judged = self.judged
        at = judged.term_at[self.instances] == judged.terms.index(term)
        unknown = judged.terms_counted[self.instances] == 0
        counts = at.any(axis=1) | unknown
        ends = self._of_runs(term)
        low, high = (self._with_best(ends.pop(0), counts, unknown) for _ in range(2))
        proven = (judged.proven_terms[self.instances] > np.argmax(at, axis=1)) & ~unknown
        return Gaps(self, term, np.flatnonzero(counts), low, high, proven[counts])

    def _of_runs(self, term: str) -> list[Floats]:
        """Return the least and the greatest gap in a term of each of `_runs`."""
        judged, term_index = self.judged, self.judged.terms.index(term)
        runs, _ = self._runs
        ends = [np.full(len(runs), math.inf) for _ in range(2)]
        for block in blocks(len(runs)):
            of_block = judged.term_at[judged.instance[runs[block]]]
            for p in range(of_block.shape[1]):
                here = block.start + np.flatnonzero(of_block[:, p] == term_index)
                for end, gaps in zip(ends, judged.gaps(runs[here], p), strict=True):
                    end[here] = gaps
        return ends

    def seed_means(self, term: str, rows: Indices) -> Floats:
        """Return [M, 2] from and to which mean the seeds of each member lead.

        The least and the greatest mean gap in a term over instances (`rows`: those of
        `Gaps.common`) with one seed each; seeds count that ran on all of them. NaN where fewer
        than two do.
        """
        seed_means = np.full((len(self.members), 2), math.nan)
        if self._once or not len(rows):
            return seed_means
        runs, cells = self._runs
        seeds, seed = np.unique(self.judged.runs["seed"].to_numpy()[runs], return_inverse=True)
        here = np.flatnonzero(np.isin(cells // len(self.members), rows))
        shape = len(self.members), len(seeds)
        group = (cells[here] % shape[0]) * shape[1] + seed[here]
        whole = np.bincount(group, minlength=shape[0] * shape[1]).reshape(shape) == len(rows)
        members = np.flatnonzero(whole.sum(axis=1) > 1)
        for column, (of_run, choose) in enumerate(
            zip(self._of_runs(term), (min, max), strict=True)
        ):
            sums = np.bincount(group, weights=of_run[here], minlength=shape[0] * shape[1])
            means = sums.reshape(shape) / len(rows)
            for member in members:
                seed_means[member, column] = choose(means[member, whole[member]])
        return seed_means

    def _with_best(self, of_run: Floats, counts: Flags, unknown: Flags) -> Floats:
        """Return [n, M + 1] the gaps of the instances that count, from those of each run.

        The last column is that of the compared method with the least values; infinity of none.
        """
        mean = self._mean(of_run)
        mean[unknown] = math.inf
        rows: Floats = np.empty((int(counts.sum()), mean.shape[1] + 1))
        least: Floats = np.full(len(mean), math.inf)
        for gaps, is_best in zip(mean.T, self.best.T, strict=True):
            least[is_best] = np.minimum(least[is_best], gaps[is_best])
        rows[:, -1] = least[counts]
        rows[:, :-1] = mean if counts.all() else mean[counts]
        return rows

    def better(self, first: int, second: int) -> tuple[Flags, Flags]:
        """Return [N] where a member beats another, and where they are equal.

        By the values of the terms, the first that differs counts; whoever places wins against a
        failure, and two failures are not equal.
        """
        a, b = self.placed[:, first], self.placed[:, second]
        less, equal = lexicographic(self.values[:, first], self.values[:, second])
        return a & (~b | less), a & b & equal

    @cached_property
    def best(self) -> Flags:
        """[N, M] whether a compared method has the least values of all compared methods."""
        best = self.placed & self.compared
        values = self.values
        most = np.iinfo(np.int64).max if values.dtype != object else 10**60
        for p in range(values.shape[2]):
            some = np.where(best, values[:, :, p], most)
            best = best & (some == some.min(axis=1, keepdims=True))
        return best


def comparisons_of(judged: Judged) -> tuple[MethodComparison, ...]:
    """Return the comparison of the methods of each group, on all its instances."""
    return tuple(MethodComparison(judged, group, group.instances) for group in groups_of(judged))


def lexicographic(a: NDArray[Any], b: NDArray[Any]) -> tuple[Flags, Flags]:
    """Return [N] where the vectors of `a` [N, P] are less than those of `b`, and where equal."""
    less = np.zeros(len(a), dtype=bool)
    equal = np.ones(len(a), dtype=bool)
    for p in range(a.shape[1]):
        less |= equal & np.asarray(a[:, p] < b[:, p], dtype=bool)
        equal &= np.asarray(a[:, p] == b[:, p], dtype=bool)
    return less, equal


@dataclass(frozen=True, eq=False)
class Gaps:
    """The gaps of the members of a comparison in one term, on the n instances that have it.

    Parameters
    ----------
    comparison, term
        Whose they are. An instance whose objective nobody knows, as all runs failed, counts for
        every term.
    rows
        [n] which of the comparison's instances.
    low, high
        [n, M + 1] least and greatest gap, infinity for failures; of the members, and last of the
        virtual best: the compared method with the least values on each instance.
    proven
        [n] whether the optimum of the term is proven.
    """

    comparison: MethodComparison
    term: str
    rows: Indices
    low: Floats
    high: Floats
    proven: Flags

    @cached_property
    def common(self) -> Flags:
        """[n] the instances of means: all compared methods placed them with a finite gap."""
        compared = np.append(self.comparison.compared, False)
        return np.asarray(np.isfinite(self.low[:, compared]).all(axis=1), dtype=bool)

    @cached_property
    def placed(self) -> Flags:
        """[n, M + 1] whether there is a valid placement."""
        placed = self.comparison.placed[self.rows]
        best = (placed & self.comparison.compared).any(axis=1)
        return np.column_stack([placed, best])

    @cached_property
    def seed_means(self) -> Floats:
        """[M + 1, 2] see `MethodComparison.seed_means`; NaN for the virtual best."""
        means = self.comparison.seed_means(self.term, self.rows[self.common])
        return np.vstack([means, np.full((1, 2), math.nan)])

    @property
    def names(self) -> tuple[str, ...]:
        """[M + 1] what the columns of `low` and `high` are called."""
        return (*self.comparison.names, VIRTUAL_BEST)

    def statistics(self, member: int, seed: int) -> dict[str, Any]:
        """Return what a member's gaps come to; each statistic has a low and a high end.

        ``instances``, ``proven`` (of these), ``placed``, ``finite`` (placed with a finite gap),
        ``at_optimum`` (a gap of 0), ``common`` (the number of instances of the means); then for
        the mean over the common ones, `QUANTILES` and the greatest of all: ``mean_low``,
        ``mean_high`` and so on, equal where every optimum is proven; for `WITH_INTERVAL` also the
        95 % interval, ``mean_ci_low`` and ``mean_ci_high``, null for too few instances.
        ``mean_seeds_low`` and ``mean_seeds_high``: see `MethodComparison.seed_means`.
        """
        ends = {"low": np.sort(self.low[:, member]), "high": np.sort(self.high[:, member])}
        means = {
            "low": np.sort(self.low[self.common, member]),
            "high": np.sort(self.high[self.common, member]),
        }
        statistics: dict[str, Any] = {
            "instances": len(self.rows),
            "proven": int(self.proven.sum()),
            "placed": int(self.placed[:, member].sum()),
            "finite": int(np.isfinite(self.low[:, member]).sum()),
            "at_optimum": int((self.high[:, member] == 0).sum()),
            "common": int(self.common.sum()),
        }
        for end, numbers in means.items():
            statistics[f"mean_{end}"] = float(numbers.mean()) if len(numbers) else math.nan
        for name, share in QUANTILES.items():
            for end, numbers in ends.items():
                statistics[f"{name}_{end}"] = quantile(numbers, share)
        for end, numbers in ends.items():
            statistics[f"most_{end}"] = float(numbers[-1]) if len(numbers) else math.nan
        names = (self.comparison.group.number, self.names[member], self.term)
        for name in WITH_INTERVAL:
            some = means if name == "mean" else ends
            low, high = interval(name, some["low"], some["high"], generator(seed, name, *names))
            statistics |= {f"{name}_ci_low": low, f"{name}_ci_high": high}
        return statistics | dict(zip(OF_SEEDS, self.seed_means[member].tolist(), strict=True))

    def within(self, member: int, gaps: Sequence[float]) -> list[tuple[float, float]]:
        """Return the share of instances within each gap: surely, and possibly."""
        low, high = np.sort(self.low[:, member]), np.sort(self.high[:, member])
        count = max(len(low), 1)
        return [
            (
                float(np.searchsorted(high, gap, side="right")) / count,
                float(np.searchsorted(low, gap, side="right")) / count,
            )
            for gap in gaps
        ]


def interval(
    name: str, low: Floats, high: Floats, random: np.random.Generator
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic, from the low gaps' to the high gaps' end.

    NaN where there is none; infinite above where the high gaps have none.
    """

    def of(numbers: Floats) -> tuple[float, float] | None:
        if name == "mean":
            return mean_interval(numbers, random)
        return quantile_interval(numbers, QUANTILES[name], random)

    least = of(low)
    if least is None:
        return math.nan, math.nan
    most = least if np.array_equal(low, high) else of(high)
    return least[0], math.inf if most is None else most[1]


def quantile(ordered: Floats, share: float) -> float:
    """Return a quantile of ascending numbers, linear between neighbours; NaN of none.

    Between a finite number and infinity it is infinity.
    """
    if not len(ordered):
        return math.nan
    below, weight = divmod((len(ordered) - 1) * share, 1.0)
    low = float(ordered[int(below)])
    if not weight:
        return low
    high = float(ordered[int(below) + 1])
    return low if low == high else low + weight * (high - low)


def geometric_mean(seconds: Floats) -> float:
    """Return exp(mean(log(t + shift))) - shift; 0 for no times."""
    if not len(seconds):
        return 0.0
    mean = math.exp(float(np.log(np.sort(seconds) + TIME_SHIFT_S).mean()))
    return max(mean - TIME_SHIFT_S, 0.0)


def pairs(comparison: MethodComparison) -> Iterator[dict[str, Any]]:
    """Yield how often each compared method is better than each later one in the alphabet."""
    compared = np.flatnonzero(comparison.compared).tolist()
    for first, second in combinations(compared, 2):
        win, tie = comparison.better(first, second)
        loss = comparison.placed[:, second] & ~win & ~tie
        yield {
            "method": comparison.names[first],
            "rival": comparison.names[second],
            "instances": len(comparison.instances),
            "wins": int(win.sum()),
            "ties": int(tie.sum()),
            "losses": int(loss.sum()),
            "both_fail": int((~comparison.placed[:, first] & ~comparison.placed[:, second]).sum()),
        }


def tests(comparison: MethodComparison) -> Iterator[dict[str, Any]]:
    """Yield Wilcoxon's signed-rank test of each two compared methods in each term.

    The difference is (value - rival's value) / the greater of the two, from -1 to 1: negative where
    ``method`` is better. It needs no optimum. A term counts on the instances that both placed and
    where they agree in all earlier terms. ``p_holm`` is corrected for the pairs of the term.
    """
    compared = np.flatnonzero(comparison.compared).tolist()
    for term in comparison.terms:
        results = [_test(comparison, term, a, b) for a, b in combinations(compared, 2)]
        results = [one for one in results if one["instances"]]
        for one, p in zip(results, holm([one["p"] for one in results]), strict=True):
            yield {**one, "p_holm": p}


def _test(comparison: MethodComparison, term: str, first: int, second: int) -> dict[str, Any]:
    numbers = differences(comparison, term, first, second)
    return {
        "method": comparison.names[first],
        "rival": comparison.names[second],
        "term": term,
        "instances": len(numbers),
        "differing": int(np.count_nonzero(numbers)),
        "median_difference": float(np.median(numbers)) if len(numbers) else None,
        "p": wilcoxon_p(numbers),
    }


def differences(comparison: MethodComparison, term: str, first: int, second: int) -> Floats:
    """Return the relative differences of two members in a term, ascending; see `tests`."""
    judged = comparison.judged
    term_at = judged.term_at[comparison.instances]
    term_index = judged.terms.index(term)
    agreed = comparison.placed[:, first] & comparison.placed[:, second]
    columns = []
    for p in range(term_at.shape[1]):
        a, b = comparison.values[:, first, p], comparison.values[:, second, p]
        here = agreed & (term_at[:, p] == term_index)
        columns.append(_apart(a[here], b[here]))
        agreed &= np.asarray(a == b, dtype=bool)
    return np.sort(np.concatenate(columns)) if columns else np.zeros(0)


def _apart(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    apart, most = np.asarray(a - b, dtype=float), np.asarray(np.maximum(a, b), dtype=float)
    shares: Floats = np.divide(apart, most, out=np.zeros(len(apart)), where=apart != 0)
    return shares


def time_ratios(comparison: MethodComparison) -> Floats:
    """Return [N, M] seconds over those of the fastest compared method; infinity for failures."""
    seconds = np.where(comparison.placed, np.maximum(comparison.seconds, LEAST_SECONDS), math.inf)
    fastest = seconds[:, comparison.compared].min(axis=1, keepdims=True, initial=math.inf)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.isinf(seconds), math.inf, seconds / fastest))
