"""Edge cuts and balance of methods on families of graphs, by hand."""

from __future__ import annotations

import json

from graded_rows import row

from slotwise.benchmarks.judged.edge_cuts import BASELINES, GRAPH_FAMILIES, HEADS, edge_cut_table
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.judged.statistics import comparisons_of
from slotwise.models.families.registry import FAMILIES


def run(instance, method, status, cut, nodes=(0, 0, 1, 1), **more):
    placement = json.dumps({"nodes": nodes, "workers": [0] * len(nodes)})
    more = {"family": "partition", "terms": ("network",), "placement": placement, **more}
    return row(instance, method, status, (cut,), **more)


ROWS = [
    run("a", "auto", "optimal", "4"),
    run("a", "hash", "valid", "8", (0, 0, 0, 1)),
    run("a", "ldg", "valid", "6"),
    run("b", "auto", "optimal", "10"),
    run("b", "hash", "valid", "10"),
    run("b", "ldg", "valid", "15", (1, 1, 1, 1)),
    run("c", "auto", "optimal", "2"),
    run("c", "hash", "valid", "4"),
    row("c", "ldg", "crashed", family="partition", error="boom"),
    run("other", "ldg", "valid", "1", family="f"),
]


def table(graded=ROWS):
    judged = judged_rows(graded)
    rows = [graded[number] for number in judged.runs["row"]]
    return edge_cut_table(rows, comparisons_of(judged), {"ldg": "mine"})


def test_ratios_are_means_over_what_all_methods_placed():
    found = {cells[1]: dict(zip(HEADS, cells, strict=True)) for cells in table().rows}
    over = "mean edge cut over the optimum"
    assert found["auto"][over] == "1"
    assert found["hash"][over] == "1.5", "2 and 1"
    assert found["mine"][over] == "1.5", "1.5 twice"
    assert found["mine"]["over hash"] == "1.12", "0.75 and 1.5"
    assert found["mine"]["over round-robin"] == "-"
    assert (found["hash"]["placed"], found["mine"]["placed"]) == ("3 of 3", "2 of 3")


def test_an_exact_run_that_failed_counts_for_nothing():
    failed = row("d", "auto", "memory", family="partition", kind="exact", error="no room")
    more = [failed, run("d", "hash", "valid", "20"), run("d", "ldg", "valid", "10")]
    found = {cells[1]: dict(zip(HEADS, cells, strict=True)) for cells in table([*ROWS, *more]).rows}
    assert found["auto"]["placed"] == "3 of 4"
    assert found["auto"]["mean edge cut over the optimum"] == "1"
    assert found["auto"]["over hash"] == "0.75", "0.5 and 1"


def test_balance_is_the_most_tasks_over_the_average():
    found = {cells[1]: dict(zip(HEADS, cells, strict=True)) for cells in table().rows}
    assert (found["mine"]["mean balance"], found["mine"]["worst balance"]) == ("1.5", "2")
    assert found["hash"]["worst balance"] == "1.5"
    far = [run("a", "hash", "valid", "8", (10**14, 10**14, 10**14, 1))]
    assert table(far).rows[0][-1] == "1.5"


def test_other_families_have_no_table():
    rows = [one for one in ROWS if one["family"] == "f"]
    assert edge_cut_table(rows, comparisons_of(judged_rows(rows)), {}) is None


def test_families_and_baselines_exist():
    assert set(GRAPH_FAMILIES) <= set(FAMILIES)
    assert BASELINES == ("hash", "round-robin")
