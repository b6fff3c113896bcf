"""What ``storm-like`` draws from, and how its fit and its proofs are measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from proofs_in_process import a_row
from small_storm_cluster import SMALL

from slotwise.benchmarks.experiments.__main__ import main
from slotwise.benchmarks.experiments.proofs.storm import summarise
from slotwise.benchmarks.experiments.storm_like.fit import distance, fits
from slotwise.benchmarks.experiments.storm_like.tables import data_of, distinct
from slotwise.models.families.registry import FAMILIES
from slotwise.models.families.storm_like_family import draw_topology, rng_of
from slotwise.models.families.storm_like_statistics import tables, topology_statistics


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    return path


def test_distance_is_that_of_kolmogorov_and_smirnov() -> None:
    assert distance([1, 2, 3], [1, 2, 3]) == 0
    assert distance([1, 2], [3, 4]) == 1
    assert distance([1, 2, 3, 4], [2, 3, 4, 5]) == 0.25
    assert distance([1], [1, 1, 1, 2]) == 0.25


def test_a_fit_knows_other_distributions() -> None:
    """The draw is like the clusters; topologies of one shape are not."""
    drawn = [draw_topology(rng_of(index, 0, held_out=False)) for index in range(150)]
    near = {fit.statistic: fit for fit in fits("all", tables().all, drawn)}
    assert near["components"].distance < (near["components"].five_percent or 0)
    large = [one for one in drawn if topology_statistics(one)["components"] > 10]
    far = {fit.statistic: fit for fit in fits("all", tables().all, large)}
    assert far["components"].distance > 2 * (far["components"].five_percent or 1)


def test_the_same_structure_counts_once(small: Path) -> None:
    drawn = [FAMILIES["storm-like"].make(index, 0).topologies[0] for index in range(3)]
    assert distinct([*drawn, *drawn]) == drawn
    kinds = data_of([small, small])["kinds"]
    assert kinds == data_of([small])["kinds"]


def test_tables_of_a_file(small: Path) -> None:
    found = data_of([small])
    with_tasks = [
        sum(c["executors"] for c in topology["components"]) for topology in SMALL["topologies"]
    ]
    assert set(found["all"]["tasks"]) <= set(with_tasks) - {0}
    assert sum(kind["topologies"] for kind in found["kinds"].values()) == len(found["all"]["tasks"])
    nodes = SMALL["cluster_spec"]["nodes"]
    assert sum(kind["racks"] for kind in found["cluster"]["nodes"]) == len(
        {node["rack"] for node in nodes}
    )


def test_the_packaged_data_say_what_they_were_made_from() -> None:
    known = tables()
    assert sum(kind.topologies for kind in known.kinds.values()) == len(known.all["tasks"]) == 54
    assert len(known.large["tasks"]) == sum(tasks >= 50 for tasks in known.all["tasks"])


@pytest.mark.slow
def test_proofs_add_up_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--count", "2", "--first", "1", "--tasks", "50-60", "--time-limit", "0.2", "--json")
    assert main(["storm_like_proofs", *words]) == 0
    *rows, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert [row["instance"].rpartition("-")[0] for row in rows] == [
        "storm-like-50-60-0-0001",
        "storm-like-50-60-0-0002",
    ]
    summary = last["summary"]
    assert summary["all"]["topologies"] == 2
    kinds = {row["instance"].rpartition("-")[2] for row in rows}
    assert set(summary) == kinds | {"all"}


def test_a_summary_has_the_median_and_the_peak_of_memory() -> None:
    rows = [a_row(memory_mb=mb) for mb in (100.0, 400.0, None, 200.0)]
    found = summarise(rows)
    assert (found.median_memory_mb, found.most_memory_mb) == (200.0, 400.0)
    assert str(found).endswith("; at most 1.0 s and 400 MB (median 200).")
    assert str(summarise(rows[2:3])).endswith("; at most 1.0 s and - MB (median -).")


@pytest.mark.parametrize("words", [("--count", "0"), ("--first", "-1"), ("--tasks", "60")])
def test_wrong_options_of_proofs_are_said(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["storm_like_proofs", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
