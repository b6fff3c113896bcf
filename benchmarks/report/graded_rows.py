"""A grading that a report is made of: its rows, what they say, the charts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from slotwise.benchmarks.analysis.aggregate import Aggregate, aggregate
from slotwise.benchmarks.analysis.cases import latest
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.figures import charts
from slotwise.benchmarks.report.figures.numbers.levels import ProblemOf
from slotwise.benchmarks.report.labels import check_labels
from slotwise.models.errors import InputError

MOST_PROBLEMS = 64
"""Compiled instances that are kept while a report is made."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A grading, read and summarised once for its page and for its files.

    Parameters
    ----------
    rows
        One for each case and method.
    summary
        What they say about each method.
    labels
        Method -> what it is called; others keep their names.
    problem_of
        Where the instances come from; the last `MOST_PROBLEMS` of them are kept.
    charts
        Those that the rows have something for.
    """

    rows: tuple[Row, ...]
    summary: Aggregate
    labels: Mapping[str, str]
    problem_of: ProblemOf
    charts: tuple[Chart, ...]


def read_graded(store: Store, labels: Mapping[str, str] | None = None) -> Graded:
    """Return the grading in a folder.

    Raises
    ------
    InputError
        When there are no rows, or rows that a grading does not write; for a label of no method
        there.
    """
    rows = graded_rows(store)
    check_labels(labels or {}, {row["method"] for row in rows})
    return graded_of(rows, store.problem, labels)


def graded_of(
    rows: Sequence[Row], problem_of: ProblemOf, labels: Mapping[str, str] | None = None
) -> Graded:
    """Return the grading that these rows are; of several of one case and method the last counts."""
    summary, newest, names = aggregate(rows), latest(rows), labels or {}
    kept = lru_cache(maxsize=MOST_PROBLEMS)(problem_of)
    return Graded(tuple(newest), summary, names, kept, charts(newest, summary, kept, names))


def graded_rows(store: Store) -> list[Row]:
    """Return the rows of a folder.

    Raises
    ------
    InputError
        When there are none, or rows that a grading does not write.
    """
    rows = store.rows()
    if not rows:
        raise InputError(
            "has no rows; create them with: slotwise grade --out DIR", value=str(store.folder)
        )
    return rows
