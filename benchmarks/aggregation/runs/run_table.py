"""The runs of a folder as one DataFrame: the latest row of each, terms in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.runs.judged import RUN, judged_runs
from slotwise.benchmarks.aggregation.runs.reading import exactness
from slotwise.benchmarks.aggregation.runs.stored import stored_rows
from slotwise.benchmarks.aggregation.runs.wide import wide_runs

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
