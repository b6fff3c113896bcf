"""The judgement of a grading: how far each run is from the optimum in each term.

The objective is lexicographic, so a term of a run counts only where the run is at the best known
value of every earlier term; where it is not, and where there is no valid placement, the run is
infinitely far away. The gap of a term is that of the articles, (value - optimum) / optimum: twice
the optimum is 100 %. An optimum of 0 has a gap of 0 at it and of infinity above it.

Where the optimum is not proven, the gap is not known; it lies in an interval:

- at least (value - best known) / best known, where best known is the least value of any run of the
  instance, exact engines included;
- at most (value - bound) / bound, which is infinite where no bound is proven.

With `solver_gap` both are divided by the value instead, as MIP solvers print gaps.

Everything that is said of a run depends on the rows of its instance alone, so rows may be split
between processes by instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from slotwise.benchmarks.grading.rows import SUCCEEDED, Kind, RunStatus
from slotwise.benchmarks.judged.runs import NONE, Runs

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

_AT_ONCE = 1 << 20


class Proof(StrEnum):
    """What is known about an instance."""

    PROVEN = "proven"
    """The optimum of every term."""
    BOUNDED = "bounded"
    """A valid placement, and a proven bound of the first term whose optimum is open."""
    OPEN = "open"
    """Neither: no valid placement is known, or no bound of the first term that is open."""
    INFEASIBLE = "infeasible"
    """That there is no valid placement."""


@dataclass(frozen=True, eq=False)
class Judged:
    """The runs of a grading, judged.

    R runs, I instances, P positions of terms in an objective.

    Parameters
    ----------
    runs
        As in `Runs`, without values.
    instances
        As in `Runs`; one row for each code of ``runs.instance``.
    decimals
        See `Runs`.
    terms
        Names of all terms, in the order of the objective with most terms.
    term_at
        [I, P] which of `terms` stands at a position of the instance's objective; -1 = none.
    values
        [R, P] of each run, `runs.NONE` without a valid placement.
    best
        [I, P] the best known values, those of one run; `runs.NONE` = no valid placement is known.
    bounds
        [I, P] proven lower bounds, each given that the earlier terms are at their optimum;
        `runs.NONE` = not proven.
    proven_terms
        [I] how many of the first terms have a proven optimum.
    infeasible
        [I] whether it is proven that there is no valid placement.
    solver_gap
        Whether gaps are those of solvers.
    """

    runs: pd.DataFrame
    instances: pd.DataFrame
    decimals: int
    terms: tuple[str, ...]
    term_at: Indices
    values: NDArray[Any]
    best: NDArray[Any]
    bounds: NDArray[Any]
    proven_terms: Indices
    infeasible: Flags
    solver_gap: bool

    @cached_property
    def instance(self) -> Indices:
        """[R] index of the instance of each run."""
        return np.asarray(self.runs["instance"].cat.codes)

    @cached_property
    def method(self) -> Indices:
        """[R] index of the method of each run, in `methods`."""
        return np.asarray(self.runs["method"].cat.codes)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods and engines, in alphabetical order."""
        return tuple(self.runs["method"].cat.categories)

    @cached_property
    def exact(self) -> Flags:
        """[R] whether a run is of an exact engine."""
        return np.asarray(self.runs["kind"] == str(Kind.EXACT))

    @cached_property
    def placed(self) -> Flags:
        """[R] whether a run has a valid placement."""
        return has_status(self.runs, *SUCCEEDED)

    @cached_property
    def rightly_refused(self) -> Flags:
        """[R] whether a run refused an instance that is proven infeasible."""
        return has_status(self.runs, RunStatus.REFUSED) & self.infeasible[self.instance]

    @cached_property
    def failed(self) -> Flags:
        """[R] whether a run failed: no valid placement, though the method applies.

        Not among them: proofs that there is none, and refusals where that is proven.
        """
        no_failure = has_status(self.runs, RunStatus.INFEASIBLE, RunStatus.DOES_NOT_APPLY)
        return ~(self.placed | self.rightly_refused | no_failure)

    def gaps(self, runs: NDArray[np.integer[Any]], position: int) -> tuple[Floats, Floats]:
        """Return the least and the greatest gap that some runs can have in a term's position.

        Equal where the optimum is proven. They are not kept: of millions of runs they would be
        most of the memory.
        """
        instance, value = self.instance[runs], self.values[runs, position]
        settled = self.placed[runs]
        for p in range(position):
            settled &= np.asarray(self.values[runs, p] == self.best[instance, p], dtype=bool)
        here = np.flatnonzero(settled & np.asarray(value != NONE, dtype=bool))
        low, high = (np.full(len(runs), np.inf) for _ in range(2))
        low[here] = ratios(value[here], self.best[instance[here], position], self.solver_gap)
        bound = self.bounds[instance[here], position]
        reached = self.proven_terms[instance[here]] >= position
        proved = np.flatnonzero(reached & np.asarray(bound != NONE, dtype=bool))
        high[here[proved]] = ratios(value[here[proved]], bound[proved], self.solver_gap)
        return low, high

    @cached_property
    def low(self) -> Floats:
        """[R, P] least gap of each run; see `gaps`."""
        return self._every_gap[0]

    @cached_property
    def high(self) -> Floats:
        """[R, P] greatest gap of each run."""
        return self._every_gap[1]

    @cached_property
    def _every_gap(self) -> tuple[Floats, Floats]:
        runs = np.arange(len(self.runs))
        gaps = np.full((2, *self.values.shape), np.inf)
        for p in range(self.values.shape[1]):
            gaps[:, :, p] = self.gaps(runs, p)
        return gaps[0], gaps[1]

    @cached_property
    def optimal(self) -> Flags:
        """[R] whether a run is at the proven optimum of every term."""
        proven = np.asarray(self.proof == Proof.PROVEN, dtype=bool)
        return np.asarray(self.placed & proven[self.instance] & self._at_best, dtype=bool)

    @property
    def _at_best(self) -> Flags:
        return np.asarray((self.values == self.best[self.instance]).all(axis=1), dtype=bool)

    def over_optimum(self, column: str) -> Floats:
        """Return [R] a number of each run over that of the exact engine's placement.

        NaN where one of the two is missing. Of several exact runs of an instance the first counts.
        """
        numbers = self.runs[column].to_numpy(dtype=float)
        optimum = np.full(len(self.instances), np.nan)
        exact = np.flatnonzero(self.exact & self.placed)[::-1]
        optimum[self.instance[exact]] = numbers[exact]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(numbers / optimum[self.instance])

    def vector(self, instance: int, numbers: NDArray[Any]) -> dict[str, Fraction]:
        """Return the numbers [P] of an instance by term, in the user's unit, where known."""
        places = zip(self.term_at[instance].tolist(), numbers.tolist(), strict=True)
        unit = 10**self.decimals
        return {self.terms[t]: Fraction(n, unit) for t, n in places if t >= 0 and n != NONE}

    @cached_property
    def terms_counted(self) -> Indices:
        """[I] number of terms in the objective of each instance; 0 = unknown."""
        return np.asarray((self.term_at >= 0).sum(axis=1), dtype=np.int64)

    @cached_property
    def proof(self) -> NDArray[np.object_]:
        """[I] the state of proof of each instance, a `Proof`."""
        proofs = np.full(len(self.instances), Proof.OPEN, dtype=object)
        has_placement = (self.best != NONE).any(axis=1)
        positions = np.minimum(self.proven_terms, max(self.best.shape[1] - 1, 0))
        if self.best.shape[1]:
            bounded = self.bounds[np.arange(len(proofs)), positions] != NONE
            proofs[has_placement & bounded.astype(bool)] = Proof.BOUNDED
        proofs[(self.terms_counted > 0) & (self.proven_terms == self.terms_counted)] = Proof.PROVEN
        proofs[self.infeasible] = Proof.INFEASIBLE
        return proofs

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """Sentences on values below a proven bound, or placements where there is none."""
        below = np.full(len(self.runs), -1, dtype=np.int8)
        for block in blocks(len(self.runs)):
            runs = np.arange(block.start, block.stop)
            for p in reversed(range(self.values.shape[1])):
                below[runs[self.gaps(runs, p)[1] < 0]] = p
        impossible = self.placed & self.infeasible[self.instance]
        sentences = []
        for run in np.flatnonzero((below >= 0) | impossible):
            row = self.runs.iloc[run]
            name = self.instances["name"].iloc[self.instance[run]]
            who = f"{row['method']} on {name} (seed {row['seed']})"
            if impossible[run]:
                sentences.append(f"{who}: a valid placement of an instance proven infeasible")
            else:
                term = self.terms[self.term_at[self.instance[run], below[run]]]
                sentences.append(f"{who}: {term} is below the proven bound")
        return tuple(sentences)


