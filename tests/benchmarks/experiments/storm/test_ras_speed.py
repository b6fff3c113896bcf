"""Speed of the default strategy: ``slotwise.benchmarks.experiments.storm.ras_speed``."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.storm import ras_speed
from slotwise.models.instance_file import read_instance


def test_the_report_has_a_line_per_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ras_speed, "EXECUTORS", (20, 60))
    monkeypatch.setattr(ras_speed, "NODES", (5, 50))
    head, first, second = ras_speed.lines(None)
    assert head.split() == ["executors", "5", "nodes", "50", "nodes"]
    assert first.split()[::2] == ["20", "s"]  # fewer executors than nodes are left out
    assert second.split()[::2] == ["60", "s", "s"]


def test_a_folder_without_the_clusters_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ras_speed, "EXECUTORS", ())
    assert run_experiment("ras_speed", ["--clusters", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"ras_speed: {tmp_path / 'largeCluster03.json'}: cannot be read")
    assert said.count("\n") == 1


@pytest.mark.parametrize("executors", [60, 400])
@pytest.mark.parametrize("nodes", [3, 60])
def test_the_chains_of_the_benchmark_are_placed_without_a_step_back(
    executors: int, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ras_speed, "REPEATS", 1)
    assert ras_speed.seconds(ras_speed.chain(executors, nodes))[1:] == (1, 0)


@pytest.mark.parametrize(
    "cluster", ["largeCluster03", pytest.param("largeCluster01", marks=pytest.mark.deep)]
)
def test_real_clusters_are_placed_without_a_step_back(
    cluster: str, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ras_speed, "EXECUTORS", ())
    monkeypatch.setattr(ras_speed, "CLUSTERS", (cluster,))
    monkeypatch.setattr(ras_speed, "REPEATS", 1)
    _, line = ras_speed.lines(shared / "storm" / "clusters")
    count = len(read_instance(shared / "storm" / "clusters" / f"{cluster}.json").topologies)
    assert line.startswith(f"{cluster}: read in ")
    assert line.endswith(f" s, {count} of {count} placed, backtracked 0 times")
