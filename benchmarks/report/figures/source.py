"""What the charts of a grading are made of: the methods of each group, and their gaps by term."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from slotwise.benchmarks.grading.rows import Subject
from slotwise.benchmarks.judged.judging import Floats
from slotwise.benchmarks.judged.method_table import (
    DEFINITIONS,
    NO_NUMBER,
    basis,
    telling_terms,
)
from slotwise.benchmarks.judged.statistics import VIRTUAL_BEST, Gaps, MethodComparison
from slotwise.benchmarks.judged.summary import Summary
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.models.display import listed

MOST_METHODS = 3
"""Methods of a group that a caption names, and of a panel that a sentence does."""

Record = Mapping[str, Any]
Index = Mapping[tuple[Any, ...], Record]
"""Rows of a table of the summary, by some of their columns."""


@dataclass(frozen=True, eq=False)
class TermGaps:
    """The gaps of a group's methods in a term.

    Parameters
    ----------
    gaps
        What lines and bins are drawn of.
    heading
        What they are about.
    statistics
        Method -> its row of `Summary.gaps`.
    """

    gaps: Gaps
    heading: str
    statistics: Mapping[str, Record]

    @property
    def comparison(self) -> MethodComparison:
        """Whose gaps they are."""
        return self.gaps.comparison

    @property
    def compared(self) -> tuple[str, ...]:
        """The compared methods."""
        return compared(self.comparison)

    @property
    def members(self) -> tuple[str, ...]:
        """All that have gaps: exact engines, compared methods, and the best of several."""
        has_several = len(self.compared) > 1
        return (*self.comparison.names, VIRTUAL_BEST) if has_several else self.comparison.names

    def low(self, method: str) -> Floats:
        """Return the least gap of a member on each instance."""
        return self.gaps.low[:, self.gaps.names.index(method)]

    def high(self, method: str) -> Floats:
        """Return the greatest gap of a member on each instance."""
        return self.gaps.high[:, self.gaps.names.index(method)]


def compared(comparison: MethodComparison) -> tuple[str, ...]:
    """Return the names of the methods that are compared."""
    return comparison.names[len(comparison.group.engines) :]


@dataclass(frozen=True, eq=False)
class Source:
    """A grading as charts read it.

    Parameters
    ----------
    comparisons
        One for each group of methods.
    summary
        What they come to.
    cast
        How methods are drawn.
    """

    comparisons: tuple[MethodComparison, ...]
    summary: Summary
    cast: Cast

    @cached_property
    def terms(self) -> tuple[TermGaps, ...]:
        """The gaps of each group in the terms in which one of its methods is above the best."""
        rows = _indexed(self.summary.gaps, "group", "term", "method")
        terms = []
        for comparison in self.comparisons:
            number = comparison.group.number
            for term in telling_terms(self.summary, number):
                gaps = comparison.gaps(term)
                statistics = {name: rows[number, term, name] for name in gaps.names}
                terms.append(TermGaps(gaps, self.heading(comparison, term), statistics))
        return tuple(terms)

    @cached_property
    def shares(self) -> Index:
        """Number of a group, term, method and gap -> its row of `Summary.ecdf`."""
        return _indexed(self.summary.ecdf, "group", "term", "method", "within")

    @cached_property
    def profiles(self) -> Index:
        """Number of a group, profile, method and factor -> its row of `Summary.profiles`."""
        return _indexed(self.summary.profiles, "group", "profile", "method", "tau")

    def heading(self, comparison: MethodComparison, term: str = "") -> str:
        """Return what a panel is about: the term, and the group where there are several."""
        is_allocation = comparison.group.subject == Subject.ALLOCATION
        name = f"{term} (allocations)" if term and is_allocation else term
        group = f"group {comparison.group.number}" if len(self.comparisons) > 1 else ""
        return ", ".join(filter(None, (name, group)))

    def basis(self, comparisons: Iterable[MethodComparison], *, of_means: bool = False) -> str:
        """Return which instances the groups are compared on, and what is left out.

        `of_means`: and how many the means are of.
        """
        groups, methods = self.summary.groups, self.summary.methods
        texts = []
        for comparison in dict.fromkeys(comparisons):
            row = groups[groups["group"] == comparison.group.number].iloc[0]
            unproven = int(row["bounded"] + row["open"])
            text = (
                f"{row['basis']} {unproven:,} without a proven optimum."
                if unproven
                else row["basis"]
            )
            text = basis(self.summary, row["group"]) if of_means else text
            if len(self.comparisons) > 1:
                names = listed([self.cast.name(one) for one in compared(comparison)], MOST_METHODS)
                text = f"Group {row['group']} ({names}): {text}"
            texts.append(text)
        idle = ", ".join(map(self.cast.name, methods.loc[methods["group"].isna(), "method"]))
        return " ".join([*texts, f"In no group, so not drawn: {idle}." if idle else ""]).strip()

    @property
    def definition(self) -> str:
        """What a gap is."""
        return (
            f"{DEFINITIONS[self.summary.solver_gap]}; infinite without a valid placement, above an "
            "optimum of 0, and where an earlier term is worse than its best known value."
        )


def _indexed(table: pd.DataFrame, *columns: str) -> Index:
    records: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return {tuple(row[name] for name in columns): row for row in records}


def amount(value: float) -> str:
    """Return a number with three digits."""
    if math.isnan(value):
        return NO_NUMBER
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def shares_text(ranked: Sequence[tuple[str, float]]) -> str:
    """Return in words in which share of the instances each method has something, best first.

    Of more than `MOST_METHODS` methods the first and the last stand for all.
    """
    texts = [f"{100 * share:.0f} %" for _, share in ranked]
    if len(ranked) > 1 and len(set(texts)) == 1:
        return f"each of {len(ranked)} methods in {texts[0]}"
    parts = [f"{name} in {text}" for (name, _), text in zip(ranked, texts, strict=True)]
    if len(parts) > MOST_METHODS:
        return f"{parts[0]} (best of {len(parts)} methods) and {parts[-1]} (worst)"
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
