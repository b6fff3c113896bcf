"""The answer that a report begins with: one sentence for each method."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.judged.method_table import (
    Record,
    statistic,
    statistic_alone,
    telling_terms,
)
from slotwise.benchmarks.judged.plain_table import plain_records
from slotwise.benchmarks.judged.summary import Summary

MOST_REASONS = 3
"""Reasons of failures that a sentence names."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a method in its group.

    Parameters
    ----------
    method
        Its name.
    distance
        How far it is from the optimum of the most telling term; this is emphasised.
    details
        Where that holds, the other terms, how often it is optimal, where it does not apply.
    failures
        What failed.
    failed
        Whether anything did.
    """

    method: str
    distance: str
    details: str
    failures: str
    failed: bool

    @property
    def text(self) -> str:
        """The sentence."""
        return f"{self.method}: {self.distance} {self.details}; {self.failures}."


def answers(summary: Summary) -> tuple[Answer, ...]:
    """Return a sentence for each method of each group, in the order of the summary."""
    rows = plain_records(summary.methods[summary.methods["group"].notna()])
    return tuple(_answer(summary, row) for row in rows if row["kind"] != Kind.EXACT)


def _answer(summary: Summary, row: Record) -> Answer:
    of_term = {
        gap["term"]: gap
        for gap in plain_records(summary.gaps)
        if (gap["group"], gap["method"]) == (row["group"], row["method"])
    }
    *others, leading = telling_terms(summary, row["group"])
    distance, where = _distance(row, of_term[leading])
    details = [where, *(_other(of_term[term]) for term in others)]
    details.append(f"optimal on {row['at_optimum']} of {row['instances']}")
    if row["does_not_apply"]:
        details.append(f"does not apply to {row['does_not_apply']}")
    return Answer(
        method=row["method"],
        distance=distance,
        details="; ".join(details),
        failures=_failures(summary, row),
        failed=row["failed"] > 0,
    )


def _distance(row: Record, gap: Record) -> tuple[str, str]:
    """Return how far a method is in a term, and on which instances."""
    term, count = gap["term"], gap["instances"]
    if gap["at_optimum"] == count:
        return f"{term} at its optimum", f"on all {count}"
    median, p95 = (statistic(row, f"{term}_{name}") for name in ("median", "p95"))
    spread = f"median {median}, 95th percentile {p95} of all {count}"
    if not gap["common"]:
        return f"{term} {median} above the optimum", f"in the median of {count}"
    mean = statistic_alone(gap, "mean")
    where = f"on average over the {gap['common']} that all methods place ({spread})"
    return f"{term} {mean} above the optimum", where


def _other(gap: Record) -> str:
    return f"{gap['term']} at its optimum on {gap['at_optimum']} of {gap['instances']}"


def _failures(summary: Summary, row: Record) -> str:
    """Return in words how many runs gave no valid placement, and why."""
    refused = row["rightly_refused"]
    right = f"rightly refuses {refused}" if refused else ""
    if not row["failed"]:
        return f"no failures ({right})" if right else "no failures"
    kinds: Counter[str] = Counter()
    for record in plain_records(summary.failures[summary.failures["method"] == row["method"]]):
        kinds[record["why"].partition(":")[0]] += record["runs"]
    reasons = [f"{kind}: {count}" for kind, count in kinds.most_common(MOST_REASONS)]
    rest = sum(kinds.values()) - sum(count for _, count in kinds.most_common(MOST_REASONS))
    reasons += [f"other: {rest}"] if rest else []
    causes = ", ".join(filter(None, [*reasons, right]))
    return f"fails in {row['failed']} of {row['runs']} runs ({causes})"
