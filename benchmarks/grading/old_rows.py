"""Rows of older versions, told as they would be today."""

from __future__ import annotations

from collections.abc import Iterable

from slotwise.benchmarks.grading.rows import VERSION, Row, RunStatus

BROKE_DOWN = (
    "the command was ended",
    "the command failed with exit code",
    "the command wrote no answer",
    "its answer is no UTF-8 text",
    "its answer cannot be used",
    "cannot start '",
    "Storm's scheduler ended without an answer",
)
"""How the reasons of refusals begin that were no refusals (version 1)."""

OUT_OF_TIME = ("the command was ended at its time limit",)


def is_old(row: Row) -> bool:
    """Return whether the row is of another version than today's."""
    return not (row["version"] or "").partition(f", rows {VERSION}")[1]


def upgraded(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with today's statuses; seconds stay as they were measured."""
    return [_upgraded(row) if is_old(row) else row for row in rows]


def _upgraded(row: Row) -> Row:
    reason = row["reason"] or ""
    if row["status"] != RunStatus.REFUSED or not reason.startswith(BROKE_DOWN):
        return row
    status = RunStatus.TIMEOUT if reason.startswith(OUT_OF_TIME) else RunStatus.CRASHED
    return {**row, "status": str(status), "reason": None, "error": reason}
