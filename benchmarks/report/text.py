"""Numbers, gaps and values of the report as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal

from markupsafe import Markup

from slotwise.benchmarks.analysis.gaps import Gap
from slotwise.benchmarks.analysis.measures import Spread
from slotwise.benchmarks.grading.rows import Row, RunStatus
from slotwise.models.display import counted
from slotwise.models.number_text import short_text

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


def percent(share: float | None) -> str:
    """Return a share in percent; a dash where there is none."""
    if share is None:
        return DASH
    return f"{100 * share:,.0f} %" if share >= 1 else f"{100 * share:.3g} %"


def seconds_text(seconds: float | None) -> str:
    """Return seconds with three digits; a dash where there are none."""
    return DASH if seconds is None else f"{seconds:.3g}"


def spread_title(spread: Spread) -> str:
    """Return the spread in words, for a tooltip."""
    if not spread.count:
        return "no runs to measure"
    runs = counted(spread.count, "run")
    return (
        f"{runs}: mean {percent(spread.mean)}, median {percent(spread.median)}, "
        f"worst {percent(spread.most)}"
    )


def gap_text(gap: Gap | None) -> str:
    """Return a gap with the term it belongs to."""
    if gap is None:
        return "no bound"
    if gap.absolute == 0:
        return "optimal" if gap.to_optimum else "0 %"
    size = f"+{number(gap.absolute)}" if gap.relative is None else percent(gap.relative)
    return f"{size} {gap.term}" + ("" if gap.to_optimum else " to bound")


def excess_text(gap: Gap | None) -> str:
    """Return how far a value is above the optimum, in percent of that where it is not 0."""
    if gap is None:
        return "no bound"
    if gap.absolute == 0:
        return "optimal"
    size = number(gap.absolute) if gap.excess is None else percent(gap.excess)
    sign = "+" if gap.absolute > 0 else ""
    return f"{sign}{size} {gap.term}" + ("" if gap.to_optimum else " over bound")


def case_name(row: Row) -> str:
    """Return the name of a row's instance, with the seed where that is not 0."""
    return row["instance"] if row["seed"] == 0 else f"{row['instance']} (seed {row['seed']})"


def objective_text(row: Row, key: Literal["value", "bound"] = "value") -> str:
    """Return values or bounds of all terms: ``overload 0, network 48``; empty = none has one."""
    terms = row["terms"] or ()
    if all(term[key] is None for term in terms):
        return ""
    return ", ".join(f"{term['term']} {number(term[key])}" for term in terms)


def term_names(rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the names of all terms that rows have values of."""
    return tuple(dict.fromkeys(term["term"] for row in rows for term in row["terms"] or ()))


def plain_columns(terms: Sequence[str]) -> tuple[str, ...]:
    """Return what the parts of `case_table.Cell.plain` are, behind the name of the method."""
    return "", " gap term", " gap", " gap, %", *(f" {term}" for term in terms), " seconds"


def plain_values(
    row: Row, terms: Iterable[str], key: Literal["value", "bound"] = "value"
) -> tuple[str, ...]:
    """Return the value or bound of each of `terms` as a number for files; empty = it has none."""
    found = {term["term"]: term[key] for term in row["terms"] or ()}
    numbers = (found.get(term) for term in terms)
    return tuple("" if one is None else short_text(Fraction(one)) for one in numbers)


def plain_gap(gap: Gap | None) -> tuple[str, str, str, str]:
    """Return a gap for files: what it is, its term, value - bound, and that in % of the bound."""
    if gap is None:
        return "no bound", "", "", ""
    share = "" if gap.excess is None else f"{100 * gap.excess:.6g}"
    numbers = (gap.term, short_text(gap.absolute), share)
    if gap.absolute == 0:
        return "optimal", *numbers
    side = "below" if gap.absolute < 0 else "above"
    return f"{side} {'optimum' if gap.to_optimum else 'bound'}", *numbers


def pairs(text: str) -> str:
    """Return what `objective_text` wrote with each term and its number kept on one line."""
    return text.replace(" ", NO_BREAK).replace(f",{NO_BREAK}", ", ")


def exact_title(row: Row) -> str:
    """Return what a drawing of the exact engine's placement is."""
    if row["status"] == RunStatus.OPTIMAL:
        return "proven optimum"
    return "best found by the exact engine (not proven)"