def blocks(count: int) -> Iterator[slice]:
    """Yield slices of `count` runs, so small that what is computed of one takes little memory."""
    for start in range(0, count, _AT_ONCE):
        yield slice(start, min(start + _AT_ONCE, count))


def has_status(runs: pd.DataFrame, *statuses: RunStatus) -> Flags:
    """Return which runs ended in one of these ways."""
    return np.asarray(runs["status"].isin(list(map(str, statuses))), dtype=bool)


def judge_runs(all_runs: Runs, solver_gap: bool = False) -> Judged:
    """Return the runs, judged: best values, bounds and gaps in each term."""
    runs, instances = all_runs.runs, all_runs.instances
    instance = np.asarray(runs["instance"].cat.codes)
    terms = terms_in_order([text.split(",") for text in set(instances["objective"]) if text])
    positions = max(
        (text.count(",") + 1 for text in set(instances["objective"]) if text), default=0
    )
    values = _grid(runs, "v", positions)
    proofs, bounds_of_proofs = (_grid(all_runs.proofs, letter, positions) for letter in "vb")
    proved = np.asarray(all_runs.proofs["instance"].cat.codes)
    best = _best([(instance, values), (proved, proofs)], len(instances))
    bounds, proven_terms = _strongest(proved, proofs, bounds_of_proofs, len(instances))
    infeasible = np.zeros(len(instances), dtype=bool)
    infeasible[instance[has_status(runs, RunStatus.INFEASIBLE)]] = True
    return Judged(
        runs=runs,
        instances=instances,
        decimals=all_runs.decimals,
        terms=terms,
        term_at=_term_at(instances["objective"], terms, positions),
        values=values,
        best=best,
        bounds=bounds,
        proven_terms=proven_terms,
        infeasible=infeasible,
        solver_gap=solver_gap,
    )


