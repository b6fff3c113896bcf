"""A grading summed up: the Spark jobs, and the statistics of each method and pair on top."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.benchmarks.aggregation.classes import check_by
from slotwise.benchmarks.aggregation.frames import Frames, frames_of, grouped_runs
from slotwise.benchmarks.aggregation.gap_numbers import OF
from slotwise.benchmarks.aggregation.gaps import ecdf
from slotwise.benchmarks.aggregation.intervals import generator, mean_interval, quantile_interval
from slotwise.benchmarks.aggregation.method_table import method_table, sorted_rows
from slotwise.benchmarks.aggregation.pairs import PAIR
from slotwise.benchmarks.aggregation.plain_table import plain_records
from slotwise.benchmarks.aggregation.reading import as_today, exactness, stored_rows
from slotwise.benchmarks.aggregation.runs import judged_runs
from slotwise.benchmarks.aggregation.significance import holm, wilcoxon_p
from slotwise.benchmarks.spark.session import check_master, job_errors, session
from slotwise.models.values import whole

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

WITH_INTERVAL = {"median": 0.5, "p95": 0.95}
"""Quantiles that have a confidence interval, as the mean has."""


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What the rows of a grading come to; all tables are pandas DataFrames.

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

    folder: Path
    by: tuple[str, ...]
    terms: tuple[str, ...]
    methods: pd.DataFrame
    gaps: pd.DataFrame
    ecdf: pd.DataFrame
    pairs: pd.DataFrame
    tests: pd.DataFrame
    profiles: pd.DataFrame
    failures: pd.DataFrame

    def __repr__(self) -> str:
        """One line: the folder, and of each method how much it solved."""
        told = ", ".join(
            f"{row['method']} {row['solved']} of {row['runs']}"
            for row in self.methods.to_dict("records")
        )
        return f"Summary {self.folder}: {told}"

    def to_frame(self) -> pd.DataFrame:
        """Return the table of methods."""
        return self.methods.copy()

    def to_document(self) -> dict[str, Any]:
        """Return all tables as JSON-ready data; infinity is the text ``inf``."""
        names = ("methods", "gaps", "ecdf", "pairs", "tests", "profiles", "failures")
        tables = {name: plain_records(getattr(self, name)) for name in names}
        told = {"folder": str(self.folder), "by": list(self.by), "terms": list(self.terms)}
        return {**told, **tables}


def summarise(
    folder: Path,
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


def summary_of(spark: SparkSession, folder: Path, by: tuple[str, ...], seed: int = 0) -> Summary:
    """Return the summary of the rows in a folder; runs the jobs on `spark`.

    Raises
    ------
    InputError
        For a folder without rows, or rows that cannot be compared.
    """
    rows = stored_rows(spark, folder).transform(as_today)
    exact = exactness(rows, folder)
    runs = grouped_runs(judged_runs(rows, exact), by).persist()
    try:
        with job_errors():
            return _collected(folder, by, exact.terms, frames_of(runs, by), seed)
    finally:
        runs.unpersist()


def _collected(
    folder: Path, by: tuple[str, ...], terms: tuple[str, ...], frames: Frames, seed: int
) -> Summary:
    statistics = frames.gaps.persist()
    try:
        gaps = _with_intervals(statistics.toPandas(), by, seed)
        shares = ecdf(statistics.where("basis in ('all', 'common')"), by).toPandas()
    finally:
        statistics.unpersist()
    counts = frames.counts.toPandas()
    order = [*by, *OF]
    return Summary(
        folder=folder,
        by=by,
        terms=terms,
        methods=method_table(counts, gaps, by, terms),
        gaps=sorted_rows(gaps, order),
        ecdf=sorted_rows(shares, [*order, "within"]),
        pairs=sorted_rows(frames.pairs.toPandas(), [*by, *PAIR]),
        tests=_tested(frames.differences.toPandas(), by),
        profiles=sorted_rows(frames.profiles.toPandas(), [*by, "position", "method", "tau"]),
        failures=sorted_rows(frames.failures.toPandas(), [*by, "method", "status", "why"]),
    )


def _with_intervals(gaps: pd.DataFrame, by: Sequence[str], seed: int) -> pd.DataFrame:
    """Replace the numbers of each row by the confidence intervals that follow from them."""
    intervals: dict[str, list[float | None]] = {
        f"{name}_{end}": [] for name in ("mean", *WITH_INTERVAL) for end in ("low", "high")
    }
    for row in gaps.to_dict("records"):
        random = generator(seed, *(row[str(column)] for column in (*by, *OF)))
        numbers = row["numbers"]
        found = {"mean": mean_interval(numbers, random)}
        found |= {n: quantile_interval(numbers, s, random) for n, s in WITH_INTERVAL.items()}
        for name, interval in found.items():
            low, high = interval or (None, None)
            intervals[f"{name}_low"].append(low)
            intervals[f"{name}_high"].append(high)
    return gaps.drop(columns="numbers").assign(**intervals).astype(dict.fromkeys(intervals, float))


def _tested(differences: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the tests of pairs in a term, corrected for the number of pairs in the group."""
    import numpy as np

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
