"""CPU time and primal integrals of two trees, from rows written by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from proofs_in_process import a_row

from slotwise.benchmarks.experiments.__main__ import main
from slotwise.benchmarks.experiments.proofs.paired import (
    pairs_of,
    primal_gap,
    primal_integral,
    summarise,
)
from slotwise.models.errors import SlotwiseError

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
    [([0, 10], 0.0), ([0, 20], 0.5), ([3, 10], 1.0), ([0, 9.0], 0.1)],
)
def test_the_first_term_that_differs_is_the_gap(values: list[float], gap: float) -> None:
    assert primal_gap(values, [0, 10]) == gap


def test_both_trees_are_held_against_the_best_of_either() -> None:
    other = replace(FIRST, improvements=((0.0, [0, 5]),), cpu_s=19.0, status="feasible")
    only_there = replace(other, instance="only there")
    (pair,) = pairs_of([FIRST], [only_there, other])
    assert (pair.before.integral_s, pair.after.integral_s) == (pytest.approx(6.5), 0.0)
    summary = summarise([pair])
    assert (summary.proven_before, summary.proven_after, summary.slower) == (1, 0, 1)
    assert summary.ratio == pytest.approx(2.0)
    crashed = replace(other, status="crashed", cpu_s=None, improvements=())
    (pair,) = pairs_of([FIRST], [crashed])
    assert (pair.after.cpu_s, pair.after.integral_s) == (None, None)
    assert (summarise([pair]).left_out, summarise([pair]).slower) == (1, 0)
    nowhere = replace(FIRST, status="infeasible", objective=(), improvements=())
    (pair,) = pairs_of([nowhere], [nowhere])
    assert (pair.before.integral_s, pair.ratio) == (None, 1.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"limit_s": 60.0}, "small: limit_s is 10.0 before and 60.0 after"),
        ({"engine": "cp-sat"}, "small: engine is auto before and cp-sat after"),
        ({"status": "infeasible", "objective": ()}, "small: proven .* before and .* after"),
    ],
)
def test_what_was_not_measured_alike_is_not_compared(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SlotwiseError, match=said):
        pairs_of([FIRST], [replace(FIRST, **changes)])


OLDER = {key: value for key, value in FIRST.to_document().items() if key != "cpu_s"}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"instance": "x"}'], "other.jsonl, line 1: "),
        (["{"], "other.jsonl, line 1: "),
        (["[]"], "other.jsonl, line 1: "),
        ([json.dumps(OLDER)], "other.jsonl, line 1: cpu_s: is missing"),
        ([json.dumps(OLDER | {"cpu_s": -2.0})], "other.jsonl, line 1: cpu_s = -2.0: must be a"),
        (
            [json.dumps(OLDER | {"cpu_s": 1.0, "improvements": []})],
            "other.jsonl, line 1: improvements: is missing",
        ),
        ([json.dumps(FIRST.to_document())] * 2, "other.jsonl, line 2: instance = 'small'"),
        (
            [json.dumps(replace(FIRST, instance="another").to_document())],
            "other.jsonl: has no instance of ",
        ),
    ],
)
def test_a_file_of_other_lines_is_refused(
    lines: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, other = tmp_path / "rows.jsonl", tmp_path / "other.jsonl"
    rows.write_text(json.dumps(FIRST.to_document()) + '\n{"summary": {}}\n')
    other.write_text("\n".join(lines) + "\n")
    assert main(["paired_proofs", str(rows), str(other)]) == 2
    said_in_all = capsys.readouterr().err
    assert said in said_in_all
    assert said_in_all.count("\n") == 1
