"""Words and numbers that the charts share."""

from __future__ import annotations

from slotwise.benchmarks.grading.rows import Subject
from slotwise.benchmarks.report.figures.panels import Panel
from slotwise.benchmarks.report.text import DASH

MOST_LETTERS = 22
"""Of a method's name beside a line or a bar; tables have it in full."""


def short_name(name: str) -> str:
    """Return a name that fits beside a bar."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"


def amount(value: float | None) -> str:
    """Return a number with three digits; a dash where there is none."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def distance(value: float | None, panel: Panel) -> str:
    """Return a distance of a panel with its unit."""
    return f"{amount(value)} %" if panel.is_relative and value is not None else amount(value)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def heading(panel: Panel) -> str:
    """Return what a panel is about."""
    several = f"{panel.term}"
    return f"{several} (allocations)" if panel.subject == Subject.ALLOCATION else several


def scope(panel: Panel) -> str:
    """Return in a sentence which cases a panel has, and which are left out."""
    text = f"{panel.term}: {len(panel.cases):,} of {counted(panel.total, 'case')}"
    unproven = panel.total - len(panel.cases) - panel.at_zero
    reasons = [
        f"{unproven:,} without a proven optimum" if unproven else "",
        f"{panel.at_zero:,} whose optimum is 0" if panel.at_zero else "",
    ]
    left_out = " and ".join(reason for reason in reasons if reason)
    return f"{text}, without {left_out}." if left_out else f"{text}."
