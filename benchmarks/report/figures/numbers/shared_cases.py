"""The cases that charts show: shared by all methods that are compared, in bins by their size.

One set for all methods, so that failing more never looks better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.grading.rows import Kind, Row, Subject, subject_of

Cases = frozenset[Case]


def shared_cases(have: Mapping[str, Collection[Case]]) -> tuple[tuple[str, ...], Cases]:
    """Return the methods that are compared, in the given order, and the cases all of them have.

    Methods join by the number of their cases, most first, as long as at least half of the first
    one's cases stay common to all. One that has too few is left out, and reports say so, rather
    than shrinking what the others are compared on.
    """
    order = sorted(have, key=lambda method: -len(have[method]))
    chosen: set[str] = set()
    shared: Cases = frozenset()
    for method in order:
        both = shared.intersection(have[method]) if chosen else frozenset(have[method])
        if both and 2 * len(both) >= len(have[order[0]]):
            chosen.add(method)
            shared = both
    return tuple(method for method in have if method in chosen), shared


def on_one_grid(rows: Sequence[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Return the rows of the cases that all compared methods ran on, and the methods left out.

    Of each subject on its own. Rows of exact engines are kept for these cases.
    """
    ran: dict[Subject, dict[str, set[Case]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if row["kind"] != Kind.EXACT:
            ran[subject_of(row["method"])][row["method"]].add(case_of(row))
    kept: dict[Subject, Cases] = {}
    left_out: list[str] = []
    for subject, have in ran.items():
        methods, kept[subject] = shared_cases(have)
        left_out += sorted(set(have) - set(methods))
    dropped = set(left_out)
    grid = [
        row
        for row in rows
        if row["method"] not in dropped
        and case_of(row) in kept.get(subject_of(row["method"]), frozenset())
    ]
    return grid, tuple(left_out)


MOST_BINS = 6


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases of about the same size: least, median and most of it, and the cases."""

    low: float
    middle: float
    high: float
    cases: tuple[Case, ...]

    @property
    def text(self) -> str:
        """Its range."""
        low, high = (f"{number:,.4g}" for number in (self.low, self.high))
        return low if low == high else f"{low} to {high}"


def bins(sizes: Mapping[Case, float]) -> tuple[Bin, ...]:
    """Return at most `MOST_BINS` bins, rising, about equally full; equal sizes share one."""
    by_size: dict[float, list[Case]] = defaultdict(list)
    for case, size in sorted(sizes.items()):
        by_size[size].append(case)
    groups: list[list[float]] = []
    most = len(sizes) / min(MOST_BINS, len(by_size) or 1)
    placed = 0
    is_fine = len(by_size) <= MOST_BINS
    for size in sorted(by_size):
        if is_fine or not groups or placed >= most * len(groups):
            groups.append([])
        groups[-1].append(size)
        placed += len(by_size[size])
    return tuple(_bin(group, by_size) for group in groups)


def _bin(sizes: list[float], by_size: Mapping[float, list[Case]]) -> Bin:
    cases = [case for size in sizes for case in by_size[size]]
    each = [size for size in sizes for _ in by_size[size]]
    return Bin(min(sizes), median(each), max(sizes), tuple(cases))
