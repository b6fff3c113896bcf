"""Curves over all instances: the distribution of the gaps, and performance profiles.

A performance profile (Dolan and More 2002) has the share of instances on which a method is within
a factor of the best, for all factors: of the best known value of a term, and of the least time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slotwise.benchmarks.judged.judging import Floats
from slotwise.benchmarks.judged.method_table import interval_text
from slotwise.benchmarks.judged.statistics import MethodComparison, time_ratios
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.axes import decades, ratios, share_axis
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines, steps
from slotwise.benchmarks.report.figures.panels import Panel, chart_of
from slotwise.benchmarks.report.figures.source import (
    Source,
    TermGaps,
    compared,
    shares_text,
)
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_IN = 2.9

Curves = Mapping[str, tuple[Floats, Floats]]
"""Method -> the greatest and the least number that it can have on each instance."""

WITHIN = (0.0, 0.1, 0.5, 1.0)
"""Gaps of the table of the distribution, of `judged.figures.ECDF_AT`."""

TIMES_BEST = (1.0, 1.1, 1.5, 2.0, 10.0)
"""Factors of the table of profiles, of `judged.figures.TAUS`."""


def gap_distribution(source: Source) -> Chart | None:
    """Return the chart; ``None`` where no method is above the optimum, or all gaps infinite."""
    shown = [
        term for term in source.terms if term.gaps.high.any() and np.isfinite(term.gaps.low).any()
    ]
    is_unproven = any(not np.array_equal(one.gaps.low, one.gaps.high) for one in shown)
    thin = (
        " Where optima are not proven, a line has the share that is surely within x, and the thin "
        "dotted one above it the share that possibly is."
    )
    return chart_of(
        "gap-distribution",
        "Instances within a gap",
        "Share of all instances on which the gap is at most x (empirical distribution), one panel "
        "for each term. An infinite gap never counts, so that a line may end below 100 %."
        f"{thin if is_unproven else ''} Virtual best: the best compared method of each instance."
        f"{source.cast.grey_lines} {source.definition} "
        f"{source.basis(one.comparison for one in shown)}",
        (
            *("term", "method", "instances", "at the optimum"),
            *(f"within {100 * gap:g} %" for gap in WITHIN[1:]),
        ),
        [_distribution(source, term) for term in shown],
    )


def _distribution(source: Source, term: TermGaps) -> Panel:
    cast, count = source.cast, len(term.gaps.rows)
    key = term.comparison.group.number, term.gaps.term
    shares = {
        method: [source.shares[*key, method, gap] for gap in WITHIN]
        for method in cast.ordered(term.members)
    }
    return Panel(
        term.heading,
        HEIGHT_IN,
        partial(
            _draw_gaps,
            curves={m: (100 * term.high(m), 100 * term.low(m)) for m in shares},
            cast=cast,
        ),
        _attained(
            f"{term.heading}, of {counted(count, 'instance')}",
            "optimum",
            {method: shares[method][0]["share_low"] for method in term.compared},
            cast,
        ),
        [
            (
                *(cast.name(method), f"{count:,}"),
                *(interval_text(one["share_low"], one["share_high"]) for one in found),
            )
            for method, found in shares.items()
        ],
    )


def _attained(where: str, what: str, shares: Mapping[str, float], cast: Cast) -> str:
    """Return in words who attains something: method -> in which share of the instances."""
    ranked = sorted(cast.ordered(shares), key=lambda method: -shares[method])
    if shares[ranked[0]] == 0:
        return f"{where}, no method attains the {what} in any."
    names = [(cast.name(method), shares[method]) for method in ranked]
    return f"{where}, the {what} is attained by {shares_text(names)}."


def _draw_gaps(ax: Axes, curves: Curves, cast: Cast) -> None:
    most = 1.15 * max(_most(curves), 1.0)
    ax.set_xscale("symlog", linthresh=1.0)
    ax.set_xlim(0.0, most)
    decades(ax, most)
    ax.set_xlabel("gap, % (log scale from 1)")
    _draw(ax, curves, (0.0, most), cast)


def _most(curves: Curves) -> float:
    every = np.concatenate([numbers for both in curves.values() for numbers in both])
    return float(every[np.isfinite(every)].max(initial=0.0))


def _draw(ax: Axes, curves: Curves, ends: tuple[float, float], cast: Cast) -> None:
    lines = []
    for method, bounds in curves.items():
        sure, possible = (steps(numbers.tolist(), len(numbers), *ends) for numbers in bounds)
        lines.append(Line(method, sure, () if sure == possible else possible))
    share_axis(ax, "share of instances")
    draw_lines(ax, lines, cast, is_stepped=True)
    name_lines(ax, lines, cast, HEIGHT_IN)


def performance_profiles(source: Source) -> Chart | None:
    """Return the chart; ``None`` where all methods are equal everywhere."""
    panels, comparisons = [], []
    for comparison in source.comparisons:
        profiles = [
            (term.gaps.term, term.heading, "best known value", _ratios(term))
            for term in source.terms
            if term.comparison is comparison
        ]
        times = dict(zip(comparison.names, time_ratios(comparison).T, strict=True))
        profiles.append(("seconds", source.heading(comparison, "time"), "least time", times))
        for name, heading, best, profile in profiles:
            every = np.concatenate(list(profile.values()))
            if np.isfinite(every).any() and (every > 1).any():
                panels.append(_profile(source, comparison, (name, heading, best), profile))
                comparisons.append(comparison)
    return chart_of(
        "performance-profiles",
        "Performance profiles",
        "Share of instances on which a method's value of the term is at most x times the best "
        "known value, or its time at most x times that of the fastest compared method (Dolan and "
        "More 2002). Without a valid placement, above a best known value of 0 and worse in an "
        "earlier term, it is infinitely far away. Virtual best: the best compared method of each "
        f"instance.{source.cast.grey_lines} {source.basis(comparisons)}",
        ("of", "method", "instances", *(f"within {tau:g} times" for tau in TIMES_BEST)),
        panels,
    )


def _ratios(term: TermGaps) -> dict[str, Floats]:
    """Return the values of each member over the best known ones."""
    if not term.comparison.judged.solver_gap:
        return {method: 1 + term.low(method) for method in term.members}
    with np.errstate(divide="ignore"):
        return {m: 1 / np.maximum(1 - term.low(m), 0) for m in term.members}


def _profile(
    source: Source,
    comparison: MethodComparison,
    names: tuple[str, str, str],
    profile_ratios: Mapping[str, Floats],
) -> Panel:
    """Return the panel of ratios, by method; `names`: of the profile, its heading, its best."""
    (name, heading, best), cast = names, source.cast
    methods = cast.ordered(profile_ratios)
    count = len(profile_ratios[methods[0]])
    shares = {
        method: [
            source.profiles[comparison.group.number, name, method, tau]["share"]
            for tau in TIMES_BEST
        ]
        for method in methods
    }
    return Panel(
        heading,
        HEIGHT_IN,
        partial(
            _draw_ratios, profile={m: profile_ratios[m] for m in methods}, best=best, cast=cast
        ),
        _attained(
            f"{heading}, of {counted(count, 'instance')}",
            best,
            {method: shares[method][0] for method in compared(comparison)},
            cast,
        ),
        [
            (cast.name(method), f"{count:,}", *(interval_text(one, one) for one in some))
            for method, some in shares.items()
        ],
    )


def _draw_ratios(ax: Axes, profile: Mapping[str, Floats], best: str, cast: Cast) -> None:
    curves = {method: (numbers, numbers) for method, numbers in profile.items()}
    most = 1.05 * max(_most(curves), 1.0)
    ratios(ax, most)
    ax.set_xlabel(f"times the {best} (log scale)")
    _draw(ax, curves, (1.0, most), cast)
