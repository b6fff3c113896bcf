"""Cases: an instance with a seed; which row stands for a method there, and who is best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from slotwise.benchmarks.analysis.gaps import Values, values_of
from slotwise.benchmarks.grading.rows import Row, RunStatus, Subject, subject_of

Case = tuple[str, int]
"""Instance hash and seed."""


def case_of(row: Row) -> Case:
    """Return which case the row belongs to."""
    return row["instance_hash"], row["seed"]


def latest(rows: Iterable[Row]) -> list[Row]:
    """Return the last row of each case and method: a later one replaces other limits, versions."""
    return list({(*case_of(row), row["kind"], row["method"]): row for row in rows}.values())


def infeasible_instances(rows: Iterable[Row]) -> frozenset[str]:
    """Return the hashes of the instances that are proven to have no valid placement."""
    return frozenset(r["instance_hash"] for r in rows if r["status"] == RunStatus.INFEASIBLE)


def is_right_refusal(row: Row, impossible: frozenset[str]) -> bool:
    """Return whether a method refused an instance that is proven infeasible: no failure."""
    return row["status"] == RunStatus.REFUSED and row["instance_hash"] in impossible


def virtual_best(players: Sequence[Row]) -> tuple[dict[Case, Values], dict[Case, list[str]]]:
    """Return the best values of each case, and the methods that have them."""
    best: dict[Case, Values] = {}
    holders: dict[Case, list[str]] = {}
    for row in players:
        values, case = values_of(row), case_of(row)
        if values is None:
            continue
        if case not in best or values < best[case]:
            best[case], holders[case] = values, [row["method"]]
        elif values == best[case]:
            holders[case].append(row["method"])
    return best, holders


def common_cases(players: Sequence[Row]) -> tuple[frozenset[Case], tuple[str, ...]]:
    """Return the cases that all methods place, and the methods that place nothing at all.

    All: of those that are compared with each other, see `contests`.
    """
    placed: dict[str, set[Case]] = defaultdict(set)
    for row in players:
        cases = placed[row["method"]]
        if values_of(row) is not None:
            cases.add(case_of(row))
    common: set[Case] = set()
    for methods, _ in contests(players):
        sets = [placed[method] for method in methods if placed[method]]
        common |= set.intersection(*sets) if sets else set()
    nothing = tuple(sorted(method for method, cases in placed.items() if not cases))
    return frozenset(common), nothing


def contests(rows: Iterable[Row]) -> Iterator[tuple[frozenset[str], frozenset[Case]]]:
    """Yield the methods of each subject, with the cases that any of them ran on.

    Nothing compares methods of placement with pairs of allocation.
    """
    by_subject: dict[Subject, list[Row]] = defaultdict(list)
    for row in rows:
        by_subject[subject_of(row["method"])].append(row)
    for some in by_subject.values():
        yield frozenset(row["method"] for row in some), frozenset(map(case_of, some))
