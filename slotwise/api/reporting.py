"""The page of a grading, its charts and tables as files, and two gradings compared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from slotwise.api.paths import graded_folder, path_of
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.report.comparison.comparison import Comparison
from slotwise.benchmarks.report.comparison.page import compare_gradings
from slotwise.benchmarks.report.graded_rows import read_graded
from slotwise.benchmarks.report.labels import parse_labels
from slotwise.benchmarks.report.page import write_page
from slotwise.benchmarks.report.paper import write_paper


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
        The folder of `grade` (its `out`).
    methods
        Labels of methods on the page: texts ``LABEL=METHOD`` (``mine=cmd:./x``), or a mapping from
        label to method; ``None`` = all keep their names.
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
    store, labels = Store(Path(graded_folder(folder, "folder"))), parse_labels(methods or ())
    graded = read_graded(store, labels)
    if figures is not None:
        write_paper(graded, path_of(figures, "figures", "a path"))
    return write_page(graded, store.folder)


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
        The folders of two calls of `grade` (their `out`).
    methods
        Labels of methods: texts ``LABEL=METHOD``, or a mapping from label to method; ``None`` = all
        keep their names. Two methods with one label, one in each grading, are compared.

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
    old = Path(graded_folder(before, "before"))
    new = Path(graded_folder(after, "after"))
    return Comparison(old, new, compare_gradings(old, new, parse_labels(methods or ())))
