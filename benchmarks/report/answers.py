"""The answer that a report begins with: one sentence for each method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.method_summary import MethodSummary
from slotwise.benchmarks.analysis.term_summary import TermSummary
from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.report.text import percent, short
from slotwise.models.display import counted

MOST_REASONS = 3
"""Reasons of failures that a sentence names."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one method: how far it is from the optimum, and what failed."""

    method: str
    distance: str
    failures: str
    failed: bool


def answers(summary: Aggregate) -> tuple[Answer, ...]:
    """Return a sentence for each method that is compared, in the order of the summary."""
    return tuple(
        Answer(
            method=one.method,
            distance=_distance(one, summary.terms),
            failures=_failures(one),
            failed=one.succeeded < one.runs,
        )
        for one in summary.methods
        if one.kind != Kind.EXACT
    )


def _distance(one: MethodSummary, terms: Sequence[str]) -> str:
    """Return where it attains the optimum and how far it is from it elsewhere, term by term."""
    if not one.proven:
        parts = list(_to_bound(one, terms))
        return "; ".join(parts) or "nothing is proven to compare it with"
    head = f"optimal in {one.optimal} of {counted(one.proven, 'case')} with a proven optimum"
    found = [one.terms[term] for term in terms if term in one.terms and one.terms[term].cases]
    return "; ".join([head, *(part for term in found for part in _of_term(term, one.runs))])


def _of_term(term: TermSummary, runs: int) -> Iterator[str]:
    if term.at_optimum == term.cases:
        yield f"{term.term} at its optimum {_in(term.cases, runs)}"
        return
    missed = term.above_zero
    if missed.count:
        where = _in(missed.count, runs)
        yield f"{term.term} {short(missed.mean)} on average {where} where 0 is possible"
    spread = term.excess
    if spread.count and spread.most:
        yield (
            f"{term.term} {percent(spread.mean)} above the optimum on average "
            f"{_in(spread.count, runs)} (median {percent(spread.median)}, "
            f"worst {percent(spread.most)})"
        )


def _in(count: int, runs: int) -> str:
    return f"in {count} of {runs}" if count < runs else f"in all {runs}"


def _to_bound(one: MethodSummary, terms: Sequence[str]) -> Iterator[str]:
    for term in terms:
        found = one.terms.get(term)
        if found is not None and found.to_bound.count:
            yield (
                f"no optimum is proven; {term} at most {percent(found.to_bound.mean)} of its value "
                f"above the optimum on average, in {counted(found.to_bound.count, 'case')}"
            )


def _failures(one: MethodSummary) -> str:
    """Return in words how many runs gave no valid placement, and why."""
    lost = one.runs - one.succeeded
    right = f"rightly refuses {one.rightly_refused}" if one.rightly_refused else ""
    if not lost:
        head = f"answers all {one.runs}" if one.runs > 1 else "answers its one run"
        return f"{head} ({right})" if right else head
    kinds: Counter[str] = Counter()
    for reason, count in one.reasons:
        kinds[reason.partition(":")[0]] += count
    reasons = [f"{count} {kind}" for kind, count in kinds.most_common(MOST_REASONS)]
    if len(kinds) > MOST_REASONS:
        reasons.append(f"{lost - sum(n for _, n in kinds.most_common(MOST_REASONS))} otherwise")
    return f"fails on {lost} of {one.runs} ({'; '.join(filter(None, [*reasons, right]))})"

