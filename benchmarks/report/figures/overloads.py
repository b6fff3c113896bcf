"""Overload of each method beside the least that is possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from slotwise.benchmarks.analysis.aggregate import Aggregate
from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.grading.rows import SUCCEEDED, Kind, Row, term_values
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import Cast
from slotwise.benchmarks.report.figures.drawing.colours import colour
from slotwise.benchmarks.report.figures.numbers.shared_cases import shared_cases
from slotwise.benchmarks.report.figures.numbers.words import amount, counted

TERM = "overload"
OPTIMUM = "optimum"
COLUMNS = ("method", "valid with this term", "common cases", "mean overload", "runs with overload")


@dataclass(frozen=True, slots=True)
class Overload:
    """Overload of a method.

    Parameters
    ----------
    method
        As in the rows, or `OPTIMUM`.
    cases, overloaded
        Cases that it places, and those of them with any overload.
    mean
        On the cases common to all compared methods; ``None`` = it places too few.
    """

    method: str
    cases: int
    mean: float | None
    overloaded: int


def overloads(rows: Sequence[Row], summary: Aggregate) -> tuple[tuple[Overload, ...], int]:
    """Return the overload of the optimum and of each method, least first, and the common cases."""
    values: dict[str, dict[Case, float]] = defaultdict(dict)
    for row in rows:
        if row["kind"] != Kind.EXACT and row["status"] in SUCCEEDED:
            found = term_values(row)
            if TERM in found:
                values[row["method"]][case_of(row)] = float(found[TERM])
    least = _least(rows, summary)
    compared, shared = shared_cases({m: found.keys() & least.keys() for m, found in values.items()})
    made = [
        Overload(
            method,
            len(found),
            mean(found[case] for case in shared) if method in compared else None,
            sum(value > 0 for value in found.values()),
        )
        for method, found in values.items()
    ]
    made.sort(key=lambda one: (one.mean is None, one.mean))
    if shared:
        proven = mean(least[case] for case in shared)
        made.insert(0, Overload(OPTIMUM, len(least), proven, sum(v > 0 for v in least.values())))
    return tuple(made), len(shared)


def _least(rows: Sequence[Row], summary: Aggregate) -> Mapping[Case, float]:
    """Return the optimum of the term in the cases where it is proven and comes first."""
    found = {}
    for case in {case_of(row) for row in rows}:
        reference = summary.references.get(case[0])
        if reference is not None and reference.terms[:1] == (TERM,) and reference.optimal > 0:
            bound = reference.bounds[0]
            assert bound is not None, "a proven optimum is a bound"
            found[case] = float(bound)
    return found


def overload_chart(rows: Sequence[Row], summary: Aggregate, cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where nothing is overloaded or the objective does not count it."""
    found, common = overloads(rows, summary)
    drawn = [one for one in found if one.mean is not None]
    if not any(one.overloaded for one in found) or not drawn:
        return None
    figure, (ax,) = new_chart([0.75 + 0.27 * len(drawn)])
    shades = [colour("rest" if one.method == OPTIMUM else "series-2") for one in drawn]
    ax.barh(range(len(drawn)), [one.mean or 0.0 for one in drawn], height=0.62, color=shades)
    for place, one in enumerate(drawn):
        ax.annotate(
            amount(one.mean), (one.mean or 0.0, place), xytext=(4, 0), va="center",
            textcoords="offset points",
        )  # fmt: skip
    ax.set_yticks(range(len(drawn)), [cast.short(one.method) for one in drawn])
    ax.tick_params(axis="y", length=0, labelcolor=colour("text"))
    ax.set_ylim(len(drawn) - 0.5, -0.5)
    ax.set_xlim(0.0, max(one.mean or 0.0 for one in drawn) * 1.2 or 1.0)
    ax.set_xlabel("mean overload, weighted units of the resources")
    ax.grid(axis="x")
    names = {
        one.method: one.method if one.method == OPTIMUM else cast.name(one.method) for one in found
    }
    return Chart(
        "overload",
        "Overload of each method beside the least possible",
        "Mean overload (sum over nodes and soft resources of weight times what "
        f"exceeds the capacity) on the {counted(common, 'case')} that all compared methods place "
        "and whose least overload is proven. The network is not in it.",
        " ".join(
            f"{names[one.method]}: {amount(one.mean)} on average."
            for one in (drawn[0], *drawn[1:2], *(drawn[-1:] if len(drawn) > 2 else ()))
        ),
        figure,
        COLUMNS,
        tuple(
            (
                names[one.method],
                f"{one.cases:,}",
                f"{common:,}",
                amount(one.mean),
                f"{one.overloaded:,} of {one.cases:,}",
            )
            for one in found
        ),
    )
