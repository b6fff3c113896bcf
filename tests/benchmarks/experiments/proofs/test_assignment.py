"""The benchmark over matrix files: its rows, its summary, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from assignments import document
from proofs_in_process import answer_in_process

from slotwise.benchmarks.experiments.catalogue import run_experiment


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """An instance whose published value is too good to be true, and one without."""
    made = []
    for seed, optimum in ((1, 0), (2, None)):
        data = document(np.random.default_rng(seed), 5, 3, 0.6)
        data |= {"name": f"random-{seed}", "optimum": optimum, "optimum_status": "unknown"}
        made.append(tmp_path / f"{seed}.json")
        made[-1].write_text(json.dumps(data))
    return made


def test_prints_a_row_per_file_and_a_summary(
    files: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_in_process(monkeypatch)
    words = [*map(str, files), "--time-limit", "20", "--json"]
    assert run_experiment("assignment_proofs", words) == 0
    first, second, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["published"], second["published"]) == (0, None)
    assert [row["status"] for row in (first, second)] == ["optimal", "optimal"]
    assert first["objective"][0]["value"] == first["objective"][0]["bound"] > 0
    assert first["memory_mb"] > 0
    assert last == {"summary": {"files": 2, "proven": 2, "published": 1, "reached": 0}}


@pytest.mark.slow
def test_prints_a_table_for_people(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_experiment("assignment_proofs", [str(files[1]), "--engine", "exhaustive"]) == 0
    head, row, last = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["instance", "tasks", "nodes"]
    assert row.split()[:4] == ["random-2", "5", "3", "-"]
    assert last == "1 files, 1 proven; 0 of 0 published values reached"


def test_other_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert run_experiment("assignment_proofs", [str(other)]) == 2
    assert "matrix-assignment" in capsys.readouterr().err
