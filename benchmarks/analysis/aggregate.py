"""From rows to what a report says about each method. Failures count; survivors get no bonus."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slotwise.benchmarks.analysis.cases import (
    Case,
    common_cases,
    infeasible_instances,
    latest,
    virtual_best,
)
from slotwise.benchmarks.analysis.gaps import (
    Reference,
    Values,
    reference_of,
    row_gap,
    values_of,
)
from slotwise.benchmarks.analysis.method_summary import MethodSummary, summarise
from slotwise.benchmarks.grading.rows import Kind, Row


@dataclass(frozen=True, slots=True)
class Aggregate:
    """All methods, and what they are compared with.

    Parameters
    ----------
    methods
        Exact engines first, then by number of runs that succeeded and mean gap.
    references
        Instance hash -> what is proven about it.
    virtual_best
        Best values of any heuristic, for each case that one of them placed.
    common
        The cases of `MethodSummary.common`.
    excluded
        Methods that placed nothing: they do not define the common cases.
    contradictions
        Sentences on values below a proven bound: a bug of an engine, of the judge or of ours.
    """

    methods: tuple[MethodSummary, ...]
    references: dict[str, Reference]
    virtual_best: dict[Case, Values]
    common: frozenset[Case]
    excluded: tuple[str, ...]
    contradictions: tuple[str, ...]


def references_of(rows: Iterable[Row]) -> dict[str, Reference]:
    """Return what is proven about each instance, whatever the seed that proved it."""
    by_instance: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_instance[row["instance_hash"]].append(row)
    found = {key: reference_of(some) for key, some in by_instance.items()}
    return {key: reference for key, reference in found.items() if reference is not None}


def aggregate(rows: Iterable[Row]) -> Aggregate:
    """Summarise the rows of a grading."""
    rows = list(rows)
    references = references_of(rows)
    rows = latest(rows)
    by_method: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_method[row["kind"], row["method"]].append(row)
    players = [row for row in rows if row["kind"] != Kind.EXACT]
    best, holders = virtual_best(players)
    common, excluded = common_cases(players)
    impossible = infeasible_instances(rows)
    methods = [
        summarise(some, references, holders, common, impossible) for some in by_method.values()
    ]
    return Aggregate(
        methods=tuple(sorted(methods, key=_rank)),
        references=references,
        virtual_best=best,
        common=common,
        excluded=excluded,
        contradictions=tuple(_contradictions(rows, references)),
    )


def _rank(summary: MethodSummary) -> tuple[bool, int, float, str]:
    gap = summary.to_optimum.mean
    return (
        summary.kind != Kind.EXACT,
        -summary.succeeded,
        math.inf if gap is None else gap,
        summary.method,
    )


def _contradictions(rows: Sequence[Row], references: dict[str, Reference]) -> Iterator[str]:
    infeasible = infeasible_instances(rows)
    for row in rows:
        who = f"{row['method']} on {row['instance']} (seed {row['seed']})"
        gap = row_gap(row, references)
        if gap is not None and gap.absolute < 0:
            yield f"{who}: {gap.term} is {float(-gap.absolute):g} below the proven bound"
        if row["instance_hash"] in infeasible and values_of(row) is not None:
            yield f"{who}: a valid placement of an instance proven infeasible"
