"""Gradings: their rows, summary and report, and the figures of articles beside ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from slotwise.api.inputs import path_of
from slotwise.benchmarks.aggregation.runs.run_table import run_table
from slotwise.benchmarks.aggregation.summary import Summary, summarise
from slotwise.benchmarks.grading.batch.folder import local_folder
from slotwise.benchmarks.grading.progress.display import waiting_for
from slotwise.benchmarks.report.comparison.comparison import Comparison
from slotwise.benchmarks.report.comparison.page import compare_gradings
from slotwise.benchmarks.report.labels import parse_labels
from slotwise.benchmarks.report.page import write_report
from slotwise.benchmarks.report.paper.files import write_paper
from slotwise.benchmarks.reproduction import sam
from slotwise.benchmarks.reproduction.figure import Article, Reproduced, reproduction_document
from slotwise.benchmarks.spark.session import job_errors, session, spark_session
from slotwise.models.errors import InputError
from slotwise.models.values import known

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession


def report(
    folder: str | os.PathLike[str],
    *,
    methods: Sequence[str] | Mapping[str, str] | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> Path:
    """Make one HTML page of a grading and return its path.

    Parameters
    ----------
    folder
        What `grade` wrote into (its `out`).
    methods
        What methods are called on the page: texts ``LABEL=METHOD`` (``mine=cmd:./x``), or a mapping
        from label to method; ``None`` = all keep their names.
    figures
        Folder for every chart as SVG and PDF, every table as CSV and LaTeX, and their captions; it
        is made where there is none. ``None`` = the page alone.

    Raises
    ------
    InputError
        When the folder holds no rows, or others than a grading's; for a label of no method there,
        or of two; when a file cannot be written (of `figures`, none is then).

    Examples
    --------
    >>> import slotwise
    >>> slotwise.report("out")  # doctest: +SKIP
    PosixPath('out/report.html')
    """
    graded, labels = path_of(folder, "folder", "a path"), parse_labels(methods or ())
    if figures is not None:
        write_paper(graded, path_of(figures, "figures", "a path"), labels)
    return write_report(graded, labels)


def compare(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    *,
    methods: Sequence[str] | Mapping[str, str] | None = None,
) -> Comparison:
    """Compare the runs that two gradings have of the same method, instance and seed.

    Parameters
    ----------
    before, after
        What `grade` wrote into (its `out`), twice.
    methods
        What methods are called: texts ``LABEL=METHOD``, or a mapping from label to method; ``None``
        = all keep their names. Two methods with one label, one in each grading, are compared.

    Raises
    ------
    InputError
        When a folder holds no rows, the two have no run in common, or a label is of no method.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.compare("before", "after")  # doctest: +SKIP
    Comparison before -> after: 9 cases in both
    """
    old = Path(path_of(before, "before", "a path"))
    new = Path(path_of(after, "after", "a path"))
    return Comparison(old, new, compare_gradings(old, new, parse_labels(methods or ())))


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
        with session("local[*]", waiting_for("starting Spark", False)) as own, job_errors():
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
    starting: AbstractContextManager[object] = waiting_for("starting Spark", progress)
    return summarise(_graded(folder), by, master, seed, starting)


def _graded(folder: str | os.PathLike[str]) -> str:
    text = os.fspath(path_of(folder, "folder", "a path"))
    local = local_folder(text)
    if local is not None and not local.is_dir():
        raise InputError("is no folder of a grading", field="folder", value=text)
    return text


ARTICLES: dict[str, tuple[Callable[[], Article], Callable[[Article], list[Reproduced]]]] = {
    "sam": (sam.article, sam.reproduce)
}
"""Name of an article -> its figures, and what computes ours."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """An article's figures and ours.

    Parameters
    ----------
    article
        What was published.
    figures
        Every figure with ours.
    """

    article: Article
    figures: Sequence[Reproduced]

    def __repr__(self) -> str:
        """One line: how many figures agree."""
        agree = sum(one.same for one in self.figures)
        return f"Reproduction: {agree} of {len(self.figures)} figures agree"

    def to_document(self) -> dict[str, Any]:
        """Return what ``reproduce --json`` prints."""
        return reproduction_document(self.article, list(self.figures))


def reproduce(article: str = "sam") -> Reproduction:
    """Compute the figures of an article anew, beside what it says.

    Parameters
    ----------
    article
        ``sam`` is the only one so far.

    Raises
    ------
    InputError
        For an unknown article.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.reproduce("sam")  # doctest: +SKIP
    Reproduction: 54 of 76 figures agree
    """
    published, computed = ARTICLES[known(article, ARTICLES, "article")]
    found = published()
    return Reproduction(found, computed(found))
