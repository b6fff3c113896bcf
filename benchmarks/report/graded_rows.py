"""A grading that a report is made of: its rows, judged and summed up, and the charts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from slotwise.benchmarks.grading.command_text import kept_commands
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.judged.judging import Judged
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.judged.statistics import MethodComparison, comparisons_of
from slotwise.benchmarks.judged.summary import Summary, summarise
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.figures import charts
from slotwise.benchmarks.report.figures.traffic import ProblemOf
from slotwise.benchmarks.report.labels import check_labels
from slotwise.models.errors import InputError

MOST_PROBLEMS = 64
"""Compiled instances that are kept while a report is made."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A grading, read and summed up once for its page and for its files.

    Parameters
    ----------
    rows
        One for each run, in the order of `judged`.
    judged
        The runs, judged.
    comparisons
        The methods of each group on its instances.
    summary
        What they come to: the figures of ``slotwise summary``.
    labels
        Method -> what it is called; others keep their names.
    problem_of
        Where the instances come from; the last `MOST_PROBLEMS` of them are kept.
    charts
        Those that the rows have something for.
    commands
        Those that made the rows, as far as the folder has them.
    """

    rows: tuple[Row, ...]
    judged: Judged
    comparisons: tuple[MethodComparison, ...]
    summary: Summary
    labels: Mapping[str, str]
    problem_of: ProblemOf
    charts: tuple[Chart, ...]
    commands: tuple[str, ...] = ()


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
    graded = graded_of(rows, store.problem, labels, folder=str(store.folder))
    return replace(graded, commands=kept_commands(store.folder))


def graded_of(
    rows: Sequence[Row],
    problem_of: ProblemOf,
    labels: Mapping[str, str] | None = None,
    folder: str = "",
) -> Graded:
    """Return the grading that these rows are, the oldest first."""
    judged = judged_rows(rows)
    newest = tuple(rows[number] for number in judged.runs["row"])
    comparisons = comparisons_of(judged)
    summary, names = summarise(judged, folder), labels or {}
    cached_problem_of = lru_cache(maxsize=MOST_PROBLEMS)(problem_of)
    drawn = charts(newest, comparisons, summary, cached_problem_of, names)
    return Graded(newest, judged, comparisons, summary, names, cached_problem_of, drawn)


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
