"""Words and numbers that the charts share."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from slotwise.benchmarks.grading.rows import Subject
from slotwise.benchmarks.report.figures.numbers.panels import Panel
from slotwise.models.display import counted

DASH = "\N{EN DASH}"
"""Stands where there is no number."""

MINUS = "\N{MINUS SIGN}"
RATIO = f"(value {MINUS} optimum) / optimum, so that twice the optimum is 100 %"


def amount(value: float | None) -> str:
    """Return a number with three digits; a dash where there is none."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def distance(value: float | None, panel: Panel) -> str:
    """Return a distance of a panel with its unit."""
    return f"{amount(value)} %" if panel.is_relative and value is not None else amount(value)


MOST_NAMED = 3
"""Methods that a sentence names; of more, the best and the worst."""


def shares_text(ranked: Sequence[tuple[str, float]]) -> str:
    """Return in words in which share of the cases each method has something, best first.

    Of more than `MOST_NAMED` methods the first and the last stand for all.
    """
    texts = [f"{100 * share:.0f} %" for _, share in ranked]
    if len(ranked) > 1 and len(set(texts)) == 1:
        return f"each of {len(ranked)} methods in {texts[0]}"
    said = [f"{name} in {text}" for (name, _), text in zip(ranked, texts, strict=True)]
    if len(said) > MOST_NAMED:
        return f"{said[0]} (best of {len(said)} methods) and {said[-1]} (worst)"
    return " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))


def term_heading(subject: Subject, term: str) -> str:
    """Return what a chart of one term is about."""
    return f"{term} (allocations)" if subject == Subject.ALLOCATION else term


def heading(panel: Panel) -> str:
    """Return what a panel is about."""
    return term_heading(panel.subject, panel.term)


def axis(panel: Panel) -> str:
    """Return what stands at the axis of a panel's distances."""
    return f"distance from the {panel.reference}, {unit(panel)}"


UNITS = {
    "overload": "weighted units",
    "network": "flow \N{MULTIPLICATION SIGN} distance",
    "nodes": "nodes",
    "workers": "workers",
    "moved": "tasks",
    "rejected": "priorities",
    "linear": "cost",
    "slots": "slots",
}
"""What the parts of terms are measured in; `facts.TERMS` says it at length."""


def unit(panel: Panel) -> str:
    """Return what a panel's distances are measured in."""
    if panel.is_relative:
        return "%"
    return " + ".join(UNITS.get(part, "units") for part in panel.term.split("+"))


def folded(label: str, width: int) -> str:
    """Return the label of an axis in lines of at most `width` signs: what is longer is cut off."""
    return "\n".join(wrap(label, width))


ACROSS, UPWARDS = 40, 24
"""Signs of a line below the narrowest chart, and beside the lowest one."""


def scope(panel: Panel) -> str:
    """Return in a sentence which cases a panel has, and which are left out."""
    text = f"{heading(panel)}: {len(panel.cases):,} of {counted(panel.total, 'case')}"
    unproven = panel.total - len(panel.cases) - panel.at_zero
    reasons = [
        f"{unproven:,} without a proven {panel.reference}" if unproven else "",
        f"{panel.at_zero:,} where it is 0" if panel.at_zero else "",
    ]
    left_out = " and ".join(reason for reason in reasons if reason)
    bound = "" if panel.is_proven else "; no optimum is proven, so distances are upper limits"
    return (f"{text}, without {left_out}" if left_out else text) + f"{bound}."


def definitions(panels: list[Panel]) -> str:
    """Return how distances are defined in these panels."""
    said = [f"Distance: {RATIO}."] if any(panel.is_relative for panel in panels) else []
    plain = [heading(panel) for panel in panels if not panel.is_relative]
    if plain:
        said.append(
            f"Distance of {' and '.join(plain)}: value {MINUS} optimum, because the optimum is 0 "
            "in half of the cases or more."
        )
    return " ".join([*said, *map(scope, panels)])
