"""The terms of the objective, each on its own, and the cases on which methods can be compared.

A term counts only where every earlier term is at its optimum: a placement that saves network by
overloading nodes has no gap of the network. So each panel has one term, and says on how many cases
a method reaches it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of, infeasible_instances
from slotwise.benchmarks.analysis.gaps import Reference, Values, values_of
from slotwise.benchmarks.grading.rows import Kind, Row, Subject, subject_of

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
        All cases of the subject that are not proven infeasible; those left out because their
        optimum is 0, where the ratio says nothing. The rest that is left out has no proven optimum.
    excess
        Method -> distance in each case where it has a valid placement and every earlier term is at
        its optimum; methods in the order of the summary.
    """

    subject: Subject
    term: str
    is_relative: bool
    is_proven: bool
    cases: frozenset[Case]
    total: int
    at_zero: int
    excess: Mapping[str, Excess]

    @property
    def unit(self) -> str:
        """What distances are measured in, for an axis."""
        base = "optimum" if self.is_proven else "bound"
        return f"% above the {base}" if self.is_relative else f"above the {base}, in units"

    def common(self) -> tuple[tuple[str, ...], frozenset[Case]]:
        """Return the methods that are compared, and the cases where each of them has a distance.

        Methods join by the number of their cases, most first, as long as at least half of the
        first one's cases are common to all: a method that fails often is left out, and said to
        be, rather than shrinking what the others are compared on.
        """
        order = sorted(self.excess, key=lambda method: -len(self.excess[method]))
        chosen: list[str] = []
        shared: frozenset[Case] = frozenset()
        for method in order:
            both = self.excess[method].keys() & shared if chosen else self.excess[method].keys()
            if both and 2 * len(both) >= len(self.excess[order[0]]):
                chosen.append(method)
                shared = frozenset(both)
        return tuple(method for method in self.excess if method in chosen), shared


@dataclass(frozen=True, slots=True)
class _Found:
    """A value of a method in one case, and the bound of that term."""

    method: str
    case: Case
    value: Fraction
    bound: Fraction


def panels(rows: Sequence[Row], summary: Aggregate) -> tuple[Panel, ...]:
    """Return a panel for each term of each subject that has a bound, in the objective's order."""
    players = [row for row in rows if row["kind"] != Kind.EXACT]
    order = [s.method for s in summary.methods if s.kind != Kind.EXACT]
    known = _terms(players, summary)
    found: dict[tuple[Subject, str], list[_Found]] = defaultdict(list)
    for row in players:
        reference, values = summary.references.get(row["instance_hash"]), values_of(row)
        if reference is not None and values is not None:
            subject = subject_of(row["method"])
            for term, value, bound in _settled(values, reference):
                found[subject, term].append(_Found(row["method"], case_of(row), value, bound))
    impossible = infeasible_instances(rows)
    subjects = {row["method"]: subject_of(row["method"]) for row in players}
    totals: dict[Subject, set[Case]] = defaultdict(set)
    for row in players:
        if row["instance_hash"] not in impossible:
            totals[subjects[row["method"]]].add(case_of(row))
    return tuple(
        _panel(
            key,
            [m for m in order if subjects[m] == key[0]],
            bounds,
            found[key],
            len(totals[key[0]]),
        )
        for key, bounds in known.items()
    )


@dataclass(slots=True)
class _Bounds:
    """The bounds of a term over the cases, and those of them that are proven optima."""

    bounds: dict[Case, Fraction]
    proven: set[Case]


def _terms(rows: Iterable[Row], summary: Aggregate) -> dict[tuple[Subject, str], _Bounds]:
    found: dict[tuple[Subject, str], _Bounds] = {}
    seen: set[tuple[Subject, Case]] = set()
    for row in rows:
        subject, case = subject_of(row["method"]), case_of(row)
        reference = summary.references.get(case[0])
        if reference is None or (subject, case) in seen:
            continue
        seen.add((subject, case))
        for index, (term, bound) in enumerate(zip(reference.terms, reference.bounds, strict=True)):
            one = found.setdefault((subject, term), _Bounds({}, set()))
            if bound is not None and index <= reference.optimal:
                one.bounds[case] = bound
                if index < reference.optimal:
                    one.proven.add(case)
    return found


def _settled(values: Values, reference: Reference) -> Iterator[tuple[str, Fraction, Fraction]]:
    """Yield term, value and bound as far as the earlier terms are at their optimum."""
    for term, value, bound in zip(reference.terms, values, reference.bounds, strict=True):
        if bound is None:
            return
        yield term, value, bound
        if value != bound:
            return


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
            over = one.value - one.bound
            excess[one.method][one.case] = float(100 * over / one.bound if is_relative else over)
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
