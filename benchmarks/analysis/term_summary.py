"""How far one method is from the optimum in each term: no mean mixes two terms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.analysis.gaps import Gap, Reference, row_term_gaps, values_of
from slotwise.benchmarks.analysis.measures import Spread, spread
from slotwise.benchmarks.grading.rows import Row


@dataclass(frozen=True, slots=True)
class TermSummary:
    """What the valid runs of one method come to in one term.

    A run counts in a term where all earlier terms are at their optimum: before that is settled, the
    term says nothing (less traffic at the price of overload is no merit).

    Parameters
    ----------
    term
        Name of the term.
    runs
        All runs whose objective has the term; one whose objective nobody knows counts for each.
    cases
        Runs that count and whose optimum of the term is proven.
    at_optimum
        Of these, the runs that attain it.
    excess
        (value - optimum) / optimum of `cases`, as articles give it; not where the optimum alone is
        0.
    to_optimum
        (value - optimum) / value of the same runs, as solvers give it.
    above_zero
        Value - optimum of `cases`, in the user's unit, where the optimum is 0 and the value is not.
    to_bound
        (value - bound) / value of the runs that count where only a bound is proven.
    common
        `excess` on the cases where every method that is compared has one.
    """

    term: str
    runs: int
    cases: int
    at_optimum: int
    excess: Spread
    to_optimum: Spread
    above_zero: Spread
    to_bound: Spread
    common: Spread


def term_summaries(
    rows: Iterable[Row],
    references: dict[str, Reference],
    common: Mapping[str, frozenset[Case]],
) -> dict[str, TermSummary]:
    """Return a summary for each term that counts in one of `rows`, by its name.

    Parameters
    ----------
    rows
        All of one method, failed ones too.
    references
        Instance hash -> what is proven about it.
    common
        What `common_by_term` found.
    """
    by_term: dict[str, list[tuple[Case, Gap]]] = defaultdict(list)
    having: Counter[str] = Counter()
    unknown = 0
    for row in rows:
        reference = references.get(row["instance_hash"])
        terms = reference.terms if reference else [one["term"] for one in row["terms"] or ()]
        having.update(terms)
        unknown += not terms
        for gap in row_term_gaps(row, references):
            by_term[gap.term].append((case_of(row), gap))
    return {
        term: _summary(term, having[term] + unknown, found, common.get(term, frozenset()))
        for term, found in by_term.items()
    }


def _summary(
    term: str, runs: int, found: Sequence[tuple[Case, Gap]], common: frozenset[Case]
) -> TermSummary:
    proven = [(case, gap) for case, gap in found if gap.to_optimum]
    gaps = [gap for _, gap in proven]
    return TermSummary(
        term=term,
        runs=runs,
        cases=len(gaps),
        at_optimum=sum(gap.absolute == 0 for gap in gaps),
        excess=_spread(gap.excess for gap in gaps),
        to_optimum=_spread(gap.relative for gap in gaps),
        above_zero=spread([float(gap.absolute) for gap in gaps if gap.excess is None]),
        to_bound=_spread(gap.relative for _, gap in found if not gap.to_optimum),
        common=_spread(gap.excess for case, gap in proven if case in common),
    )


def _spread(numbers: Iterable[float | None]) -> Spread:
    return spread([number for number in numbers if number is not None])


def common_by_term(
    players: Iterable[Row], references: dict[str, Reference], common: frozenset[Case]
) -> dict[str, frozenset[Case]]:
    """Return, for each term, the cases in which every method with a placement has an excess.

    Where the optimum is 0 and a method is above it, there is no ratio: such a case counts for none
    of them, so that all means are of the same cases.

    Parameters
    ----------
    players
        The rows of all methods that are compared.
    references
        Instance hash -> what is proven about it.
    common
        The cases that all of them place, see `cases.common_cases`.
    """
    having: dict[str, set[Case]] = defaultdict(set)
    lacking: dict[str, set[Case]] = defaultdict(set)
    for row in players:
        case, reference = case_of(row), references.get(row["instance_hash"])
        if case not in common or reference is None or values_of(row) is None:
            continue
        gaps = row_term_gaps(row, references)
        counted = {gap.term for gap in gaps if gap.to_optimum and gap.excess is not None}
        for term in reference.terms:
            (having if term in counted else lacking)[term].add(case)
    return {term: frozenset(cases - lacking[term]) for term, cases in having.items()}
