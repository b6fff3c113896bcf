"""Plotly figures of a grading: performance profile and distribution of gaps."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import (
    Case,
    case_of,
    contests,
    infeasible_instances,
    virtual_best,
)
from slotwise.benchmarks.analysis.gaps import Values, row_gap, values_of
from slotwise.benchmarks.grading.rows import Kind, Row

Figure = dict[str, Any]

PALETTE = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377",
    "#bb5566", "#004488", "#ddaa33", "#44aa99", "#882255", "#999933",
)  # fmt: skip
"""Colours that people with colour-blindness can tell apart (Paul Tol)."""

DASHES = ("solid", "dash", "dot", "dashdot")

VIRTUAL_BEST = "best heuristic of each case"


def ratio(values: Values, best: Values) -> float:
    """Return value / best in the first term that differs; infinite where the best is 0 there."""
    for value, least in zip(values, best, strict=True):
        if value != least:
            return float(value / least) if least > 0 else math.inf
    return 1.0


def profile_figure(rows: Sequence[Row], aggregate: Aggregate) -> Figure:
    """Return the performance profile (Dolan & More 2002) over cases; failures never count.

    Cases that are proven infeasible are left out.
    """
    best, _ = virtual_best(rows)
    impossible = infeasible_instances(rows)
    some = [row for row in rows if row["instance_hash"] not in impossible]
    curves = {
        name: [ratio(values, best[case]) for case, values in found.items()]
        for name, found in _players(rows, aggregate).items()
    }
    figure = _steps(curves, _totals(some), start=1.0)
    figure["layout"] |= _axes("ratio to the best of all methods, log scale", "share of cases")
    figure["layout"]["xaxis"]["type"] = "log"
    return figure


def gap_figure(rows: Sequence[Row], aggregate: Aggregate) -> Figure:
    """Return the distribution of gaps to the optimum over the cases that are proven."""
    proven = {key for key, reference in aggregate.references.items() if reference.proven}
    some = [row for row in rows if row["instance_hash"] in proven]
    curves: dict[str, list[float]] = {s.method: [] for s in aggregate.methods}
    for row in some:
        gap = row_gap(row, aggregate.references)
        if gap is not None:
            percent = math.inf if gap.relative is None else 100 * gap.relative
            curves[row["method"]].append(percent)
    figure = _steps(curves, _totals(some), start=0.0)
    figure["layout"] |= _axes("gap to the proven optimum, %", "share of proven cases")
    return figure


def _totals(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many cases there are for each method, and in all for the best of them."""
    totals = {method: len(cases) for methods, cases in contests(rows) for method in methods}
    return totals | {VIRTUAL_BEST: len({case_of(row) for row in rows})}


def _players(rows: Iterable[Row], aggregate: Aggregate) -> dict[str, dict[Case, Values]]:
    players: dict[str, dict[Case, Values]] = {s.method: {} for s in aggregate.methods}
    for row in rows:
        values = values_of(row)
        if values is not None:
            players[row["method"]][case_of(row)] = values
    heuristics = [s for s in aggregate.methods if s.kind != Kind.EXACT]
    if len(heuristics) > 1:
        players[VIRTUAL_BEST] = aggregate.virtual_best
    return players


def _steps(curves: dict[str, list[float]], totals: dict[str, int], start: float) -> Figure:
    finite = [x for numbers in curves.values() for x in numbers if math.isfinite(x)]
    end = max(finite, default=start) * 1.05 + 0.01
    traces = []
    for index, (name, numbers) in enumerate(curves.items()):
        total = totals.get(name, 0)
        x, y = [start], [sum(n <= start for n in numbers) / total if total else 0.0]
        for number in sorted(n for n in numbers if start < n < math.inf):
            x.append(number)
            y.append(sum(n <= number for n in numbers) / total)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": escape(_short(name)),
                "x": [*x, end],
                "y": [*y, y[-1]],
                "line": _line(index, name),
                "hovertemplate": "%{x:.4g}: %{y:.0%}",
            }
        )
    return {"data": traces, "layout": {}}


def _line(index: int, name: str) -> dict[str, Any]:
    dash = DASHES[index // len(PALETTE) % len(DASHES)]
    if name == VIRTUAL_BEST:
        return {"shape": "hv", "width": 2, "dash": "dot", "color": "#888888"}
    return {"shape": "hv", "width": 2, "dash": dash, "color": PALETTE[index % len(PALETTE)]}


def _axes(x: str, y: str) -> dict[str, Any]:
    return {
        "xaxis": {"title": {"text": x}, "zeroline": False},
        "yaxis": {"title": {"text": y}, "range": [0, 1.03], "tickformat": ".0%"},
        "hovermode": "x unified",
        "margin": {"l": 60, "r": 16, "t": 12, "b": 50},
        "legend": {"orientation": "h", "y": -0.25},
        "height": 420,
    }


def _short(name: str, most: int = 40) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def script_json(figure: Figure) -> str:
    """Return a figure as JSON that is safe inside a ``script`` element."""
    return json.dumps(figure).replace("<", "\\u003c")
