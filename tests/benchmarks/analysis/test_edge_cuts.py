from __future__ import annotations

import json
from typing import Any

import pytest

from slotwise.benchmarks.analysis.aggregate import references_of
from slotwise.benchmarks.analysis.edge_cuts import GRAPH_FAMILIES, EdgeCuts, edge_cuts
from slotwise.benchmarks.grading.rows import COLUMNS, Row
from slotwise.models.families.registry import FAMILIES
from slotwise.models.graph_partition.as_instance import EDGE_CUT


def run(
    instance: str, method: str, cut: int | None, nodes: tuple[int, ...] = (0, 1), **more: Any
) -> Row:
    """One run on a graph of two parts; ``auto`` proves its cut, a cut of ``None`` is a refusal."""
    exact = method == "auto"
    text = None if cut is None else str(cut)
    return {
        **dict.fromkeys(COLUMNS),
        "instance_hash": instance,
        "instance": instance,
        "family": "partition",
        "nodes": 2,
        "kind": "exact" if exact else "heuristic",
        "method": method,
        "seed": 0,
        "status": "refused" if cut is None else "optimal" if exact else "valid",
        "terms": [{"term": "network", "value": text, "bound": text if exact else None}],
        "placement": json.dumps({"nodes": nodes, "workers": nodes}),
        "time_limit_s": 10.0,
        "wall_s": 1.0,
        **more,
    }


def summaries(rows: list[Row]) -> dict[str, EdgeCuts]:
    return {one.method: one for one in edge_cuts(rows, references_of(rows))}


def test_edge_cut_over_hash_and_over_the_optimum() -> None:
    found = summaries(
        [
            *(run("a", name, cut) for name, cut in (("auto", 4), ("hash", 10), ("ldg", 5))),
            *(run("b", name, cut) for name, cut in (("auto", 6), ("hash", 8), ("ldg", 6))),
        ]
    )
    ldg = found["ldg"]
    assert ldg.to_baseline["hash"].mean == pytest.approx((5 / 10 + 6 / 8) / 2)
    assert ldg.to_optimum.mean == pytest.approx((5 / 4 + 6 / 6) / 2)
    assert (ldg.runs, ldg.valid, ldg.optimal) == (2, 2, 1)
    assert ldg.gap.most == pytest.approx(1 / 5)
    assert ldg.to_baseline["round-robin"].count == 0
    assert list(found) == ["auto", "ldg", "hash"]


def test_what_cannot_be_compared_is_left_out_and_counted() -> None:
    rows = [run("zero", "auto", 0), run("zero", "ldg", 3), run("zero", "hash", 7)]
    rows += [run("lost", "ldg", None), run("lost", "hash", 9)]
    ldg = summaries(rows)["ldg"]
    assert (ldg.runs, ldg.valid) == (2, 1)
    assert (ldg.to_optimum.count, ldg.gap.count) == (0, 0), "the optimum is 0"
    assert ldg.to_baseline["hash"].count == 1


def test_a_bound_is_no_optimum() -> None:
    terms = [{"term": "network", "value": "5", "bound": "3"}]
    rows = [run("a", "auto", 5, status="feasible", terms=terms), run("a", "ldg", 6)]
    ldg = summaries(rows)["ldg"]
    assert (ldg.to_optimum.count, ldg.gap.count, ldg.optimal) == (0, 0, 0)


def test_balance_is_the_largest_load_over_the_average_of_all_nodes() -> None:
    rows = [run("a", "ldg", 1, (0, 0, 0, 1)), run("b", "ldg", 1, (1, 1, 1, 1))]
    balance = summaries(rows)["ldg"].balance
    assert (balance.mean, balance.most) == (1.75, 2.0)


def test_other_families_have_no_edge_cuts() -> None:
    assert edge_cuts([run("a", "hash", 1, family="rstorm")], {}) == ()


@pytest.mark.parametrize("name", GRAPH_FAMILIES)
def test_tasks_weigh_the_same_and_nodes_are_equal(name: str) -> None:
    """What lets balance count tasks, and the network's value be the edge cut."""
    family = FAMILIES[name]
    for index in range(min(family.count, 12)):
        instance = family.make(index, 0)
        needs = {
            tuple(sorted(c.resources.items())) for t in instance.topologies for c in t.components
        }
        offers = {tuple(sorted(n.resources.items())) for n in instance.cluster.nodes}
        assert (len(needs), len(offers)) == (1, 1)
        assert instance.cluster.distance == EDGE_CUT
        assert instance.objective.terms == ("network",)
