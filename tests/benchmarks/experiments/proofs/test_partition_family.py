"""Experiments on graphs to partition: rows that resume, and claims that are checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from slotwise.benchmarks.experiments.agreement import partitions_agree
from slotwise.benchmarks.experiments.agreement.partitions_agree import least_cut, tiny_problem
from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.proofs import partition_family
from slotwise.benchmarks.experiments.proofs.partition_family import (
    Row,
    check_agreement,
    problem_of,
    summary,
)
from slotwise.models.errors import SlotwiseError
from slotwise.models.families.partition import PARTITION
from slotwise.models.graph_partition import PartitionProblem
from slotwise.solver.graph_partition import PartitionResult, solve_partition

ROW = Row(
    index=3,
    kind="grid",
    graph="partition-0-0003-grid",
    vertices=27,
    edges=42,
    parts=5,
    engine="auto",
    time_limit_s=60.0,
    status="optimal",
    start=66,
    cut=55,
    bound=55,
    seconds=1.5,
)


def test_graphs_of_the_family() -> None:
    instance = PARTITION.make(3, 0)
    problem = problem_of(instance)
    assert (len(problem.weights), len(problem.edges), len(problem.capacities)) == (27, 42, 5)
    assert set(problem.capacities) == {6}  # 27 * 1.1 / 5 rounded up
    rates = [stream.rate for stream in instance.topologies[0].streams]
    assert problem.edge_weight == sum(rate for rate in rates if rate is not None)


def test_a_run_goes_on_where_its_rows_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[int, str]] = []

    def measured(index: int, engine: str, time_limit_s: float, seed: int) -> Row:
        asked.append((index, engine))
        name = PARTITION.make(index, seed).name
        return replace(ROW, index=index, graph=name, engine=engine, time_limit_s=time_limit_s)

    monkeypatch.setattr(partition_family, "measured", measured)
    rows = tmp_path / "rows.jsonl"
    words = ["--count", "2", "--engines", "auto", "milp", "--rows", str(rows), "--time-limit", "9"]
    assert run_experiment("partition_family", words) == 0
    said = capsys.readouterr().out
    assert "auto: 2 of 2 proven" in said
    rows.write_text(rows.read_text()[:-20])  # a last line that was cut short
    assert run_experiment("partition_family", words) == 0
    assert capsys.readouterr().out == said
    assert asked == [(0, "auto"), (0, "milp"), (1, "auto"), (1, "milp"), (1, "milp")]
    rows.write_text("{}\n")
    assert run_experiment("partition_family", words) == 2
    assert "line 1: is not a row" in capsys.readouterr().err


def test_a_bound_above_a_cut_ends_the_run() -> None:
    check_agreement([ROW, replace(ROW, engine="milp", status="feasible", cut=60, bound=20)])
    with pytest.raises(SlotwiseError, match="milp says that no cut is below 56, auto cuts 55"):
        check_agreement([ROW, replace(ROW, engine="milp", cut=56, bound=56)])
    other = replace(ROW, graph="other", cut=70, bound=70)
    check_agreement([ROW, other])


def test_the_summary_counts_proofs_by_kind() -> None:
    open_row = replace(ROW, status="feasible", bound=50, kind="planted")
    assert summary([ROW, open_row])["auto"] == {
        "graphs": 2,
        "proven": 1,
        "watts-strogatz": 0,
        "barabasi-albert": 0,
        "planted": 0,
        "grid": 1,
        "median_s": 1.5,
        "longest_s": 1.5,
    }


def test_exhaustive_search_by_hand() -> None:
    path = PartitionProblem((1, 1, 2), ((0, 1, 5), (1, 2, 3)), (2, 2))
    assert least_cut(path) == 3
    assert least_cut(PartitionProblem((1, 1, 2), ((0, 1, 5), (1, 2, 3)), (4, 0))) == 0
    assert least_cut(PartitionProblem((3,), (), (2, 2))) is None


def test_an_engine_that_is_wrong_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    truths = (least_cut(tiny_problem(np.random.default_rng((0, n)))) for n in range(9))
    number, truth = next((n, truth) for n, truth in enumerate(truths) if truth is not None)

    def wrong(problem: PartitionProblem, **options: object) -> PartitionResult:
        found = solve_partition(problem, engine="exhaustive")
        return replace(found, value=truth + 1, bound=truth + 1)

    monkeypatch.setattr(partitions_agree, "solve_partition", wrong)
    words = ["--first", str(number), "--count", "1", "--engines", "milp"]
    assert run_experiment("partitions_agree", words) == 1
    said = capsys.readouterr()
    assert f"graph {number}: milp claims PartitionResult: optimal, cut {truth + 1}" in said.out
    assert "1 answers contradict exhaustive search" in said.err
