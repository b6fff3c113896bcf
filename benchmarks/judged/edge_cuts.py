"""Edge cuts and balance of methods on the families of graphs to partition.

There every task weighs the same, nodes are equal and all equally far apart: the term ``network`` is
the edge cut, and the load of a node the number of its tasks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np

from slotwise.benchmarks.grading.rows import Kind, Row
from slotwise.benchmarks.judged.judging import Flags, Floats
from slotwise.benchmarks.judged.method_table import NO_NUMBER, TextTable
from slotwise.benchmarks.judged.statistics import MethodComparison
from slotwise.benchmarks.judged.summary import basis_text

GRAPH_FAMILIES = ("partition", "stromax")
CUT = "network"
BASELINES = ("hash", "round-robin")
"""Methods that know nothing of edges: what others are measured against."""

HEADS = {
    "family": False,
    "method": False,
    "placed": False,
    "mean edge cut over the optimum": True,
    **{f"over {name}": True for name in BASELINES},
    "mean balance": True,
    "worst balance": True,
}


def edge_cut_table(
    rows: Sequence[Row], comparisons: Sequence[MethodComparison], labels: Mapping[str, str]
) -> TextTable | None:
    """Return the table of all families of graphs; ``None`` where there is none.

    Ratios of edge cuts are means over the instances that all compared methods placed, those with a
    cut of 0 left out. Balance: most tasks on a node over the average of all nodes. `rows` are in
    the order of `Judged`; `comparisons` are those of all groups.
    """
    cells: list[tuple[str, ...]] = []
    kinds, lines = [], []
    balance = np.array([_balance(row) for row in rows])
    for family in GRAPH_FAMILIES:
        for whole in comparisons:
            judged = whole.judged
            family_instances = np.flatnonzero(np.asarray(judged.instances["family"] == family))
            some = np.intersect1d(whole.instances, family_instances)
            if not len(some) or CUT not in judged.terms:
                continue
            comparison = MethodComparison(judged, whole.group, some)
            lines.append(f"{family}: {basis_text(len(some), 0, len(family_instances) - len(some))}")
            for member, line in enumerate(_lines(comparison, balance)):
                name = comparison.names[member]
                cells.append((family, labels.get(name, name), *line))
                kinds.append(str(Kind.HEURISTIC if comparison.compared[member] else Kind.EXACT))
    if not cells:
        return None
    return TextTable(
        "edge-cuts", "Edge cuts and balance", HEADS, tuple(cells), tuple(kinds), "\n".join(lines)
    )


def _lines(comparison: MethodComparison, balance: Floats) -> list[tuple[str, ...]]:
    judged = comparison.judged
    at = np.argmax(judged.term_at[comparison.instances] == judged.terms.index(CUT), axis=1)
    cuts = np.take_along_axis(comparison.values, at[:, None, None], axis=2)[:, :, 0].astype(float)
    common: Flags = np.asarray(comparison.placed[:, comparison.compared].all(axis=1), dtype=bool)
    best = judged.best[comparison.instances, at].astype(float) * comparison.scale
    baselines = [
        cuts[:, comparison.names.index(name)] if name in comparison.names else None
        for name in BASELINES
    ]
    lines = []
    for member, method in enumerate(comparison.members):
        is_compared = (judged.method == method) & np.isin(judged.instance, comparison.instances)
        loads = balance[is_compared & judged.placed]
        mine = common & comparison.placed[:, member]  # an exact run may have failed
        ratios = [_ratio(cuts[mine, member], best[mine])]
        ratios += [NO_NUMBER if baseline is None else _ratio(cuts[mine, member], baseline[mine])
                   for baseline in baselines]  # fmt: skip
        lines.append(
            (
                f"{int(comparison.placed[:, member].sum())} of {len(comparison.instances)}",
                *ratios,
                *(f"{of(loads):.3g}" if len(loads) else NO_NUMBER for of in (np.mean, np.max)),
            )
        )
    return lines


def _ratio(cuts: Floats, others: Floats) -> str:
    above = others > 0
    return f"{(cuts[above] / others[above]).mean():.3g}" if above.any() else NO_NUMBER


def _balance(row: Row) -> float:
    """Return the most tasks on a node over the average; NaN without a placement."""
    if not row["placement"]:
        return math.nan
    nodes = np.array([node for node in json.loads(row["placement"])["nodes"] if node >= 0])
    if not len(nodes):
        return 1.0
    _, loads = np.unique(nodes, return_counts=True)
    return float(loads.max() * row["nodes"] / len(nodes))
