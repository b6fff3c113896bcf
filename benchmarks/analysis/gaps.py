"""How far a value is from the optimum, or from a bound, when the objective is lexicographic.

Two definitions are in use: the gap of solvers, (value - bound) / max(|value|, 10^-6), and the
excess of articles, (value - bound) / bound: 100 % at twice the optimum. A gap belongs to one term.
A term counts where all earlier ones are at their bound, so the last that counts is the first in
which value and bound differ. Where the bound is 0 neither ratio says anything: the gap is absolute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from slotwise.benchmarks.grading.rows import SUCCEEDED, Kind, Row, term_values
from slotwise.models.values import GAP_FLOOR

Values = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """What the exact engine says about an instance.

    Parameters
    ----------
    terms
        Names of the terms.
    bounds
        Proven lower bound of each term, given that the earlier ones are at their optimum; ``None``
        = not proven.
    optimal
        How many of the first terms have their bound attained: the bound is the optimum there.
    best
        The exact engine's best values; ``None`` = no placement.
    """

    terms: tuple[str, ...]
    bounds: tuple[Fraction | None, ...]
    optimal: int
    best: Values | None

    @property
    def proven(self) -> bool:
        """Whether the optimum of every term is known."""
        return bool(self.terms) and self.optimal == len(self.terms)


@dataclass(frozen=True, slots=True)
class Gap:
    """Distance of a placement's value from the reference in one term.

    Parameters
    ----------
    term
        Name of the term.
    value, bound
        In the user's unit.
    to_optimum
        Whether the bound is the optimum of that term; else the true gap lies between 0 and this.
    """

    term: str
    value: Fraction
    bound: Fraction
    to_optimum: bool

    @property
    def absolute(self) -> Fraction:
        """Value - bound, in the user's unit."""
        return self.value - self.bound

    @property
    def relative(self) -> float | None:
        """Solvers' gap, see `relative`."""
        return relative(self.value, self.bound)

    @property
    def excess(self) -> float | None:
        """Articles' gap, see `excess`; ``None`` where `relative` is."""
        return excess(self.value, self.bound)


def values_of(row: Row) -> Values | None:
    """Return the values of a row with a valid placement, ``None`` for any other row."""
    if row["status"] not in SUCCEEDED:
        return None
    return tuple(term_values(row).values())


def reference_of(rows: Iterable[Row]) -> Reference | None:
    """Return the strongest statement of an instance's exact rows; ``None`` where there is none."""
    found = [_reference(row) for row in rows if row["kind"] == Kind.EXACT and row["terms"]]
    return max(found, key=_strength, default=None)


def _strength(reference: Reference) -> tuple[int, list[Fraction]]:
    missing = Fraction(-1)
    return reference.optimal, [missing if b is None else b for b in reference.bounds]


def _reference(row: Row) -> Reference:
    terms = row["terms"] or ()
    bounds = tuple(None if t["bound"] is None else Fraction(t["bound"]) for t in terms)
    best = values_of(row)
    optimal = 0
    for value, bound in zip(best or (), bounds, strict=False):
        if value != bound:
            break
        optimal += 1
    return Reference(tuple(t["term"] for t in terms), bounds, optimal, best)


def terms_in_order(objectives: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return each term of some objectives once, in the order of the objective with most terms.

    Terms that it lacks follow. Objectives of the same length keep their order.
    """
    longest_first = sorted(objectives, key=len, reverse=True)
    return tuple(dict.fromkeys(term for terms in longest_first for term in terms))


def term_gaps(values: Values, reference: Reference) -> tuple[Gap, ...]:
    """Return the gap of every term up to the first that differs, or the first without a bound."""
    found: list[Gap] = []
    for index, (value, bound) in enumerate(zip(values, reference.bounds, strict=True)):
        if bound is None:
            break
        is_at = value == bound
        found.append(Gap(reference.terms[index], value, bound, is_at or index < reference.optimal))
        if not is_at:
            break
    return tuple(found)


def gap_of(values: Values, reference: Reference) -> Gap | None:
    """Return the gap of the first term that differs; of the last one where none does.

    ``None`` where the term that decides has no bound. A value below the bound makes a negative gap:
    a contradiction, which reports must show.
    """
    found = term_gaps(values, reference)
    settled = found and (found[-1].absolute or len(found) == len(values))
    return found[-1] if settled else None


def relative(value: Fraction, bound: Fraction) -> float | None:
    """Return (value - bound) / max(|value|, `GAP_FLOOR`); ``None`` where only the bound is 0."""
    if value == bound:
        return 0.0
    if bound == 0:
        return None
    return float((value - bound) / max(abs(value), GAP_FLOOR))


def excess(value: Fraction, bound: Fraction) -> float | None:
    """Return (value - bound) / |bound|; ``None`` where only the bound is 0."""
    if value == bound:
        return 0.0
    return None if bound == 0 else float((value - bound) / abs(bound))


def row_gap(row: Row, references: dict[str, Reference]) -> Gap | None:
    """Return the gap of a row; ``None`` for a failure and where nothing is proven."""
    values = values_of(row)
    reference = references.get(row["instance_hash"])
    return None if values is None or reference is None else gap_of(values, reference)


def row_term_gaps(row: Row, references: dict[str, Reference]) -> tuple[Gap, ...]:
    """Return the gaps of a row by term, see `term_gaps`; none for a failure."""
    values = values_of(row)
    reference = references.get(row["instance_hash"])
    return () if values is None or reference is None else term_gaps(values, reference)
