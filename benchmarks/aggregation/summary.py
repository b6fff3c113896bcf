"""A grading summed up: the Spark jobs, and the statistics of each method and pair on top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from slotwise.benchmarks.aggregation.classes import (
    SIZE_EDGES,
    TIGHTNESS_EDGES,
    check_by,
    class_names,
    with_classes,
)
from slotwise.benchmarks.aggregation.gaps import (
    ALL,
    COMMON,
    GAP,
    OF,
    OVER_OPTIMUM,
    ecdf,
    gap_statistics,
    instance_numbers,
)
from slotwise.benchmarks.aggregation.intervals import (
    generator,
    holm,
    mean_interval,
    quantile_interval,
    wilcoxon_p,
)
from slotwise.benchmarks.aggregation.methods import failures, method_counts
from slotwise.benchmarks.aggregation.pairs import PAIR, meetings, pair_counts, pair_differences
from slotwise.benchmarks.aggregation.plain_table import plain_records
from slotwise.benchmarks.aggregation.profiles import profiles
from slotwise.benchmarks.aggregation.runs.judged import CASE, judged_runs, virtual_best, with_common
from slotwise.benchmarks.aggregation.runs.reading import exactness
from slotwise.benchmarks.aggregation.runs.stored import WRITTEN, stored_rows
from slotwise.benchmarks.aggregation.runs.terms import run_terms
from slotwise.benchmarks.grading.rows import Kind
from slotwise.models.values import whole
from slotwise.pipeline.spark.masters import check_master
from slotwise.pipeline.spark.session import job_errors, session

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession


NEEDED = (
    *("instance_hash", "seed", "kind", "method", "version", "family", "tasks", "tightness"),
    *("status", "terms", "violations", "reason", "error", "wall_s", "time_limit_s", WRITTEN),
)
"""Columns of the rows that the tables come from."""


def grouped_runs(runs: DataFrame, by: tuple[str, ...]) -> DataFrame:
    """Return `judged_runs` with classes and ``common``: what all tables come from."""
    return with_common(with_classes(runs, by), by)


@dataclass(frozen=True, slots=True)
class Frames:
    """The tables of a summary.

    Parameters
    ----------
    runs
        `grouped_runs`.
    by
        The columns of their classes.
    """

    runs: DataFrame
    by: tuple[str, ...]

    def counts(self) -> DataFrame:
        """Return `method_counts`."""
        return method_counts(self.runs, self.by)

    def failures(self) -> DataFrame:
        """Return why methods failed."""
        return failures(self.runs, self.by)

    def gaps(self) -> DataFrame:
        """Return `gap_statistics` of all methods, exact engines and the virtual best."""
        needed = (
            *(*self.by, *CASE, "subject", "kind", "method", "names", "ranks"),
            *("values", "bounds", "known", "best", "placed", "impossible", "common", "reached"),
        )
        best = virtual_best(self.runs, self.by).select(*needed)
        everyone = self.runs.select(*needed).unionByName(best)
        return gap_statistics(instance_numbers(run_terms(everyone), self.by), self.by)

    def meetings(self) -> DataFrame:
        """Return the cases that two methods both ran on, for `pair_counts` and differences."""
        return meetings(self.runs, self.by)

    def profiles(self) -> DataFrame:
        """Return performance profiles."""
        return profiles(self.runs, self.by)


WITH_INTERVAL = {"median": 0.5, "p95": 0.95}
"""Quantiles that have a confidence interval, as the mean has."""


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """What each method comes to; all tables are pandas DataFrames.

    Parameters
    ----------
    folder
        Where the rows are.
    by
        Columns of classes that each table begins with.
    terms
        Names of the terms of the objective.
    methods
        One row per method: runs, ``solved``, wins, seconds, and of each term the main columns of
        `gaps`.
    gaps
        Quantiles, means and 95 % intervals of the gaps, per method, term, measure (``gap``,
        ``over_optimum``, ``above_zero``) and basis (``all``, ``common``, ``placed``,
        ``to bound``). Infinity = no placement, or an earlier term not at its optimum.
    """

    folder: str
    by: tuple[str, ...]
    terms: tuple[str, ...]
    methods: pd.DataFrame
    gaps: pd.DataFrame

    def __repr__(self) -> str:
        """One line: the folder, and of each method how much it solved."""
        told = ", ".join(
            f"{row['method']} {row['solved']} of {row['runs']}"
            for row in self.methods.to_dict("records")
        )
        return f"{type(self).__name__} {self.folder}: {told}"

    def to_frame(self) -> pd.DataFrame:
        """Return the table of methods."""
        return self.methods.copy()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summary(Graded):
    """What the rows of a grading come to: `Graded`, and methods against each other.

    Parameters
    ----------
    ecdf
        Share of the instances within a gap, of all and of common instances.
    pairs
        Wins, ties and losses of every two methods.
    tests
        Wilcoxon's signed-rank test of every two methods in each term, with Holm's correction.
    profiles
        Performance profiles.
    failures
        How often each method gave no placement, and why.
    """

    ecdf: pd.DataFrame
    pairs: pd.DataFrame
    tests: pd.DataFrame
    profiles: pd.DataFrame
    failures: pd.DataFrame

    def to_document(self) -> dict[str, Any]:
        """Return all tables as JSON-ready data; infinity is the text ``inf``."""
        names = ("methods", "gaps", "ecdf", "pairs", "tests", "profiles", "failures")
        tables = {name: plain_records(getattr(self, name)) for name in names}
        told = {"folder": self.folder, "by": list(self.by), "terms": list(self.terms)}
        return {**told, **tables}


def summarise(
    folder: str,
    by: str | Sequence[str] = (),
    master: str = "local[*]",
    seed: int = 0,
    starting: AbstractContextManager[object] | None = None,
) -> Summary:
    """Sum a grading up on Spark; see `slotwise.summary`."""
    columns = check_by(by)
    check_master(master)
    whole(seed, "seed")
    with session(master, starting or nullcontext()) as spark:
        return summary_of(spark, folder, columns, seed)


def summarise_methods(spark: SparkSession, folder: str) -> Graded:
    """Return what each method comes to, without the tables that compare them."""
    with _frames(spark, folder, ()) as (terms, frames):
        return _graded(folder, (), terms, frames.gaps(), frames.counts(), 0)


def summary_of(spark: SparkSession, folder: str, by: tuple[str, ...], seed: int = 0) -> Summary:
    """Return the summary of the rows in a folder; runs the jobs on `spark`.

    Raises
    ------
    InputError
        For a folder without rows, or rows that cannot be compared.
    """
    with _frames(spark, folder, by) as (terms, frames):
        return _collected(folder, by, terms, frames, seed)


@contextmanager
def _frames(
    spark: SparkSession, folder: str, by: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Frames]]:
    """Give the terms and the tables of a folder, whose runs are kept in Spark meanwhile."""
    rows = stored_rows(spark, folder).select(*NEEDED)
    exact = exactness(rows, folder)
    runs = grouped_runs(judged_runs(rows, exact), by).persist()
    try:
        with job_errors():
            yield exact.terms, Frames(runs, by)
    finally:
        runs.unpersist()


def _graded(
    folder: str,
    by: tuple[str, ...],
    terms: tuple[str, ...],
    statistics: DataFrame,
    counts: DataFrame,
    seed: int,
) -> Graded:
    gaps = sorted_rows(_with_intervals(statistics.toPandas(), by, seed), [*by, *OF])
    return Graded(folder, by, terms, method_table(counts.toPandas(), gaps, by, terms), gaps)


def _collected(
    folder: str, by: tuple[str, ...], terms: tuple[str, ...], frames: Frames, seed: int
) -> Summary:
    statistics = frames.gaps().persist()
    try:
        graded = _graded(folder, by, terms, statistics, frames.counts(), seed)
        shares = ecdf(statistics.where("basis in ('all', 'common')"), by).toPandas()
    finally:
        statistics.unpersist()
    met = frames.meetings()
    return Summary(
        folder=folder,
        by=by,
        terms=terms,
        methods=graded.methods,
        gaps=graded.gaps,
        ecdf=sorted_rows(shares, [*by, *OF, "within"]),
        pairs=sorted_rows(pair_counts(met, by).toPandas(), [*by, *PAIR]),
        tests=_tested(pair_differences(met, by).toPandas(), by),
        profiles=sorted_rows(frames.profiles().toPandas(), [*by, "position", "method", "tau"]),
        failures=sorted_rows(frames.failures().toPandas(), [*by, "method", "status", "why"]),
    )


def _with_intervals(gaps: pd.DataFrame, by: Sequence[str], seed: int) -> pd.DataFrame:
    """Replace the numbers of each row by the confidence intervals that follow from them."""
    intervals: dict[str, list[float | None]] = {
        f"{name}_{end}": [] for name in ("mean", *WITH_INTERVAL) for end in ("low", "high")
    }
    for row in gaps.to_dict("records"):
        random = generator(seed, *(row[str(column)] for column in (*by, *OF)))
        numbers = row["numbers"]
        both = {"mean": mean_interval(numbers, random)}
        both |= {n: quantile_interval(numbers, s, random) for n, s in WITH_INTERVAL.items()}
        for name, interval in both.items():
            low, high = interval or (None, None)
            intervals[f"{name}_low"].append(low)
            intervals[f"{name}_high"].append(high)
    import pandas as pd

    found = pd.DataFrame(intervals, index=gaps.index, dtype=float)
    return pd.concat([gaps.drop(columns="numbers"), found], axis=1)


def _tested(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the tests of pairs in a term, corrected for the number of pairs in the group."""
    found = sorted_rows(differences, [*by, "position", *PAIR])
    numbers = [np.asarray(some, dtype=float) for some in found["differences"]]
    told = found.drop(columns="differences").assign(
        instances=[len(some) for some in numbers],
        differing=[int(np.count_nonzero(some)) for some in numbers],
        median_difference=[float(np.median(some)) for some in numbers],
        p=np.array([wilcoxon_p(some) for some in numbers], dtype=float),
    )
    corrected = told.groupby([*by, "position"])["p"].transform(_holm) if len(told) else told["p"]
    return told.assign(p_holm=corrected)


