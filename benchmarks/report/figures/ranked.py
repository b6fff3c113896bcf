"""Ranked bars: the mean gap of each method, one panel for each term."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from slotwise.benchmarks.judged.intervals import LEAST_INSTANCES, MEAN_RESAMPLES
from slotwise.benchmarks.judged.method_table import interval_text
from slotwise.benchmarks.judged.statistics import OF_SEEDS
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import name_bars
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour
from slotwise.benchmarks.report.figures.panels import Panel, chart_of
from slotwise.benchmarks.report.figures.source import Record, Source, TermGaps
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = (
    *("term", "method", "instances", "placed", "finite gap", "in the mean", "mean"),
    *("95 % interval", "median", "95th percentile", "mean by seed"),
)

ENDS = ("mean_low", "mean_high", "mean_ci_low", "mean_ci_high")


def ranked_gaps(source: Source) -> Chart | None:
    """Return the chart; ``None`` where there is no term of which anything is known."""
    bars = [(term, _ranked(term)) for term in source.terms]
    telling = [term for term, some in bars if any(bar["mean_high"] != 0 for bar in some)]
    drawn = telling or [term for term, _ in bars[-1:]]
    panels = [_panel(source, term, some, drawn=term in drawn) for term, some in bars]
    has_interval = any(not math.isnan(bar["mean_ci_low"]) for _, some in bars for bar in some)
    is_unproven = any(bar["mean_low"] < bar["mean_high"] for _, some in bars for bar in some)
    interval = (
        f", with its 95 % interval (bootstrap over instances, {MEAN_RESAMPLES:,} resamples; from "
        f"{LEAST_INSTANCES} instances)"
    )
    has_seeds = any(not math.isnan(bar[OF_SEEDS[0]]) for _, some in bars for bar in some)
    seeds = " Ticks: the least and the greatest mean with one seed each."
    light = " The light part of a bar leads to the mean of the greatest gaps that are possible."
    return chart_of(
        "gaps-ranked",
        "How far each method is from the optimum",
        f"Mean gap{interval if has_interval else ''}, one panel for each term of the objective. "
        f"{source.definition}{light if is_unproven else ''}"
        f"{seeds if has_seeds else ''} "
        f"{source.basis((term.comparison for term, _ in bars), of_means=True)}",
        COLUMNS,
        panels,
    )


def _ranked(term: TermGaps) -> list[Record]:
    """Return the compared methods, least mean first; without a mean, most finite gaps first."""
    bars = [term.statistics[method] for method in term.compared]
    if term.gaps.common.any():
        return sorted(bars, key=lambda bar: (bar["mean_low"], bar["mean_high"], bar["method"]))
    return sorted(bars, key=lambda bar: (-bar["finite"], bar["median_low"], bar["method"]))


def _panel(source: Source, term: TermGaps, bars: Sequence[Record], *, drawn: bool) -> Panel:
    draw = partial(_draw, bars=bars, cast=source.cast) if drawn else None
    rows = [(source.cast.name(bar["method"]), *_cells(bar)) for bar in bars]
    sentence = _sentence(term.heading, bars, source.cast)
    return Panel(term.heading, 0.7 + 0.25 * len(bars), draw, sentence, rows)


def _cells(bar: Record) -> tuple[str, ...]:
    counts = (f"{bar[name]:,}" for name in ("instances", "placed", "finite", "common"))
    names = ("mean", "mean_ci", "median", "p95", "mean_seeds")
    return (*counts, *(interval_text(bar[f"{one}_low"], bar[f"{one}_high"]) for one in names))


def _draw(ax: Axes, bars: Sequence[Record], cast: Cast) -> None:
    finite = [
        100 * bar[end] for bar in bars for end in (*ENDS, *OF_SEEDS) if math.isfinite(bar[end])
    ]
    edge = 1.1 * max([0.0, *finite]) or 1.0
    ax.set_xlim(min([0.0, *finite]), edge * 1.4)
    if not finite:
        ax.set_xticks([])
    for place, bar in enumerate(bars):
        if math.isnan(bar["mean_low"]):
            text = f"no mean: a finite gap in {bar['finite']:,} of {bar['instances']:,}"
            _write(ax, text, 0.0, place, "muted")
            continue
        low, high, *interval = (min(100 * bar[end], edge) for end in ENDS)
        ax.barh(place, low, height=0.62, color=colour("series-1"))
        ax.barh(place, high - low, left=low, height=0.62, color=colour("series-6"))
        ends = [end for end in interval if not math.isnan(end)]
        ax.plot(ends, [place] * len(ends), color=colour("text"), linewidth=1.1)
        of_seeds = [100 * bar[end] for end in OF_SEEDS if math.isfinite(bar[end])]
        ax.plot(of_seeds, [place] * len(of_seeds), "|", color=colour("text"), markersize=7)
        text = interval_text(bar["mean_low"], bar["mean_high"])
        _write(ax, text, max([high, *ends, 0.0]), place, "text")
    name_bars(ax, [cast.short(bar["method"]) for bar in bars])
    ax.set_xlabel("mean gap, %")
    ax.grid(axis="x")


def _write(ax: Axes, text: str, x: float, place: int, shade: str) -> None:
    ax.annotate(
        text, (x, place), xytext=(4, 0), textcoords="offset points", va="center",
        color=colour(shade),
    )  # fmt: skip


def _sentence(heading: str, bars: Sequence[Record], cast: Cast) -> str:
    first, last = bars[0], bars[-1]
    if not first["common"]:
        return (
            f"{heading}: of {counted(first['instances'], 'instance')}, none has a finite gap of "
            "every method, so there is no mean."
        )
    where = f"{heading}, on {counted(first['common'], 'instance')}"
    if all(bar["mean_high"] == 0 for bar in bars):
        return f"{where}: all methods are at the optimum."
    text = f"{where}: {cast.name(first['method'])} is {_mean(first)} above the optimum on average"
    if len(bars) > 1:
        text += f", {cast.name(last['method'])} {_mean(last)}"
    return f"{text}."


def _mean(bar: Record) -> str:
    return interval_text(bar["mean_low"], bar["mean_high"])
