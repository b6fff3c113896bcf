"""All that is computed from the rows of a grading, as DataFrames that nobody has run yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.classes import with_classes
from slotwise.benchmarks.aggregation.gap_numbers import instance_numbers
from slotwise.benchmarks.aggregation.gaps import gap_statistics
from slotwise.benchmarks.aggregation.methods import failures, method_counts
from slotwise.benchmarks.aggregation.pairs import meetings
from slotwise.benchmarks.aggregation.profiles import profiles
from slotwise.benchmarks.aggregation.runs.judged import CASE, virtual_best, with_common
from slotwise.benchmarks.aggregation.runs.stored import WRITTEN
from slotwise.benchmarks.aggregation.runs.terms import run_terms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


NEEDED = (
    *("instance_hash", "seed", "kind", "method", "version", "family", "tasks", "tightness"),
    *("status", "terms", "violations", "reason", "error", "wall_s", "time_limit_s", WRITTEN),
)
"""Columns of the rows that the tables come from."""


def grouped_runs(runs: DataFrame, by: tuple[str, ...]) -> DataFrame:
    """Return `judged_runs` with classes and ``common``: what all tables come from."""
    return with_common(with_classes(runs, by), by)


@dataclass(frozen=True, slots=True)
class Frames:
    """The tables of a summary.

    Parameters
    ----------
    runs
        `grouped_runs`.
    by
        The columns of their classes.
    """

    runs: DataFrame
    by: tuple[str, ...]

    def counts(self) -> DataFrame:
        """Return `method_counts`."""
        return method_counts(self.runs, self.by)

    def failures(self) -> DataFrame:
        """Return why methods failed."""
        return failures(self.runs, self.by)

    def gaps(self) -> DataFrame:
        """Return `gap_statistics` of all methods, exact engines and the virtual best."""
        needed = (
            *(*self.by, *CASE, "subject", "kind", "method", "names", "ranks"),
            *("values", "bounds", "known", "best", "placed", "impossible", "common", "reached"),
        )
        best = virtual_best(self.runs, self.by).select(*needed)
        everyone = self.runs.select(*needed).unionByName(best)
        return gap_statistics(instance_numbers(run_terms(everyone), self.by), self.by)

    def meetings(self) -> DataFrame:
        """Return the cases that two methods both ran on, for `pair_counts` and differences."""
        return meetings(self.runs, self.by)

    def profiles(self) -> DataFrame:
        """Return performance profiles."""
        return profiles(self.runs, self.by)
