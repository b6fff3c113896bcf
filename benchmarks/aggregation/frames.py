"""All that is computed from the rows of a grading, as DataFrames that nobody has run yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.classes import with_classes
from slotwise.benchmarks.aggregation.gap_numbers import instance_numbers
from slotwise.benchmarks.aggregation.gaps import gap_statistics
from slotwise.benchmarks.aggregation.methods import failures, method_counts
from slotwise.benchmarks.aggregation.pairs import meetings, pair_counts, pair_differences
from slotwise.benchmarks.aggregation.profiles import profiles
from slotwise.benchmarks.aggregation.runs import CASE, virtual_best, with_common
from slotwise.benchmarks.aggregation.terms import run_terms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Frames:
    """The tables of a summary, of `judged_runs` and in groups of `by`.

    Parameters
    ----------
    counts, failures
        `method_counts`, and why methods failed.
    gaps
        `gap_statistics` of all methods, exact engines and the virtual best.
    pairs, differences
        `pair_counts`, `pair_differences`.
    profiles
        Performance profiles.
    """

    counts: DataFrame
    failures: DataFrame
    gaps: DataFrame
    pairs: DataFrame
    differences: DataFrame
    profiles: DataFrame


def grouped_runs(runs: DataFrame, by: tuple[str, ...]) -> DataFrame:
    """Return `judged_runs` with classes and ``common``: what all tables come from."""
    return runs.transform(lambda rows: with_classes(rows, by)).transform(
        lambda rows: with_common(rows, by)
    )


def frames_of(runs: DataFrame, by: tuple[str, ...]) -> Frames:
    """Return the tables of `grouped_runs`."""
    needed = (
        *(*by, *CASE, "subject", "kind", "method", "names", "values", "bounds", "known", "best"),
        *("placed", "impossible", "common", "reached"),
    )
    everyone = runs.select(*needed).unionByName(virtual_best(runs, by).select(*needed))
    met = meetings(runs, by)
    return Frames(
        counts=method_counts(runs, by),
        failures=failures(runs, by),
        gaps=gap_statistics(instance_numbers(run_terms(everyone), by), by),
        pairs=pair_counts(met, by),
        differences=pair_differences(met, by),
        profiles=profiles(runs, by),
    )
