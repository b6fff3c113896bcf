"""The runs of a folder as one DataFrame: the latest row of each, terms in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.benchmarks.aggregation.runs.judged import RUN, is_right_refusal, judged_runs
from slotwise.benchmarks.aggregation.runs.reading import exactness
from slotwise.benchmarks.aggregation.runs.stored import stored_rows
from slotwise.benchmarks.aggregation.runs.terms import run_terms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run_table(spark: SparkSession, folder: str) -> DataFrame:
    """Return one row per run, sorted by its name; see `slotwise.read_rows`.

    Raises
    ------
    InputError
        For a folder without rows, or rows that cannot be compared.
    """
    rows = stored_rows(spark, folder)
    exact = exactness(rows, folder)
    return wide_runs(judged_runs(rows, exact), exact.terms).sort(*RUN)


OF_TERM = ("value", "bound", "proven", "gap", "over_optimum")
"""What each term has columns of: ``network_value``, ``network_bound`` and so on."""

OF_RUN = (
    *("instance", "family", "case_index", "tasks", "nodes", "topologies", "tightness"),
    *("parameters", "time_limit_s", "workers", "version", "versions", "git_revision"),
    *("engine", "engine_parameters", "status", "rightly_refused", "proof"),
    *("violation_count", "violations", "reason", "placement"),
    *("wall_s", "cpu_s", "peak_memory_mb", "cpu_model", "error"),
)
"""Columns that a run has besides its name (`RUN`) and its terms'."""


def wide_runs(runs: DataFrame, terms: Sequence[str]) -> DataFrame:
    """Return one row for each run of `judged_runs`, with `OF_TERM` of each of `terms`."""

    def of_term(what: str, term: str) -> Column:
        return fn.max(fn.when(fn.col("term") == term, fn.col(what))).alias(f"{term}_{what}")

    long = run_terms(runs.select(*RUN, *_NEEDED))
    columns = [of_term(what, term) for term in terms for what in OF_TERM]
    kept = runs.withColumn("rightly_refused", is_right_refusal()).select(*RUN, *OF_RUN)
    if not columns:
        return kept
    return kept.join(long.groupBy(*RUN).agg(*columns), list(RUN), "left")


_NEEDED = ("names", "ranks", "values", "bounds", "known", "reached", "placed")
