"""CPU time and primal integrals of two trees, from rows written by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from proofs_in_process import a_row

from slotwise.benchmarks.experiments.__main__ import main
from slotwise.benchmarks.experiments.proofs.paired import (
    pairs_of,
    primal_gap,
    primal_integral,
    summarise,
)

FIRST = a_row(improvements=((1.0, [0, 20]), (5.0, [0, 10])), cpu_s=9.0, limit_s=10.0)


def test_the_primal_integral_is_the_time_weighted_by_the_gap() -> None:
    assert primal_integral(FIRST, [0, 10]) == pytest.approx(1.0 + 4 * 0.5)
    assert primal_integral(FIRST, [0, 5]) == pytest.approx(1.0 + 4 * 0.75 + 5 * 0.5)
    without = replace(FIRST, improvements=())
    assert primal_integral(without, [0, 10]) == 10.0
    late = replace(FIRST, improvements=((11.0, [0, 10]),))
    assert primal_integral(late, [0, 10]) == 10.0


@pytest.mark.parametrize(
    ("values", "gap"),
    [([0, 10], 0.0), ([0, 20], 0.5), ([3, 10], 1.0), ([0, None], 1.0)],
)
def test_the_first_term_that_differs_is_the_gap(values: list[float | None], gap: float) -> None:
    assert primal_gap(values, [0, 10]) == gap


def test_both_trees_are_held_against_the_best_of_either() -> None:
    other = replace(FIRST, improvements=((0.0, [0, 5]),), cpu_s=19.0, status="feasible")
    only_there = replace(other, instance="only there")
    (pair,) = pairs_of([FIRST], [only_there, other])
    assert (pair.before.integral_s, pair.after.integral_s) == (pytest.approx(6.5), 0.0)
    summary = summarise([pair])
    assert (summary.proven_before, summary.proven_after, summary.slower) == (1, 0, 1)
    assert summary.ratio == pytest.approx(2.0)


def test_a_file_of_other_lines_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, other = tmp_path / "rows.jsonl", tmp_path / "other.jsonl"
    rows.write_text(json.dumps(FIRST.to_document()) + '\n{"summary": {}}\n')
    other.write_text('{"instance": "x"}\n')
    assert main(["paired_proofs", str(rows), str(other)]) == 2
    assert "other.jsonl: line 1: must be a row" in capsys.readouterr().err
    other.write_text(json.dumps(replace(FIRST, instance="another").to_document()) + "\n")
    assert main(["paired_proofs", str(rows), str(other)]) == 2
    assert "must have an instance of the first file" in capsys.readouterr().err
