"""The table of instances: one line each, of many those where methods do worst."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from slotwise.benchmarks.grading.rows import (
    RIGHTLY_REFUSED,
    Kind,
    Row,
    details_of,
)
from slotwise.benchmarks.judged.judging import Judged, Proof
from slotwise.benchmarks.judged.method_table import interval_text, percent
from slotwise.benchmarks.report.text import (
    DASH,
    number,
    plain_vector,
    seconds_text,
    short,
    vector_text,
)

MOST_LINES = 1000
"""Instances in the table; the page says how many there are, and where the others stand."""

ABOVE_ZERO, FAILED = 1e9, 1e18
"""Added to the sort key of a value above an optimum of 0; the sort key of a failure."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one method did on one instance.

    Parameters
    ----------
    method
        Its name.
    gap
        The gap in the first term that is not at its optimum, or how the run ended; of several
        seeds the mean, and from which to which.
    values, seconds, detail
        Of the first seed: the value of each term, the time, and what is said of a failure; empty =
        none.
    key
        What the column is sorted by, larger is worse; ``None`` = nothing to compare.
    optimal, failed
        Whether all runs are at the proven optimum; whether any run failed.
    plain
        The same for files, see `plain_columns`.
    """

    method: str
    gap: str
    values: str
    seconds: str
    detail: str
    key: float | None
    optimal: bool
    failed: bool
    plain: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One instance of the table; `states` are what the table can be filtered by.

    `values` and `bounds` are the best known and what is proven, in each term, for files.
    """

    instance_hash: str
    name: str
    family: str
    tasks: int
    nodes: int | None
    tightness: str
    value: str
    bound: str
    values: tuple[str, ...]
    bounds: tuple[str, ...]
    status: str
    seconds: str
    states: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def anchor(self) -> str:
        """Id of its placements on the page."""
        return f"case-{self.instance_hash[-12:]}"

    @property
    def badness(self) -> tuple[int, float]:
        """How many methods failed, and the largest gap of the others."""
        return _badness(cell.key for cell in self.cells)


STATES = {
    "proven": "optimum proven",
    "bounded": "bounded, not proven",
    "open": "without a bound or a placement",
    "infeasible": "proven infeasible",
    "failed": "a method failed",
    "missed": "no method is optimal",
    "attained": "a method is optimal",
}
"""What the table can be filtered by, and what that is called."""


def plain_columns(terms: Sequence[str]) -> tuple[str, ...]:
    """Return what the parts of `Cell.plain` are, behind the name of the method."""
    gaps = (" gap term", " least gap, %", " greatest gap, %")
    return "", *gaps, *(f" {term}" for term in terms), " seconds"


def case_lines(
    rows: Sequence[Row], judged: Judged, methods: Sequence[str], most: int = MOST_LINES
) -> tuple[CaseLine, ...]:
    """Return lines of at most `most` instances, sorted by name.

    Where there are more, those with most failures are chosen, then those with the largest gaps.

    Parameters
    ----------
    rows
        In the order of `judged`.
    methods
        Names of the methods that have a cell, in order.
    """
    runs: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for run, (instance, row) in enumerate(zip(judged.instance.tolist(), rows, strict=True)):
        runs[instance]["" if row["kind"] == Kind.EXACT else row["method"]].append(run)
    table = _Table(rows, judged, tuple(methods), judged.terms)
    if len(runs) > most:
        worst = {
            instance: _badness(table.key(some) for method, some in instance_of.items() if method)
            for instance, instance_of in runs.items()
        }
        chosen = sorted(runs, key=lambda one: (worst[one], one), reverse=True)[:most]
        runs = defaultdict(lambda: defaultdict(list), {one: runs[one] for one in chosen})
    lines = [table.line(instance, instance_of) for instance, instance_of in runs.items()]
    return tuple(sorted(lines, key=lambda line: (line.name, line.instance_hash)))


def _badness(keys: Iterable[float | None]) -> tuple[int, float]:
    """Return `CaseLine.badness` from the keys of its cells."""
    finite = [key for key in keys if key is not None]
    return finite.count(FAILED), max((key for key in finite if key != FAILED), default=0.0)


