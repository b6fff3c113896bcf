"""Cases in bins by a number, such as their size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from slotwise.benchmarks.analysis.cases import Case

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
