"""What gaps are worth: the predicted throughput of each run against its gap in the cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slotwise.benchmarks.judged.judging import Floats
from slotwise.benchmarks.judged.method_table import NO_NUMBER, percent
from slotwise.benchmarks.judged.statistics import MethodComparison
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour
from slotwise.benchmarks.report.figures.panels import ACROSS, UPWARDS, Panel, chart_of, folded
from slotwise.benchmarks.report.figures.source import Source, compared
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_IN = 3.2
COLUMNS = (
    "group",
    "method",
    "runs",
    "throughput",
    "latency",
    "runs above the optimum's throughput",
)


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """Runs of a method with a finite gap and a prediction, beside the optimum's of the instance.

    Parameters
    ----------
    gaps
        In the last term of the objective, least possible.
    throughput, latency
        Over those of the exact engine's placement; a latency may be NaN.
    """

    gaps: Floats
    throughput: Floats
    latency: Floats


def worth_chart(source: Source) -> Chart | None:
    """Return the chart; ``None`` where no run has a prediction."""
    shown = [(comparison, _worth(comparison)) for comparison in source.comparisons]
    shown = [(comparison, of) for comparison, of in shown if of]
    return chart_of(
        "worth",
        "What it is worth",
        "Predicted throughput over that of the exact engine's placement of the instance, against "
        "the gap in the last term of the objective; one point a run. 1 = the throughput of that "
        "placement, which is optimal in the objective and need not be in throughput. Means are "
        f"geometric. {source.definition} {source.basis(comparison for comparison, _ in shown)}",
        COLUMNS,
        [_panel(source, comparison, of) for comparison, of in shown],
    )


def _worth(comparison: MethodComparison) -> dict[str, Worth]:
    """Return what the runs of each compared method are worth, of those with any."""
    judged = comparison.judged
    here = np.isin(judged.instance, comparison.instances)
    throughput, latency = (judged.over_optimum(name) for name in ("throughput", "latency_ms"))
    worths = {}
    for method in compared(comparison):
        of_method = here & (judged.method == judged.methods.index(method))
        runs = np.flatnonzero(of_method & np.isfinite(throughput) & (throughput > 0))
        last = judged.terms_counted[judged.instance[runs]] - 1
        gaps = judged.low[runs, last]
        finite = np.isfinite(gaps)
        if finite.any():
            runs = runs[finite]
            worths[method] = Worth(gaps[finite], throughput[runs], latency[runs])
    return worths


def _panel(source: Source, comparison: MethodComparison, worths: Mapping[str, Worth]) -> Panel:
    cast = source.cast
    rows = [
        (
            cast.name(method),
            f"{len(one.gaps):,}",
            f"{_mean(one.throughput):.3f}",
            f"{_mean(one.latency):.3f}" if np.isfinite(one.latency).any() else NO_NUMBER,
            percent(float((one.throughput > 1 + 1e-9).mean())),
        )
        for method, one in worths.items()
    ]
    texts = [f"{row[0]} has {row[2]} times the optimum's throughput" for row in rows]
    runs = counted(sum(len(one.gaps) for one in worths.values()), "run")
    return Panel(
        source.heading(comparison),
        HEIGHT_IN,
        partial(_draw, worths=worths, cast=cast),
        f"In the mean of {runs}, {', '.join(texts)}.",
        rows,
    )


def _mean(ratios: Floats) -> float:
    """Return the geometric mean of those that are known."""
    finite = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.exp(np.log(finite).mean()))


def _draw(ax: Axes, worths: Mapping[str, Worth], cast: Cast) -> None:
    for method in cast.ordered(worths):
        look, one = cast.look(method), worths[method]
        ax.plot(
            100 * one.gaps, one.throughput, look.marker or ".", color=look.colour, markersize=4,
            label=cast.short(method) if look.is_named else None, linestyle="none",
        )  # fmt: skip
    ax.axhline(1.0, color=colour("muted"), linewidth=0.9, linestyle=(0, (3, 2)))
    ax.legend(frameon=False, loc="best")
    ax.set_xlabel(folded("gap, %", ACROSS))
    ax.set_ylabel(folded("throughput over the optimum's", UPWARDS))
    ax.grid(axis="both")
