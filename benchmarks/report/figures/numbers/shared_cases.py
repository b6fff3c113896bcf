"""One set of cases for all methods that are compared, so that failing more never looks better."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

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
