"""The runs of a grading as a table, and their summary."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from slotwise.api.paths import graded_folder
from slotwise.benchmarks.grading.progress.display import waiting_for
from slotwise.benchmarks.grading.store import local_folder
from slotwise.benchmarks.judged.classes import check_by
from slotwise.benchmarks.judged.reading import read_judged
from slotwise.benchmarks.judged.run_table import run_table, spark_run_table
from slotwise.benchmarks.judged.summary import Summary, summarise
from slotwise.models.errors import InputError
from slotwise.models.values import whole

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
    """Return the runs of a grading as a DataFrame: the newest row of each run, judged.

    Columns besides those of the files: for each term, for example ``network``,

    - ``network_value``: of the placement, null where none is valid (`decimal.Decimal`, exact);
    - ``network_best_known``: the least of any run of the instance, exact engines included;
      ``network_bound``: the proven bound, the earlier terms being at their optimum;
      ``network_proven``: whether the best known value is the optimum;
    - ``network_gap_low``, ``network_gap_high``: the interval of (value - optimum) / optimum, see
      ``docs/grading.md``; equal where the optimum is proven, infinity without a valid placement;

    and ``rightly_refused``: a refusal of an instance that is proven infeasible.

    Parameters
    ----------
    folder
        The folder of `grade` (its `out`), local or, with `spark`, of Spark (``hdfs://...``).
    spark
        ``False`` = a pandas DataFrame, read in this process. A session, or ``True`` for the active
        one or a new one that you stop: a DataFrame of Spark's, which is not computed yet.

    Raises
    ------
    InputError
        When the folder holds no rows, or rows that cannot be compared.

    Examples
    --------
    >>> import slotwise
    >>> runs = slotwise.read_rows("out")  # doctest: +SKIP
    >>> runs.groupby("method")["network_gap_low"].median()  # doctest: +SKIP
    """
    path = graded_folder(folder, "folder")
    if spark is False:
        if local_folder(path) is None:
            rule = "is read by Spark; pass spark=True"
            raise InputError(rule, field="folder", value=path)
        return run_table(path)
    from slotwise.pipeline.spark.session import spark_session

    return spark_run_table(spark_session() if spark is True else spark, path)


def summary(
    folder: str | os.PathLike[str],
    *,
    by: str | Sequence[str] = (),
    solver_gap: bool = False,
    master: str | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Summary:
    """Summarise a grading: a row per method with what it placed, its gaps, wins and seconds.

    Parameters
    ----------
    folder
        The folder of `grade` (its `out`), local or of Spark (``hdfs://...``).
    by
        Classes of instances to keep apart: ``family``, ``size``, ``tightness``; a text
        ``family,size`` or a sequence.
    solver_gap
        Gaps as MIP solvers print them, (value - bound) / value, instead of
        (value - optimum) / optimum.
    master
        Spark's master; a session that is active already is used as it is, and not stopped.
        ``None`` = a folder of this machine is read in this process, any other by Spark on it.
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
    columns, path = check_by(by), graded_folder(folder, "folder")
    whole(seed, "seed")
    if master is not None:
        from slotwise.pipeline.spark.masters import check_master

        check_master(master)
    starting = waiting_for("starting Spark", progress)
    judged = read_judged(path, master=master, starting=starting, solver_gap=solver_gap)
    return summarise(judged, path, columns, seed)
