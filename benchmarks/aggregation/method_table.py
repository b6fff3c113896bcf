"""The table of methods: counts, seconds, and the main gaps of each term in columns of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slotwise.benchmarks.aggregation.classes import (
    SIZE_EDGES,
    TIGHTNESS_EDGES,
    class_names,
)
from slotwise.benchmarks.aggregation.gap_numbers import ALL, COMMON, GAP, OVER_OPTIMUM
from slotwise.benchmarks.grading.rows import Kind

if TYPE_CHECKING:
    import pandas as pd

_CLASSES = (*class_names(SIZE_EDGES), *class_names(TIGHTNESS_EDGES))

_ENDS = ("", "_low", "_high")
STATISTICS = {
    ALL: ("instances", "reached", *(f"{n}{end}" for n in ("median", "p95") for end in _ENDS)),
    COMMON: ("instances", *(f"mean{end}" for end in _ENDS), "median", "p95"),
}
"""What `method_table` has of a basis, as ``TERM_MEASURE_BASIS_NAME``: ``network_gap_all_p95``."""


def method_table(
    counts: pd.DataFrame, gaps: pd.DataFrame, by: Sequence[str], terms: Sequence[str]
) -> pd.DataFrame:
    """Join what `method_counts` and `gap_statistics` say: exact engines first, then by solved."""
    keys = [*by, "kind", "method"]
    found = counts
    for term in terms:
        for measure in (OVER_OPTIMUM, GAP):
            for basis, names in STATISTICS.items():
                chosen = (gaps["term"] == term) & (gaps["measure"] == measure)
                some = gaps[chosen & (gaps["basis"] == basis)]
                named = {name: f"{term}_{measure}_{basis}_{name}" for name in names}
                found = found.merge(
                    some[[*keys, *names]].rename(columns=named), on=keys, how="left"
                )
    share = found["solved"] / found["runs"]
    ranked = found.assign(_exact=found["kind"] != Kind.EXACT, _failed=1 - share)
    return sorted_rows(ranked, [*by, "_exact", "_failed", "method"]).drop(
        columns=["_exact", "_failed"]
    )


def sorted_rows(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows in the order of these columns; classes from small to large."""
    return table.sort_values(list(columns), key=_class_order, ignore_index=True)


def _class_order(column: pd.Series[str]) -> pd.Series[str]:
    """Return a column with the names of classes replaced by what sorts in their order."""
    ranks = {name: f"{rank:02d}" for rank, name in enumerate(_CLASSES)}
    return column.replace(ranks) if column.name in ("size", "tightness") else column
