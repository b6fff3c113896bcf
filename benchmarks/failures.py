"""Why runs ended without a valid placement."""

from __future__ import annotations

from slotwise.benchmarks.rows import SUCCEEDED, Row, RunStatus

RIGHTLY_REFUSED = "rightly refused"
"""What a refusal is called where it is proven that there is no placement."""


def reason_of(row: Row) -> str | None:
    """Return in words why a row has no valid placement; ``None`` where it has one."""
    status = row["status"]
    if status in SUCCEEDED:
        return None
    if status == RunStatus.INVALID:
        rules = sorted({text.partition(":")[0] for text in row["violations"] or ()})
        return f"breaks {', '.join(rules)}"
    if status == RunStatus.REFUSED:
        return f"refused: {row['reason']}"
    if status == RunStatus.INFEASIBLE:
        return "proven infeasible"
    if status == RunStatus.UNKNOWN:
        return "nothing found within the limit"
    return f"{status}: {row['error']}"


def details_of(row: Row) -> tuple[str, ...]:
    """Return the violations of a row, or whatever else it says about its failure."""
    if row["status"] != RunStatus.INVALID:
        reason = reason_of(row)
        return () if reason is None else (reason,)
    named = tuple(row["violations"] or ())
    more = (row["violation_count"] or 0) - len(named)
    return (*named, f"and {more} more") if more > 0 else named
