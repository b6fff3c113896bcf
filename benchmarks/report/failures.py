"""The failures of a grading: by method, and by what went wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.benchmarks.analysis.cases import infeasible_instances, is_right_refusal
from slotwise.benchmarks.grading.rows import Row, RunStatus, details_of, reason_of
from slotwise.benchmarks.report.text import case_name

MOST_EXAMPLES = 10
"""Runs of a group that the page names."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A run without a valid placement: its instance, with the seed where not 0; what it says."""

    instance: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Runs of one method that failed in the same way.

    Parameters
    ----------
    kind
        What went wrong, such as ``breaks capacity`` or ``refused``.
    count
        How many runs.
    examples
        The first `MOST_EXAMPLES` of them by name.
    """

    kind: str
    count: int
    examples: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class MethodFailures:
    """The failures of one method, most frequent first."""

    method: str
    runs: int
    groups: tuple[FailureGroup, ...]

    @property
    def count(self) -> int:
        """Runs that failed."""
        return sum(group.count for group in self.groups)


def failures(rows: Sequence[Row]) -> tuple[MethodFailures, ...]:
    """Return the runs without a valid placement, by method and kind of failure.

    Where it is proven that there is none, neither the proof nor a refusal is a failure.
    """
    impossible = infeasible_instances(rows)
    runs: dict[str, int] = defaultdict(int)
    found: dict[str, dict[str, list[Failure]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        runs[row["method"]] += 1
        reason = reason_of(row)
        if reason is None or row["status"] == RunStatus.INFEASIBLE:
            continue
        if is_right_refusal(row, impossible):
            continue
        infeasible = " (infeasible)" if row["instance_hash"] in impossible else ""
        failure = Failure(case_name(row) + infeasible, details_of(row))
        found[row["method"]][reason.partition(":")[0]].append(failure)
    return tuple(
        MethodFailures(method, runs[method], _groups(kinds))
        for method, kinds in sorted(found.items())
    )


def _groups(kinds: dict[str, list[Failure]]) -> tuple[FailureGroup, ...]:
    groups = [
        FailureGroup(
            kind, len(some), tuple(sorted(some, key=lambda one: one.instance)[:MOST_EXAMPLES])
        )
        for kind, some in kinds.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-group.count, group.kind)))
