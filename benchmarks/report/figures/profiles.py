"""Performance profiles (Dolan and More 2002): ratio to the best of all, one panel for each term."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from slotwise.benchmarks.analysis.cases import Case, case_of, infeasible_instances
from slotwise.benchmarks.grading.rows import (
    SUCCEEDED,
    Kind,
    Row,
    Subject,
    subject_of,
    term_values,
)
from slotwise.benchmarks.report.figures.chart import Chart
from slotwise.benchmarks.report.figures.drawing.axes import ratios, share_axis
from slotwise.benchmarks.report.figures.drawing.canvas import new_chart
from slotwise.benchmarks.report.figures.drawing.cast import VIRTUAL_BEST, Cast
from slotwise.benchmarks.report.figures.drawing.lines import Line, draw_lines, name_lines, steps
from slotwise.benchmarks.report.figures.numbers.words import shares_text, term_heading
from slotwise.models.display import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT_IN = 2.9
ROOM = 1.05
"""Where the lines end, times the largest ratio."""

SHOWN = (1.0, 1.1, 1.5, 2.0)
COLUMNS = ("term", "method", "cases", *(f"within {ratio:g}" for ratio in SHOWN), "worst ratio")

Values = dict[str, Fraction]
Placed = Mapping[str, Mapping[Case, Values]]
"""Method -> its values in each case that it placed."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A term of a subject: the ratio of each method in each case; a failure has none.

    Parameters
    ----------
    subject, term
        What the cases ask for, and the name of the term.
    cases
        Number of cases whose objective has the term, the same for all methods.
    ratios
        Method -> value / best value in each case where the method is no worse in an earlier term;
        infinite where the best value is 0 and its own is not.
    """

    subject: Subject
    term: str
    cases: int
    ratios: Mapping[str, Sequence[float]]

    @property
    def is_level(self) -> bool:
        """Whether all methods are equal in every case."""
        return all(
            len(found) == self.cases and all(ratio == 1 for ratio in found)
            for method, found in self.ratios.items()
        )


def profiles(rows: Sequence[Row]) -> tuple[Profile, ...]:
    """Return a profile for each term of each subject; `rows` have the same cases for each method.

    Cases that are proven infeasible are left out, and so is an exact engine that did not run on
    all others.
    """
    impossible = infeasible_instances(rows)
    by_subject: dict[Subject, list[Row]] = defaultdict(list)
    for row in rows:
        if row["instance_hash"] not in impossible:
            by_subject[subject_of(row["method"])].append(row)
    return tuple(
        profile for subject, some in by_subject.items() for profile in _of_subject(subject, some)
    )


def _of_subject(subject: Subject, rows: Sequence[Row]) -> list[Profile]:
    cases = {case_of(row) for row in rows if row["kind"] != Kind.EXACT}
    ran: dict[str, set[Case]] = defaultdict(set)
    placed: dict[str, dict[Case, Values]] = defaultdict(dict)
    exact = set()
    terms_of: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        terms_of[row["instance_hash"]].update(one["term"] for one in row["terms"] or ())
        ran[row["method"]].add(case_of(row))
        values = term_values(row) if row["status"] in SUCCEEDED else {}
        found = placed[row["method"]]
        if values:
            found[case_of(row)] = values
        if row["kind"] == Kind.EXACT:
            exact.add(row["method"])
    players = {
        method: found
        for method, found in placed.items()
        if method not in exact or ran[method] >= cases
    }
    heuristics = {method: found for method, found in players.items() if method not in exact}
    if len(heuristics) > 1:
        players[VIRTUAL_BEST] = _best(heuristics)
    best = _best(players)
    terms = dict.fromkeys(term for values in best.values() for term in values)
    # Where nobody knows the terms, every method failed: a failure in each of them.
    known = [terms_of[instance] or set(terms) for instance, _ in cases]
    return [
        _profile(subject, term, players, best, sum(term in some for some in known))
        for term in terms
    ]


def _best(placed: Placed) -> dict[Case, Values]:
    best: dict[Case, Values] = {}
    for found in placed.values():
        for case, values in found.items():
            if case not in best or tuple(values.values()) < tuple(best[case].values()):
                best[case] = values
    return best


def _profile(
    subject: Subject, term: str, placed: Placed, best: Mapping[Case, Values], cases: int
) -> Profile:
    ratios = {
        method: [
            ratio
            for case, values in found.items()
            if (ratio := ratio_in(term, values, best[case])) is not None
        ]
        for method, found in placed.items()
    }
    return Profile(subject, term, cases, ratios)


def ratio_in(term: str, values: Values, best: Values) -> float | None:
    """Return value / best of a term; ``None`` where there is none or an earlier term is worse."""
    for name, value in values.items():
        if name == term:
            if value == best[name]:
                return 1.0
            return float(value / best[name]) if best[name] > 0 else math.inf
        if value != best[name]:
            return None
    return None


def profile_chart(rows: Sequence[Row], cast: Cast) -> Chart | None:
    """Return the chart; ``None`` where all methods are equal everywhere."""
    found = [one for one in profiles(rows) if one.cases and not one.is_level]
    if not found:
        return None
    figure, axes = new_chart([HEIGHT_IN] * len(found))
    for ax, profile in zip(axes, found, strict=True):
        _draw(ax, profile, cast)
    counts = ", ".join(f"{_heading(one)}: {counted(one.cases, 'case')}" for one in found)
    return Chart(
        "performance-profiles",
        "Performance profiles",
        "Share of cases in which a method's value of the term is at most x times the best of all "
        "methods and exact engines in that case (Dolan and More 2002), all lines on the same cases "
        f"({counts}; proven infeasible ones are left out). A failure, and a placement that is "
        "worse than the best in an earlier term, is infinitely far away. Virtual best: the best "
        f"graded method of each case.{cast.grey_lines}",
        " ".join(_sentence(profile, cast) for profile in found),
        figure,
        COLUMNS,
        tuple(row for profile in found for row in _rows(profile, cast)),
    )


def _heading(profile: Profile) -> str:
    return term_heading(profile.subject, profile.term)


def _draw(ax: Axes, profile: Profile, cast: Cast) -> None:
    finite = [r for found in profile.ratios.values() for r in found if math.isfinite(r)]
    most = ROOM * max([1.0, *finite])
    lines = [
        Line(method, steps(found, profile.cases, 1.0, most))
        for method, found in profile.ratios.items()
    ]
    ratios(ax, most)
    share_axis(ax, "share of cases")
    ax.set(title=_heading(profile), xlabel="ratio to the best (log scale)")
    draw_lines(ax, lines, cast, is_stepped=True)
    name_lines(ax, lines, cast, HEIGHT_IN)


def within(profile: Profile, method: str, ratio: float) -> float:
    """Return the share of cases in which a method is within `ratio` of the best."""
    return sum(one <= ratio for one in profile.ratios[method]) / profile.cases


def _rows(profile: Profile, cast: Cast) -> list[tuple[str, ...]]:
    made = []
    for method, found in profile.ratios.items():
        shares = (f"{100 * within(profile, method, ratio):.1f} %" for ratio in SHOWN)
        whole = len(found) == profile.cases and all(map(math.isfinite, found))
        worst = f"{max(found):.3g}" if whole else "infinite"
        name = cast.name(method)
        made.append((_heading(profile), name, f"{profile.cases:,}", *shares, worst))
    return made


def _sentence(profile: Profile, cast: Cast) -> str:
    ranked = sorted(
        (method for method in profile.ratios if method in cast.ranks),
        key=lambda method: -within(profile, method, 1.0),
    )
    cases = counted(profile.cases, "case")
    if within(profile, ranked[0], 1.0) == 0:
        return f"{_heading(profile)}: no graded method has the best value in any of {cases}."
    said = shares_text([(cast.name(one), within(profile, one, 1.0)) for one in ranked])
    return f"{_heading(profile)}, of {cases}, the best value is attained by {said}."
