"""The placement in a row, as one of the row's instance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from slotwise.benchmarks.grading.row_file import stored
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.grading.run import read_placement_text
from slotwise.models.errors import at, in_file
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import check_shape
from slotwise.models.problem.problem import Problem


def placement_of(row: Row, problem: Problem) -> Placement:
    """Return the placement of a row that has one; `problem` is the row's.

    Raises
    ------
    InputError
        Naming file, row and column of what is no placement of `problem`.
    """
    assert row["placement"] is not None, "only rows with a placement are asked for it"
    with _at_placement(row):
        placement = read_placement_text(row["placement"])
        check_shape(problem, placement)
    return placement


@contextmanager
def _at_placement(row: Row) -> Iterator[None]:
    read = stored(row)
    if read is None:
        yield
        return
    with in_file(read.file), at(read.place("placement")):
        yield
