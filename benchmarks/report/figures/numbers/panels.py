"""The terms of the objective, each on its own, and the cases on which methods can be compared.

A term counts only where every earlier term is at its optimum: a placement that saves network by
overloading nodes has no gap of the network. So each panel has one term, and says on how many cases
a method reaches it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of, infeasible_instances
from slotwise.benchmarks.analysis.gaps import Gap, Reference, row_term_gaps
from slotwise.benchmarks.grading.rows import Kind, Row, Subject, subject_of
from slotwise.benchmarks.judged.intervals import generator, mean_interval
from slotwise.benchmarks.report.figures.numbers.shared_cases import Cases, shared_cases

Excess = Mapping[Case, float]
"""Case -> distance from the optimum, in the panel's unit."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One term of the objective: how far each method is from the optimum of it.

    Parameters
    ----------
    subject, term
        What the cases ask for, and the name of the term.
    is_relative
        Whether distances are (value - optimum) / optimum, in percent; else value - optimum, in
        the term's unit, because the optimum is 0 in at least half of the cases.
    is_proven
        Whether the optimum is proven in every case; else distances are to the proven bound, where
        no case has a proven optimum.
    cases
        All cases that are compared.
    total, at_zero
        All cases whose objective has the term, but for those proven infeasible; those left out
        because their optimum is 0, where the ratio says nothing. The rest that is left out has no
        proven optimum.
    excess
        Method -> distance in each case where it has a valid placement and every earlier term is at
        its optimum; methods in the order of the summary.
    """

    subject: Subject
    term: str
    is_relative: bool
    is_proven: bool
    cases: Cases
    total: int
    at_zero: int
    excess: Mapping[str, Excess]

    @property
    def reference(self) -> str:
        """What distances are measured from."""
        return "optimum" if self.is_proven else "bound"

    def common(self) -> tuple[tuple[str, ...], Cases]:
        """Return the methods that are compared, and the cases where each has a distance."""
        return shared_cases({method: found.keys() for method, found in self.excess.items()})

    @property
    def is_settled(self) -> bool:
        """Whether every method is at the optimum wherever it has a distance."""
        return not any(any(found.values()) for found in self.excess.values())


@dataclass(frozen=True, slots=True)
class _Found:
    """How far a method is from the bound of a term in one case."""

    method: str
    case: Case
    gap: Gap


@dataclass(slots=True)
class _Bounds:
    """The bounds of a term over the cases, and the cases where they are proven optima."""

    bounds: dict[Case, Fraction]
    proven: set[Case]


def panels(rows: Sequence[Row], summary: Aggregate) -> tuple[Panel, ...]:
    """Return a panel for each term of each subject that has a bound, in the objective's order.

    `rows` have the same cases for each method, see `shared_cases.on_one_grid`.
    """
    players = [row for row in rows if row["kind"] != Kind.EXACT]
    found: dict[tuple[Subject, str], list[_Found]] = defaultdict(list)
    cases: dict[Subject, set[Case]] = defaultdict(set)
    methods: dict[Subject, set[str]] = defaultdict(set)
    impossible = infeasible_instances(rows)
    for row in players:
        subject, case = subject_of(row["method"]), case_of(row)
        methods[subject].add(row["method"])
        if case[0] in impossible:
            continue
        cases[subject].add(case)
        for gap in row_term_gaps(row, summary.references):
            found[subject, gap.term].append(_Found(row["method"], case, gap))
    order = [s.method for s in summary.methods]
    return tuple(
        _panel(
            (subject, term),
            [m for m in order if m in methods[subject]],
            known,
            found[subject, term],
            sum(_has(term, summary.references.get(case[0])) for case in some),
        )
        for subject, some in cases.items()
        for term, known in _terms(some, summary).items()
    )


def _has(term: str, reference: Reference | None) -> bool:
    """Return whether an objective has a term; one of which nothing is known counts for each."""
    return reference is None or term in reference.terms


def _terms(cases: Collection[Case], summary: Aggregate) -> dict[str, _Bounds]:
    found: dict[str, _Bounds] = {}
    for case in sorted(cases):
        reference = summary.references.get(case[0])
        if reference is None:
            continue
        for index, (term, bound) in enumerate(zip(reference.terms, reference.bounds, strict=True)):
            one = found.setdefault(term, _Bounds({}, set()))
            if bound is not None and index <= reference.optimal:
                one.bounds[case] = bound
                if index < reference.optimal:
                    one.proven.add(case)
    return found


def _panel(
    key: tuple[Subject, str],
    methods: Sequence[str],
    known: _Bounds,
    found: Sequence[_Found],
    total: int,
) -> Panel:
    is_proven = bool(known.proven) or not known.bounds
    cases = known.proven if is_proven else set(known.bounds)
    zero = {case for case in cases if known.bounds[case] == 0}
    is_relative = 2 * len(zero) < len(cases)
    kept = frozenset(cases - zero if is_relative else cases)
    excess: dict[str, dict[Case, float]] = {method: {} for method in methods}
    for one in found:
        if one.case in kept:
            far = one.gap.excess if is_relative else None
            distance = float(one.gap.absolute) if far is None else 100 * far
            excess[one.method][one.case] = distance
    return Panel(
        subject=key[0],
        term=key[1],
        is_relative=is_relative,
        is_proven=is_proven,
        cases=kept,
        total=total,
        at_zero=len(zero) if is_relative else 0,
        excess=excess,
    )


def mean_with_interval(
    excess: Excess, cases: Iterable[Case], *names: str
) -> tuple[float, float | None, float | None]:
    """Return the mean over `cases`, at least one, and its 95 % interval by the bootstrap.

    The seeds of an instance are averaged first: they are no independent instances. There is no
    interval for fewer than `aggregation.intervals.LEAST_INSTANCES`. `names` seed what is drawn.
    """
    by_instance: dict[str, list[float]] = defaultdict(list)
    for case in sorted(cases):
        by_instance[case[0]].append(excess[case])
    means = [fmean(some) for some in by_instance.values()]
    low, high = mean_interval(means, generator(0, *names)) or (None, None)
    return fmean(means), low, high
