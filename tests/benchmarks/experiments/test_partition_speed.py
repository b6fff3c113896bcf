"""The benchmark of the partitioners, on a small graph."""

from __future__ import annotations

import json

import pytest

from slotwise.benchmarks.experiments.catalogue import run_experiment


@pytest.mark.slow
def test_it_measures_each_method(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--edges", "20000", "--methods", "ldg", "metis", "--parts", "4", "--json"]
    assert run_experiment("partition_speed", words) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["method"] for row in rows] == ["ldg", "metis"]
    assert all(10_000 < row["edges"] <= 20_000 and row["memory_mb"] > 0 for row in rows)
    assert rows[1]["edge_cut"] < rows[0]["edge_cut"]
