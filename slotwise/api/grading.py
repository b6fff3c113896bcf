"""Gradings: their report, and the figures of articles beside ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.api.inputs import path_of
from slotwise.benchmarks.report.comparison.comparison import Comparison
from slotwise.benchmarks.report.comparison.page import compare_gradings
from slotwise.benchmarks.report.labels import parse_labels
from slotwise.benchmarks.report.page import write_report
from slotwise.benchmarks.report.paper.files import write_paper
from slotwise.benchmarks.reproduction import sam
from slotwise.benchmarks.reproduction.figure import Article, Reproduced, reproduction_document
from slotwise.models.values import known


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
        When the folder holds no rows, or rows that a grading does not write; for a label of a
        method without rows there, and one that is another method's name; when a file cannot be
        written (of `figures`, none is then).

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
    """Compare two gradings: better, worse, newly failing, newly solved, on which instances.

    Runs are paired by method, instance and seed; what one grading alone has is named and compared
    in nothing.

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
      auto: 9 unchanged
      r-storm: 3 better, 6 unchanged
    """
    old = Path(path_of(before, "before", "a path"))
    new = Path(path_of(after, "after", "a path"))
    return Comparison(old, new, compare_gradings(old, new, parse_labels(methods or ())))


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
