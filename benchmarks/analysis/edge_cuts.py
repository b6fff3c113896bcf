"""Edge cut, balance and time of each method on the families of graphs to partition.

There every task weighs the same, nodes are equal and all equally far apart: the term ``network`` is
the edge cut, and the load of a node the number of its tasks.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from slotwise.benchmarks.analysis.cases import Case, case_of
from slotwise.benchmarks.analysis.gaps import Reference, row_gap
from slotwise.benchmarks.analysis.measures import (
    Spread,
    seconds_of,
    shifted_geometric_mean,
    spread,
)
from slotwise.benchmarks.grading.rows import SUCCEEDED, Kind, Row, term_values

GRAPH_FAMILIES = ("partition", "stromax")
CUT = "network"
BASELINES = ("hash", "round-robin")
"""Methods that know nothing of edges: what others are measured against."""


@dataclass(frozen=True, slots=True)
class EdgeCuts:
    """What the runs of one method on one family come to.

    Parameters
    ----------
    family, method, kind
        As in the rows.
    runs, valid, optimal
        Number of runs; with a valid placement; with the edge cut proven least.
    gap
        (cut - optimum) / cut where the optimum is proven; not where it alone is 0.
    to_optimum
        Edge cut over the optimum, where that is proven and above 0.
    to_baseline
        Method of `BASELINES` -> edge cut over that of the method, where that is above 0.
    balance
        Largest number of tasks on a node over the average of all nodes.
    seconds
        Shifted geometric mean of the wall-clock time, as in `seconds_of`.
    """

    family: str
    method: str
    kind: str
    runs: int
    valid: int
    optimal: int
    gap: Spread
    to_optimum: Spread
    to_baseline: dict[str, Spread]
    balance: Spread
    seconds: float


def edge_cuts(rows: Sequence[Row], references: dict[str, Reference]) -> tuple[EdgeCuts, ...]:
    """Return one summary per family of `GRAPH_FAMILIES` and method that the rows have.

    Families in alphabetical order, in each the exact engine first, then by edge cut over that of
    `BASELINES`' first; methods without one last.

    Parameters
    ----------
    rows
        The last row of each case and method, see `cases.latest`.
    references
        Instance hash -> what is proven about it.
    """
    rows = [row for row in rows if row["family"] in GRAPH_FAMILIES]
    by_method: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_method[row["family"] or "", row["kind"], row["method"]].append(row)
    optima = {
        case_of(row): reference.best[reference.terms.index(CUT)]
        for row in rows
        if (reference := references.get(row["instance_hash"])) is not None
        and reference.proven
        and reference.best is not None
    }
    baselines = {
        name: {case_of(row): _cut(row) for row in _placed(rows) if row["method"] == name}
        for name in BASELINES
    }
    found = [_summary(some, references, optima, baselines) for some in by_method.values()]
    return tuple(sorted(found, key=_rank))


def _summary(
    rows: Sequence[Row],
    references: dict[str, Reference],
    optima: dict[Case, Fraction],
    baselines: dict[str, dict[Case, Fraction]],
) -> EdgeCuts:
    valid = _placed(rows)
    gaps = [gap for row in valid if (gap := row_gap(row, references)) and gap.to_optimum]
    return EdgeCuts(
        family=rows[0]["family"] or "",
        method=rows[0]["method"],
        kind=rows[0]["kind"],
        runs=len(rows),
        valid=len(valid),
        optimal=sum(gap.absolute == 0 for gap in gaps),
        gap=spread([gap.relative for gap in gaps if gap.relative is not None]),
        to_optimum=_ratios(valid, optima),
        to_baseline={name: _ratios(valid, cuts) for name, cuts in baselines.items()},
        balance=spread([_balance(row) for row in valid if row["placement"]]),
        seconds=shifted_geometric_mean([seconds_of(row) for row in rows]),
    )


def _placed(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["status"] in SUCCEEDED]


def _cut(row: Row) -> Fraction:
    return term_values(row)[CUT]


def _ratios(rows: Sequence[Row], others: dict[Case, Fraction]) -> Spread:
    pairs = ((_cut(row), others.get(case_of(row))) for row in rows)
    return spread([float(cut / other) for cut, other in pairs if other])


def _balance(row: Row) -> float:
    tasks = [node for node in json.loads(row["placement"] or "")["nodes"] if node >= 0]
    counts = [tasks.count(node) for node in set(tasks)]
    return max(counts, default=0) * row["nodes"] / len(tasks) if tasks else 1.0


def _rank(one: EdgeCuts) -> tuple[str, bool, bool, float, str]:
    mean = one.to_baseline[BASELINES[0]].mean
    return one.family, one.kind != Kind.EXACT, mean is None, mean or 0.0, one.method
