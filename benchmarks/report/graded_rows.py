"""The rows of a grading that a report is made of."""

from __future__ import annotations

from slotwise.benchmarks.grading.old_rows import upgraded
from slotwise.benchmarks.grading.rows import Row
from slotwise.benchmarks.grading.store import Store
from slotwise.models.errors import InputError


def graded_rows(store: Store) -> list[Row]:
    """Return the rows of a folder, older ones told as today's.

    Raises
    ------
    InputError
        When there are none, or rows that a grading does not write.
    """
    rows = upgraded(store.rows())
    if not rows:
        raise InputError(
            "has no rows; create them with: slotwise grade --out DIR", value=str(store.folder)
        )
    return rows
