"""The textbook's models of equal parts, and the benchmark beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from proofs_in_process import answer_in_process

from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.proofs.partition import TEXTBOOK_NAMES, files_in
from slotwise.benchmarks.experiments.proofs.partition_textbook import partition_textbook
from slotwise.benchmarks.experiments.proofs.textbook_solvers import PARTITION_TEXTBOOKS
from slotwise.models.errors import InputError
from slotwise.models.instance_file import instance_from_data
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

LIMITS = Limits(time_s=60.0)


def graph(seed: int) -> dict[str, Any]:
    """A tiny partition, as the data of a matrix file; some are infeasible."""
    rng = np.random.default_rng(seed)
    size, parts = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    weights = rng.integers(1, 6, size)
    pairs = [(a, b) for a in range(size) for b in range(a) if rng.random() < 0.6]
    return {
        "format": "matrix-assignment",
        "name": f"graph-{seed}",
        "weights": weights[:, None].tolist(),
        "capacities": [[int(weights.sum()) // parts + int(rng.integers(0, 4))]] * parts,
        "flow": [[a, b, int(rng.integers(1, 9))] for a, b in pairs],
        "distance": (1 - np.eye(parts, dtype=int)).tolist(),
    }


def problem(seed: int) -> Problem:
    return compile_problem(instance_from_data(graph(seed)))


@pytest.mark.parametrize("name", TEXTBOOK_NAMES)
def test_the_textbook_agrees_with_exhaustive_search(name: str) -> None:
    statuses = set()
    for seed in range(25):
        here = problem(seed)
        truth = EXHAUSTIVE.run(here, LIMITS, None)
        found = PARTITION_TEXTBOOKS[name].run(here, LIMITS, None)
        assert (found.status, found.values) == (truth.status, truth.values)
        if found.placement is not None:
            assert judge(here, found.placement).valid
        statuses.add(found.status)
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_of_equal_numberings_one_is_left() -> None:
    data = graph(0) | {"weights": [[1]] * 3, "capacities": [[9]] * 3, "flow": [[0, 1, 1]]}
    data |= {"distance": (1 - np.eye(3, dtype=int)).tolist()}
    model = partition_textbook(compile_problem(instance_from_data(data)))
    on = sorted(model.on)
    kept = 0
    for choice in np.ndindex(3, 3, 3):
        value = [0] * len(model.upper)
        for columns, part in zip(on, choice, strict=True):
            value[columns[part]] = 1
        rows = (
            (sum(c * value[i] for i, c in row.items()), low, high) for row, low, high in model.rows
        )
        numbered = all(
            (low is None or at >= low) and (high is None or at <= high) for at, low, high in rows
        )
        within = all(v <= upper for v, upper in zip(value, model.upper, strict=True))
        kept += numbered and within
    assert kept == 5  # the ways to partition three vertices


@pytest.mark.slow
def test_one_row_a_file_and_what_was_proven(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_in_process(monkeypatch)
    for seed in (10, 2):
        (tmp_path / f"g-{seed}.json").write_text(json.dumps(graph(seed)))
    assert [path.stem for path in files_in(tmp_path)] == ["g-2", "g-10"]
    assert run_experiment("partition_proofs", ["--instances", str(tmp_path), "--json"]) == 0
    *rows, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(rows) == 2
    assert last["summary"] == {"files": 2, "auto": 2, **dict.fromkeys(TEXTBOOK_NAMES, 2)}
    arguments = ["--instances", str(tmp_path), "--textbook"]
    assert run_experiment("partition_proofs", arguments) == 0
    head, first, _, end = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["instance", "tasks", "parts"]
    assert first.split()[0] == "graph-2"
    assert end == "2 files, proven by: auto 2"


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--instances"):
        files_in(tmp_path)