@dataclass(frozen=True, slots=True)
class _Table:
    rows: Sequence[Row]
    judged: Judged
    methods: tuple[str, ...]
    terms: tuple[str, ...]

    def line(self, instance: int, runs: Mapping[str, Sequence[int]]) -> CaseLine:
        """Return the line of an instance; `runs`: method ("" = exact engines) -> its runs."""
        judged = self.judged
        exact = next((self.rows[run] for run in runs.get("", ())), None)
        cells = tuple(self._cell(method, runs.get(method, ())) for method in self.methods)
        first = self.rows[next(iter(runs.values()))[0]]
        best, bounds = (
            judged.vector(instance, grid[instance]) for grid in (judged.best, judged.bounds)
        )
        return CaseLine(
            instance_hash=first["instance_hash"],
            name=str(judged.instances["name"].iloc[instance]),
            family=first["family"] or "",
            tasks=first["tasks"],
            nodes=first["nodes"] or None,
            tightness=_tightness_text(first),
            value=vector_text(best) or DASH,
            bound=vector_text(bounds) or DASH,
            values=plain_vector(best, self.terms),
            bounds=plain_vector(bounds, self.terms),
            status="not solved" if exact is None else exact["status"],
            seconds=DASH if exact is None else seconds_text(exact["wall_s"]),
            states=tuple(self._states(instance, cells)),
            cells=cells,
        )

    def _states(self, instance: int, cells: Sequence[Cell]) -> Iterator[str]:
        proof = self.judged.proof[instance]
        yield str(proof)
        if any(cell.failed for cell in cells):
            yield "failed"
        if any(cell.optimal for cell in cells):
            yield "attained"
        elif proof == Proof.PROVEN:
            yield "missed"

    def key(self, runs: Sequence[int]) -> float | None:
        """Return what sorts the runs of a method on an instance, larger is worse.

        First by gap, then those above an optimum of 0 by how far, then failures.
        """
        if any(self.judged.failed[run] for run in runs):
            return FAILED
        placed = [run for run in runs if self.judged.placed[run]]
        return fmean(map(self._distance, placed)) if placed else None

    def _distance(self, run: int) -> float:
        """Return the gap of a run in the first term that is not at its optimum."""
        at = self._deciding(run)
        if at is None:
            return 0.0
        gap = float(self.judged.low[run, at])
        if not math.isinf(gap):
            return gap
        above: float = ABOVE_ZERO + int(self.judged.values[run, at]) / 10.0**self.judged.decimals
        return above

    def _deciding(self, run: int) -> int | None:
        """Return the position of the first term that may not be at its optimum; ``None`` = none."""
        terms = self.judged.terms_counted[self.judged.instance[run]]
        above = self.judged.high[run, :terms] != 0
        return int(above.argmax()) if above.any() else None

    def _cell(self, method: str, runs: Sequence[int]) -> Cell:
        blank = ("",) * (3 + len(self.terms))
        if not runs:
            return Cell(method, "not run", "", "", "", None, False, False, ("not run", *blank, ""))
        first, key = self.rows[runs[0]], self.key(runs)
        seconds = seconds_text(first["wall_s"])
        failed = [run for run in runs if self.judged.failed[run]]
        if failed or not self.judged.placed[runs[0]]:
            run = (failed or runs)[0]
            refused = self.judged.rightly_refused[run]
            status = RIGHTLY_REFUSED if refused else self.rows[run]["status"]
            if failed and len(runs) > 1:
                status = f"{status} ({len(failed)} of {len(runs)} seeds)"
            detail = "; ".join(details_of(self.rows[run]))
            plain = (status, *blank, seconds)
            return Cell(method, status, "", seconds, detail, key, False, bool(failed), plain)
        values = self.judged.vector(int(self.judged.instance[runs[0]]), self.judged.values[runs[0]])
        gap, plain_gap = self._gap(runs)
        return Cell(
            method=method,
            gap=gap,
            values=vector_text(values),
            seconds=seconds,
            detail="",
            key=key,
            optimal=all(self.judged.optimal[run] for run in runs),
            failed=False,
            plain=(*plain_gap, *plain_vector(values, self.terms), seconds),
        )

    def _gap(self, runs: Sequence[int]) -> tuple[str, tuple[str, str, str, str]]:
        """Return the gap of valid runs for people, and for files: what, term, least, greatest."""
        places = [at for run in runs if (at := self._deciding(run)) is not None]
        if not places:
            return "optimal", ("optimal", "", "0", "0")
        at = min(places)
        term = self.judged.terms[self.judged.term_at[self.judged.instance[runs[0]], at]]
        lows, highs = ([float(grid[run, at]) for run in runs]
                       for grid in (self.judged.low, self.judged.high))  # fmt: skip
        low, high = fmean(lows), fmean(highs)
        plain = tuple("inf" if math.isinf(gap) else f"{100 * gap:.6g}" for gap in (low, high))
        kind = "above optimum" if low == high else "not proven"
        if math.isinf(low):
            best = self.judged.best[self.judged.instance[runs[0]], at]
            above = [
                float(self.judged.values[run, at] - best) / 10**self.judged.decimals for run in runs
            ]
            text = number(fmean(above))
            if len(runs) > 1:
                text += f" ({len(runs)} seeds: +{number(min(above))} to +{number(max(above))})"
            return f"+{text} {term}", (kind, term, *plain)
        text = f"at least {percent(low)}" if math.isinf(high) else interval_text(low, high)
        if len(runs) > 1:
            ends = interval_text(min(lows), max(highs))
            text = f"{text} ({len(runs)} seeds: {ends})"
        sign = "+" if low == high else ""
        return f"{sign}{text} {term}", (kind, term, *plain)


def _tightness_text(row: Row) -> str:
    """Return the tightness of a row's instance; a dash for one without nodes."""
    if not row["nodes"]:
        return DASH
    return short(row["tightness"]) if math.isfinite(row["tightness"]) else "∞"
