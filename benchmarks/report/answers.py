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

MOST_REASONS = 3
"""Reasons of failures that a sentence names."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a sentence: what holds, and in how many cases; `is_distance` = it is emphasised."""

    text: str
    where: str
    is_distance: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one method: how far it is from the optimum, and what failed."""

    method: str
    parts: tuple[Part, ...]
    failures: str
    failed: bool

    @property
    def text(self) -> str:
        """The sentence."""
        said = [f"{part.text} {part.where}".strip() for part in self.parts]
        return f"{self.method}: {'; '.join([*said, self.failures])}."


def answers(summary: Aggregate) -> tuple[Answer, ...]:
    """Return a sentence for each method that is compared, in the order of the summary."""
    return tuple(
        Answer(
            method=one.method,
            parts=tuple(_distance(one, summary.terms)),
            failures=_failures(one),
            failed=one.succeeded < one.runs,
        )
        for one in summary.methods
        if one.kind != Kind.EXACT
    )


def _distance(one: MethodSummary, terms: Sequence[str]) -> Iterator[Part]:
    """Yield how far it is from the optimum: first in the term that leads, then in the others.

    It is the last of those that more than half of the objectives have, or at least as many as have
    any other term.
    """
    found = [one.terms[term] for term in terms if term in one.terms]
    proven = [term for term in found if term.cases]
    most = max((term.runs for term in proven), default=0)
    leading = [term for term in proven if term.runs == most or 2 * term.runs > one.runs][-1:]
    for term in leading:
        yield from _far(term, one.runs)
    for term in proven:
        if term in leading:
            continue
        missed = term.cases - term.at_optimum
        text = f"{term.term} {'above' if missed else 'at'} its optimum"
        yield Part(text, _in(missed or term.cases, term, one.runs))
    for term in found:
        if term.to_bound.count:
            text = (
                f"{term.term} at most {percent(term.to_bound.mean)} of its value above the optimum"
            )
            often = _in(term.to_bound.count, term, one.runs)
            where = f"on average {often}, where only a bound is proven"
            yield Part(text, where)
    if one.proven:
        yield Part("optimal", f"in {one.optimal} of {one.proven} with a proven optimum")
    elif not found:
        yield Part("nothing is proven to compare it with", "")


def _far(term: TermSummary, runs: int) -> Iterator[Part]:
    missed, spread = term.above_zero, term.excess
    if term.at_optimum == term.cases:
        yield Part(f"{term.term} at its optimum", _in(term.cases, term, runs))
        return
    if spread.count and spread.most:
        where = f"on average {_in(spread.count, term, runs)}"
        more = f" (median {percent(spread.median)}, worst {percent(spread.most)})"
        text = f"{term.term} {percent(spread.mean)} above the optimum"
        yield Part(text, where + more, True)
    if missed.count:
        where = f"on average {_in(missed.count, term, runs)}, where 0 is possible"
        yield Part(f"{term.term} {short(missed.mean)}", where, True)


def _in(count: int, term: TermSummary, runs: int) -> str:
    """Return in how many of a method's runs, or of those whose objective has the term."""
    if runs == 1:
        return "in its one run"
    if term.runs == 1:
        return "in the one that counts it"
    if term.runs < runs:
        return f"in {'all' if count == term.runs else f'{count} of the'} {term.runs} that count it"
    return f"in {count} of {runs}" if count < runs else f"in all {runs}"


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
    reasons = [f"{kind}: {count}" for kind, count in kinds.most_common(MOST_REASONS)]
    if len(kinds) > MOST_REASONS:
        reasons.append(f"other: {lost - sum(n for _, n in kinds.most_common(MOST_REASONS))}")
    return f"fails on {lost} of {one.runs} ({', '.join(filter(None, [*reasons, right]))})"
