"""Numbers, gaps and values of the report as text."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from slotwise.benchmarks.analysis.gaps import Gap
from slotwise.benchmarks.analysis.measures import Spread
from slotwise.benchmarks.grading.rows import Row, RunStatus
from slotwise.models.number_text import short_text

DASH = "\N{EN DASH}"
"""Stands where there is no number."""

NO_BREAK = "\N{NO-BREAK SPACE}"


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
    return (
        f"{spread.count} runs: mean {percent(spread.mean)}, median {percent(spread.median)}, "
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


def objective_text(row: Row, key: Literal["value", "bound"] = "value") -> str:
    """Return values or bounds of all terms: ``overload 0, network 48``; empty = none has one."""
    terms = row["terms"] or ()
    if all(term[key] is None for term in terms):
        return ""
    return ", ".join(f"{term['term']} {number(term[key])}" for term in terms)


def pairs(text: str) -> str:
    """Return what `objective_text` wrote with each term and its number kept on one line."""
    return text.replace(" ", NO_BREAK).replace(f",{NO_BREAK}", ", ")


def exact_title(row: Row) -> str:
    """Return what a drawing of the exact engine's placement is."""
    if row["status"] == RunStatus.OPTIMAL:
        return "proven optimum"
    return "best found by the exact engine (not proven)"
