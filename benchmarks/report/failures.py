"""The failures of a grading: by method, and by what went wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.benchmarks.grading.rows import Row, details_of, reason_of
from slotwise.benchmarks.judged.judging import Judged
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


def failures(rows: Sequence[Row], judged: Judged) -> tuple[MethodFailures, ...]:
    """Return the runs without a valid placement, by method and kind of failure.

    Not among them: proofs that there is none, refusals where that is proven, and methods that do
    not apply to an instance. `rows` are in the order of `judged`.
    """
    runs: dict[str, int] = defaultdict(int)
    failed: dict[str, dict[str, list[Failure]]] = defaultdict(lambda: defaultdict(list))
    for run, row in enumerate(rows):
        runs[row["method"]] += 1
        reason = reason_of(row)
        if reason is None or not judged.failed[run]:
            continue
        infeasible = " (infeasible)" if judged.infeasible[judged.instance[run]] else ""
        failure = Failure(case_name(row) + infeasible, details_of(row))
        failed[row["method"]][reason.partition(":")[0]].append(failure)
    return tuple(
        MethodFailures(method, runs[method], _groups(kinds))
        for method, kinds in sorted(failed.items())
    )


def _groups(kinds: dict[str, list[Failure]]) -> tuple[FailureGroup, ...]:
    groups = [
        FailureGroup(
            kind, len(some), tuple(sorted(some, key=lambda one: one.instance)[:MOST_EXAMPLES])
        )
        for kind, some in kinds.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-group.count, group.kind)))
