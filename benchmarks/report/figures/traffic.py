"""Where the traffic of each method runs beside the exact engines': stacked bars, near to far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from slotwise.benchmarks.grading.row_file import placement_of
from slotwise.benchmarks.grading.rows import Row, Subject
from slotwise.benchmarks.judged.judging import Indices
from slotwise.benchmarks.judged.statistics import MethodComparison
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.bars import Part, share_bars
from slotwise.benchmarks.report.figures.drawing.colours import colour, level
from slotwise.benchmarks.report.figures.panels import Panel, chart_of
from slotwise.benchmarks.report.figures.source import Source, compared
from slotwise.models.display import counted
from slotwise.models.judge.judge import judge
from slotwise.models.problem.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ProblemOf = Callable[[str], Problem | None]
"""Hash of an instance -> its problem; ``None`` where it is not there. `Store.problem` is one."""

Shares = tuple[float, ...]
"""Of the flow by `LEVELS`; they sum to 1."""

LEVELS = ("inside a worker", "between workers", "between nodes", "between racks")

MOST_JUDGED = 100
"""Instances that are judged, evenly chosen; reading and judging one takes some milliseconds."""

MOST_TASKS = 5000
"""Larger instances are left out: they would take the seconds that all others take together."""

LEAST_WRITTEN = 0.09
"""A smaller share has no number in its bar; the table has it."""

PALE_LEVELS = 2
"""The nearer levels whose colours are pale enough for dark text."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Where the traffic of a group's compared methods runs, all on the same instances.

    Parameters
    ----------
    instances, common
        Instances that were judged, of those that all compared methods and an exact engine place.
    is_optimal
        Whether the exact engines' placements are proven optima on all of them.
    exact
        Mean shares of the exact engines' placements.
    methods
        Method -> mean shares, least traffic across racks and nodes first.
    """

    instances: int
    common: int
    is_optimal: bool
    exact: Shares
    methods: Mapping[str, Shares]


def traffic(
    comparison: MethodComparison, rows: Sequence[Row], problem_of: ProblemOf
) -> Traffic | None:
    """Return the traffic by level; ``None`` where no instance has placements of all.

    Of several seeds the first run counts, of several exact engines one that has the optimum.
    """
    judged = comparison.judged
    by_exact = np.unique(judged.instance[judged.placed & judged.exact])
    by_all = comparison.instances[comparison.placed[:, comparison.compared].all(axis=1)]
    common = np.intersect1d(by_exact, by_all)
    small = common[judged.instances["tasks"].to_numpy()[common] <= MOST_TASKS]
    every = -(-len(small) // MOST_JUDGED) or 1
    chosen: list[int] = []
    shares: list[list[Shares]] = []
    for instance in small[::every].tolist():
        runs = _runs(comparison, instance)
        problem = problem_of(rows[runs[0]]["instance_hash"])
        if problem is None or not all(rows[run]["placement"] for run in runs):
            continue
        run_shares = [_shares(problem, rows[run]) for run in runs]
        if all(run_shares):
            chosen.append(runs[0])
            shares.append(run_shares)
    if not chosen:
        return None
    exact, *means = (_means(some) for some in zip(*shares, strict=True))
    pairs = zip(compared(comparison), means, strict=True)
    return Traffic(
        instances=len(chosen),
        common=len(common),
        is_optimal=bool(judged.optimal[chosen].all()),
        exact=exact,
        methods=dict(sorted(pairs, key=lambda one: (_far(one[1]), one[0]))),
    )


def _runs(comparison: MethodComparison, instance: int) -> list[int]:
    """Return the run of an exact engine and the first one of each compared method."""
    judged = comparison.judged
    runs: Indices = np.flatnonzero((judged.instance == instance) & judged.placed)
    exact = runs[judged.exact[runs]]
    first = [runs[judged.method[runs] == method][0] for method in comparison.group.methods]
    return [int(run) for run in (exact[np.argmax(judged.optimal[exact])], *first)]


def _shares(problem: Problem, row: Row) -> Shares:
    """Return the shares of a row's placement; none where no tasks communicate."""
    levels = judge(problem, placement_of(row, problem)).flow_by_level
    total = sum(levels)
    return tuple(float(flow / total) for flow in levels) if total else ()


def _means(shares: Sequence[Shares]) -> Shares:
    return tuple(fmean(level) for level in zip(*shares, strict=True))


def _far(shares: Shares) -> float:
    """Return the mean level: 0 = all inside workers, 3 = all across racks."""
    return sum(index * share for index, share in enumerate(shares))


def traffic_chart(source: Source, rows: Sequence[Row], problem_of: ProblemOf) -> Chart | None:
    """Return the chart; ``None`` where no instance has a placement of all that are compared."""
    shown = [
        (comparison, figures)
        for comparison in source.comparisons
        if comparison.group.subject == Subject.PLACEMENT
        and (figures := traffic(comparison, rows, problem_of)) is not None
    ]
    return chart_of(
        "traffic",
        "Where the traffic runs",
        "Share of the flow between tasks by the lowest place that holds both: inside a worker, "
        "between workers of a node, between nodes of a rack, between racks; the judge recomputed "
        "it from the placements. Mean over the instances that all compared methods and an exact "
        "engine place, the same in every bar; of several seeds the first. "
        + " ".join(_basis(source, comparison, figures) for comparison, figures in shown),
        ("group", "method", *LEVELS, "instances"),
        [_panel(source, comparison, figures) for comparison, figures in shown],
        {name: level(index) for index, name in enumerate(LEVELS)},
    )


def _basis(source: Source, comparison: MethodComparison, traffic: Traffic) -> str:
    chosen = (
        ""
        if traffic.instances == traffic.common
        else f"{traffic.instances:,}, evenly chosen, of the "
    )
    return f"{source.basis([comparison])} Drawn: {chosen}{traffic.common:,} that all place."


def _panel(source: Source, comparison: MethodComparison, traffic: Traffic) -> Panel:
    cast, heading = source.cast, source.heading(comparison)
    exact = "optimum" if traffic.is_optimal else "exact engines"
    named = {exact: traffic.exact} | {
        cast.name(method): some for method, some in traffic.methods.items()
    }
    short = [
        (exact, traffic.exact),
        *((cast.short(method), some) for method, some in traffic.methods.items()),
    ]
    start = f"{heading}, share" if heading else "Share"
    names = list(named)
    texts = [
        f"{name} {100 * (named[name][2] + named[name][3]):.0f} %"
        for name in dict.fromkeys((*names[:2], names[-1]))
    ]
    return Panel(
        heading,
        0.95 + 0.3 * len(named),
        partial(_draw, bars=short),
        f"{start} of the flow that runs from one node to another, on "
        f"{counted(traffic.instances, 'instance')}: {', '.join(texts)}.",
        [
            (name, *(f"{100 * share:.1f} %" for share in shares), f"{traffic.instances:,}")
            for name, shares in named.items()
        ],
    )


def _draw(ax: Axes, bars: Sequence[tuple[str, Shares]]) -> None:
    share_bars(ax, [(name, _parts(shares)) for name, shares in bars], "the flow")
    ax.get_yticklabels()[0].set_fontweight("bold")


def _parts(shares: Shares) -> list[Part]:
    return [
        Part(
            share,
            level(index),
            f"{100 * share:.0f} %" if share >= LEAST_WRITTEN else "",
            colour("text" if index < PALE_LEVELS else "surface"),
        )
        for index, share in enumerate(shares)
    ]