def _holm(p_values: pd.Series[float]) -> list[float]:
    known = [None if p != p else float(p) for p in p_values]
    return [float("nan") if p is None else p for p in holm(known)]


_CLASSES = (*class_names(SIZE_EDGES), *class_names(TIGHTNESS_EDGES))

_ENDS = ("", "_low", "_high")
STATISTICS = {
    ALL: ("instances", "reached", *(f"{n}{end}" for n in ("median", "p95") for end in _ENDS)),
    COMMON: ("instances", *(f"mean{end}" for end in _ENDS), "median", "p95"),
}
"""What `method_table` has of a basis, as ``TERM_MEASURE_BASIS_NAME``: ``network_gap_all_p95``."""


def method_table(
    counts: pd.DataFrame, gaps: pd.DataFrame, by: Sequence[str], terms: Sequence[str]
) -> pd.DataFrame:
    """Join what `method_counts` and `gap_statistics` say: exact engines first, then by solved."""
    keys = [*by, "kind", "method"]
    found = counts
    for term in terms:
        for measure in (OVER_OPTIMUM, GAP):
            for basis, names in STATISTICS.items():
                chosen = (gaps["term"] == term) & (gaps["measure"] == measure)
                some = gaps[chosen & (gaps["basis"] == basis)]
                named = {name: f"{term}_{measure}_{basis}_{name}" for name in names}
                found = found.merge(
                    some[[*keys, *names]].rename(columns=named), on=keys, how="left"
                )
    share = found["solved"] / found["runs"]
    ranked = found.assign(_exact=found["kind"] != Kind.EXACT, _failed=1 - share)
    return sorted_rows(ranked, [*by, "_exact", "_failed", "method"]).drop(
        columns=["_exact", "_failed"]
    )


def sorted_rows(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows in the order of these columns; classes from small to large."""
    return table.sort_values(list(columns), key=_class_order, ignore_index=True)


def _class_order(column: pd.Series[str]) -> pd.Series[str]:
    """Return a column with the names of classes replaced by what sorts in their order."""
    ranks = {name: f"{rank:02d}" for rank, name in enumerate(_CLASSES)}
    return column.replace(ranks) if column.name in ("size", "tightness") else column
