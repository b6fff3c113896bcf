"""Numbers, gaps and values of the report as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

from markupsafe import Markup

from slotwise.benchmarks.grading.rows import Row, RunStatus
from slotwise.models.values import short_text

DASH = "\N{EN DASH}"
"""Stands where there is no number."""

NO_BREAK = "\N{NO-BREAK SPACE}"


def whole_name(name: str) -> Markup:
    """Return a name for a cell of a table, which is not broken where it has room."""
    return Markup('<span class="whole">{}</span>').format(name)


def number(value: float | Fraction | str | None) -> str:
    """Return a number short; a dash where there is none."""
    return short_text(None if value is None else Fraction(value), missing=DASH, grouped=True)


def short(value: float | None) -> str:
    """Return a mean with three digits; a dash where there is none."""
    return DASH if value is None else f"{value:,.1f}" if value >= 100 else f"{value:.3g}"


def seconds_text(seconds: float | None) -> str:
    """Return seconds with three digits; a dash where there are none."""
    return DASH if seconds is None else f"{seconds:.3g}"


def case_name(row: Row) -> str:
    """Return the name of a row's instance, with the seed where that is not 0."""
    return row["instance"] if row["seed"] == 0 else f"{row['instance']} (seed {row['seed']})"


def objective_text(row: Row, key: Literal["value", "bound"] = "value") -> str:
    """Return values or bounds of all terms: ``overload 0, network 48``; empty = none has one."""
    terms = row["terms"] or ()
    if all(term[key] is None for term in terms):
        return ""
    return ", ".join(f"{term['term']} {number(term[key])}" for term in terms)


def vector_text(values: Mapping[str, Fraction]) -> str:
    """Return numbers by term: ``overload 0, network 48``; empty = none."""
    return ", ".join(f"{term} {number(value)}" for term, value in values.items())


def plain_vector(values: Mapping[str, Fraction], terms: Iterable[str]) -> tuple[str, ...]:
    """Return the number of each of `terms` for files; empty = it has none."""
    return tuple(short_text(values[term]) if term in values else "" for term in terms)


def pairs(text: str) -> str:
    """Return what `objective_text` wrote with each term and its number kept on one line."""
    return text.replace(" ", NO_BREAK).replace(f",{NO_BREAK}", ", ")


def exact_title(row: Row) -> str:
    """Return what a drawing of the exact engine's placement is."""
    if row["status"] == RunStatus.OPTIMAL:
        return "proven optimum"
    return "best found by the exact engine (not proven)"
