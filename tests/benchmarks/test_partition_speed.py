"""The benchmark of the partitioners, on a small graph."""

from __future__ import annotations

import json

import pytest


def test_it_measures_each_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "partition_speed",
                "--edges",
                "2000",
                "--methods",
                "ldg",
                "metis",
                "--parts",
                "4",
                "--json",
            ]
        )
        == 0
    )
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["method"] for row in rows] == ["ldg", "metis"]
    assert all(1000 < row["edges"] <= 2000 and row["memory_mb"] > 0 for row in rows)
    assert rows[1]["edge_cut"] < rows[0]["edge_cut"]
