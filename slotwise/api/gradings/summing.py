"""The runs of a grading as a table, and what they come to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Literal, overload

from slotwise.api.inputs import path_of
from slotwise.benchmarks.aggregation.runs.run_table import run_table
from slotwise.benchmarks.aggregation.summary import Summary, summarise
from slotwise.benchmarks.grading.batch.folder import local_folder
from slotwise.benchmarks.grading.progress.display import waiting_for
from slotwise.models.errors import InputError
from slotwise.pipeline.spark.session import session, spark_session

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession


@overload
def read_rows(folder: str | os.PathLike[str], *, spark: Literal[False] = False) -> pd.DataFrame: ...
@overload
def read_rows(
    folder: str | os.PathLike[str], *, spark: Literal[True] | SparkSession
) -> DataFrame: ...
def read_rows(
    folder: str | os.PathLike[str], *, spark: bool | SparkSession = False
) -> pd.DataFrame | DataFrame:
    """Return the runs of a grading as a DataFrame: the latest row of each run.

    Columns besides those of the files: for each term, for example ``network``,

    - ``network_value``: of the placement, null where none is valid (`decimal.Decimal`, exact);
    - ``network_bound``: what is proven of the instance, whoever proved it, the earlier terms being
      at their optimum; ``network_proven``: whether it is the optimum;
    - ``network_gap`` = (value - bound) / max(abs(value), 10^-6), and ``network_over_optimum`` =
      (value - optimum) / optimum, of methods as of exact engines; null where an earlier term is not
      at its optimum, and above an optimum of 0;

    and ``rightly_refused``: a refusal of an instance that is proven infeasible.

    Parameters
    ----------
    folder
        What `grade` wrote into (its `out`), of this machine or of Spark's (``hdfs://...``).
    spark
        ``False`` = a pandas DataFrame (Spark runs on this machine meanwhile). A session, or
        ``True`` for the active one or a new one that you stop: a DataFrame of Spark's, which is
        not computed yet.

    Raises
    ------
    InputError
        When the folder holds no rows, or rows that cannot be compared.

    Examples
    --------
    >>> import slotwise
    >>> runs = slotwise.read_rows("out")  # doctest: +SKIP
    >>> runs.groupby("method")["network_gap"].median()  # doctest: +SKIP
    """
    path = _graded(folder)
    if spark is False:
        with session("local[*]", nullcontext()) as own:
            return run_table(own, path).toPandas()
    return run_table(spark_session() if spark is True else spark, path)


def summary(
    folder: str | os.PathLike[str],
    *,
    by: str | Sequence[str] = (),
    master: str = "local[*]",
    seed: int = 0,
    progress: bool = False,
) -> Summary:
    """Sum a grading up: a row per method with what it solved, its gaps, wins and seconds.

    Parameters
    ----------
    folder
        What `grade` wrote into (its `out`), of this machine or of Spark's (``hdfs://...``).
    by
        Classes of instances to keep apart: ``family``, ``size``, ``tightness``; a text
        ``family,size`` or a sequence.
    master
        Spark's master; a session that is active already is used as it is, and not stopped.
    seed
        Of the confidence intervals.
    progress
        Say on stderr that Spark is starting, if that is a terminal.

    Raises
    ------
    InputError
        For an unknown class, a folder without rows, or rows that cannot be compared.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.summary("out")  # doctest: +SKIP
    Summary out: auto 9 of 9, r-storm 9 of 9
    """
    starting = waiting_for("starting Spark", progress)
    return summarise(_graded(folder), by, master, seed, starting)


def _graded(folder: str | os.PathLike[str]) -> str:
    text = os.fspath(path_of(folder, "folder", "a path"))
    local = local_folder(text)
    if local is not None and not local.is_dir():
        raise InputError("is no folder of a grading", field="folder", value=text)
    return text