def terms_in_order(objectives: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return each term of some objectives once, in the order of the objective with most terms.

    Terms that it lacks follow. Objectives of the same length count in alphabetical order.
    """
    longest_first = sorted(objectives, key=lambda terms: (-len(terms), terms))
    return tuple(dict.fromkeys(term for terms in longest_first for term in terms))


def _grid(frame: pd.DataFrame, letter: str, positions: int) -> NDArray[Any]:
    """Return values as [rows, P]; they are taken out of the frame, so that none is there twice."""
    names = [f"{letter}{p}" for p in range(positions)]
    types = [frame[name].to_numpy().dtype for name in names]
    grid = np.empty((len(frame), positions), dtype=np.result_type(np.int64, *types))
    for p, name in enumerate(names):
        grid[:, p] = frame.pop(name)
    return grid


def _term_at(objectives: pd.Series[str], terms: Sequence[str], positions: int) -> Indices:
    rank = {term: i for i, term in enumerate(terms)}
    terms_at = np.full((len(objectives), positions), -1, dtype=np.int64)
    texts = pd.Categorical(objectives)
    kinds = np.full((len(texts.categories), positions), -1, dtype=np.int64)
    for kind, text in enumerate(texts.categories):
        for p, term in enumerate(text.split(",") if text else ()):
            kinds[kind, p] = rank[term]
    terms_at[:] = kinds[texts.codes]
    return terms_at


def _best(rows: Sequence[tuple[Indices, NDArray[Any]]], count: int) -> NDArray[Any]:
    """Return [I, P] the lexicographically least values of the rows that placed each instance.

    `rows`: in parts, their instances and their values.
    """
    kind: np.dtype[Any] = np.result_type(*(values for _, values in rows))
    most = 10**60 if kind.hasobject else np.iinfo(np.int64).max
    best = np.full((count, rows[0][1].shape[1]), most, dtype=kind)
    alive = [np.flatnonzero((values != NONE).any(axis=1)) for _, values in rows]
    for p in range(best.shape[1]):
        for (instance, values), some in zip(rows, alive, strict=True):
            np.minimum.at(best[:, p], instance[some], values[some, p])
        alive = [
            some[np.asarray(values[some, p] == best[instance[some], p], dtype=bool)]
            for (instance, values), some in zip(rows, alive, strict=True)
        ]
    best[best == most] = NONE
    return best


def _strongest(
    instance: Indices, values: NDArray[Any], bounds: NDArray[Any], count: int
) -> tuple[NDArray[Any], Indices]:
    """Return [I, P] bounds and [I] number of optima: of the row that says most of each instance.

    Most: the most first terms whose value is their bound; of as many the greatest bounds.
    """
    same = np.asarray((values == bounds) & (values != NONE), dtype=bool)
    leading = np.cumprod(same, axis=1).sum(axis=1)
    order = sorted(range(len(instance)), key=lambda i: (leading[i], tuple(bounds[i])))
    strongest = np.full((count, bounds.shape[1]), NONE, dtype=bounds.dtype)
    proven_terms = np.zeros(count, dtype=np.int64)
    strongest[instance[order]], proven_terms[instance[order]] = bounds[order], leading[order]
    return strongest, proven_terms


def ratios(values: NDArray[Any], references: NDArray[Any], solver: bool = False) -> Floats:
    """Return (value - reference) / reference; infinity above a reference of 0, and 0 at it.

    `solver`: divide by the value instead.
    """
    above = np.asarray(values - references, dtype=float)
    base = np.asarray(values if solver else references, dtype=float)
    base[np.asarray(references == 0, dtype=bool)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0, 0.0, above / base)
