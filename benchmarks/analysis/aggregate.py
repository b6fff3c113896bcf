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
    terms_in_order,
    values_of,
)
from slotwise.benchmarks.analysis.method_summary import MethodSummary, summarise
from slotwise.benchmarks.analysis.term_summary import TermSummary, common_by_term
from slotwise.benchmarks.grading.rows import Kind, Row


@dataclass(frozen=True, slots=True)
class Aggregate:
    """All methods, and what they are compared with.

    Parameters
    ----------
    methods
        Exact engines first, then by number of runs that succeeded, then term by term by how
        far they are from its optimum.
    terms
        Names of all terms, see `terms_in_order`.
    references
        Instance hash -> what is proven about it.
    virtual_best
        Best values of any heuristic, for each case that one of them placed.
    common
        The cases that every method places which is compared.
    excluded
        Methods that placed nothing: they do not define the common cases.
    contradictions
        Sentences on values below a proven bound: a bug of an engine, of the judge or of ours.
    """

    methods: tuple[MethodSummary, ...]
    terms: tuple[str, ...]
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
    by_term = common_by_term(players, references, common)
    methods = [
        summarise(some, references, holders, by_term, impossible) for some in by_method.values()
    ]
    terms = terms_in_order(one.terms for one in references.values())
    return Aggregate(
        methods=tuple(sorted(methods, key=lambda summary: _rank(summary, terms))),
        terms=terms,
        references=references,
        virtual_best=best,
        common=common,
        excluded=excluded,
        contradictions=tuple(_contradictions(rows, references, impossible)),
    )


def _rank(summary: MethodSummary, terms: Sequence[str]) -> tuple[object, ...]:
    how_far = [part for term in terms for part in _how_far(summary.terms.get(term))]
    return summary.kind != Kind.EXACT, -summary.succeeded, *how_far, summary.method


def _how_far(found: TermSummary | None) -> tuple[float, float]:
    """Return the share of cases infinitely far from the optimum, and the mean of the others."""
    if found is None or not found.cases:
        return math.inf, math.inf
    mean = found.excess.mean
    return found.above_zero.count / found.cases, math.inf if mean is None else mean


def _contradictions(
    rows: Sequence[Row], references: dict[str, Reference], impossible: frozenset[str]
) -> Iterator[str]:
    for row in rows:
        who = f"{row['method']} on {row['instance']} (seed {row['seed']})"
        gap = row_gap(row, references)
        if gap is not None and gap.absolute < 0:
            yield f"{who}: {gap.term} is {float(-gap.absolute):g} below the proven bound"
        if row["instance_hash"] in impossible and values_of(row) is not None:
            yield f"{who}: a valid placement of an instance proven infeasible"
