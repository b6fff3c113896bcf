"""The benchmarks of proofs on tiny inputs, and the yardstick against our engines."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from proofs_in_process import answer_in_process

from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.proofs import isolated_run
from slotwise.benchmarks.experiments.proofs.isolated_run import Measured, MeasuredTerm, measure
from slotwise.benchmarks.experiments.proofs.rstorm import (
    check_agreement,
    speed_up,
)
from slotwise.benchmarks.experiments.proofs.textbook import reason_against, textbook
from slotwise.benchmarks.experiments.proofs.textbook_solvers import TEXTBOOKS
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.families.family import Family
from slotwise.models.families.registry import FAMILIES
from slotwise.models.families.rstorm import DISTANCE
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.processes import child
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

LIMITS = Limits(time_s=60.0)


def small(index: int, seed: int) -> Instance:
    """Six tasks in a chain on four nodes in two racks; the seed draws demands."""
    rng = np.random.default_rng([seed, index])
    nodes = tuple(
        Node(f"n{n}", f"r{n % 2}", slots=1, resources={"cpu": Decimal(60), "memory_mb": Decimal(4)})
        for n in range(4)
    )
    components = tuple(
        Component(f"c{c}", "bolt", 2, {"cpu": Decimal(int(rng.integers(20, 50))),
                                       "onheap_mb": Decimal(1)})
        for c in range(3)
    )  # fmt: skip
    streams = (Stream("c0", "c1"), Stream("c1", "c2"))
    return Instance(
        f"small-{index}",
        Cluster(nodes, distance=DISTANCE),
        (Topology("t", components, streams),),
        objective=Objective(("overload", "network"), {"cpu": 1}),
    )


SMALL = Family("small", "tiny chains", 2, small)


def test_an_unknown_engine_is_refused_before_a_process_starts() -> None:
    with pytest.raises(InputError, match="engine = 'nope': is unknown; must be one of auto, "):
        measure(small(0, 1), "nope", 1.0)


def test_limits_out_of_range_are_refused_before_a_process_starts() -> None:
    with pytest.raises(InputError, match="time_limit_s = -1: must be a finite number of seconds"):
        measure(small(0, 1), "auto", -1)
    with pytest.raises(InputError, match="memory_limit_mb = 0: must be 1 or more"):
        measure(small(0, 1), "auto", 1.0, memory_limit_mb=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTBOOKS)
def test_the_textbook_agrees_with_exhaustive_search(name: str) -> None:
    for index in range(3):
        problem = compile_problem(small(index, 0))
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = TEXTBOOKS[name].run(problem, LIMITS, None)
        assert found.status is Status.OPTIMAL
        assert found.values == found.bounds == truth.values
        assert found.placement is not None
        assert judge(problem, found.placement).valid


@pytest.mark.parametrize("name", TEXTBOOKS)
def test_the_textbook_agrees_where_cpu_is_hard(name: str) -> None:
    statuses = set()
    for index in range(10):
        problem = compile_problem(replace(small(index, 1), objective=Objective()))
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = TEXTBOOKS[name].run(problem, LIMITS, None)
        assert (found.status, found.values) == (truth.status, truth.values)
        statuses.add(found.status)
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_the_textbook_proves_nothing_without_time() -> None:
    problem = compile_problem(small(0, 0))
    for engine in TEXTBOOKS.values():
        assert engine.run(problem, Limits(time_s=1e-9), None).status is Status.UNKNOWN


def test_the_textbook_says_what_it_does_not_model() -> None:
    assert reason_against(compile_problem(small(0, 0))) is None
    one = small(0, 0)
    counted = replace(one, objective=Objective(("nodes",)))
    assert reason_against(compile_problem(counted)) == "the objective counts nodes"
    isolated = replace(one, topologies=(replace(one.topologies[0], one_task_per_worker=True),))
    assert "more than one worker" in str(reason_against(compile_problem(isolated)))


def test_the_textbook_has_a_boolean_per_task_and_node() -> None:
    problem = compile_problem(small(0, 0))
    model = textbook(problem)
    pairs = 2 * 4
    assert [len(columns) for columns in model.on] == [4] * 6
    assert model.upper.count(1) == 6 * 4 + pairs * (4 + 2)


def row(engine: str, seconds: float, status: str = "optimal", value: int = 7) -> Measured:
    bound = value if status == "optimal" else 0
    objective = (MeasuredTerm("network", value, bound),)
    limit = 60.0 if engine == "ours" else 600.0
    return Measured("i", 1, 1, engine, "", status, objective, 0.0, seconds, 100.0, limit)


def test_speed_up_is_a_geometric_mean_over_what_is_hard_for_the_textbook() -> None:
    pairs = [
        (row("ours", 0.5), row("book", 50.0)),
        (row("ours", 0.06), row("book", 605.0, "feasible")),
        (row("ours", 1.0), row("book", 9.0)),
        (row("ours", 1.0), row("book", 700.0, "refused")),
    ]
    found = speed_up("book", pairs)
    assert found.ratio == pytest.approx((100 * 10000) ** 0.5)
    assert (found.instances, found.textbook_stopped, found.ours_stopped) == (2, 1, 0)
    assert "1000 times faster to the proof than book" in str(found)


def test_what_ours_does_not_prove_counts_with_its_limit() -> None:
    found = speed_up("book", [(row("ours", 3.0, "feasible"), row("book", 600.0, "feasible"))])
    assert found.ratio == pytest.approx(10)
    assert found.ours_stopped == 1


def test_no_hard_instance_is_no_speed_up() -> None:
    found = speed_up("book", [(row("ours", 1.0), row("book", 2.0))])
    assert found.ratio is None
    assert "no instance" in str(found)


def test_proofs_that_differ_are_refused() -> None:
    with pytest.raises(SlotwiseError, match=r"ours proves optimal \[7\], book proves"):
        check_agreement(row("ours", 1.0), row("book", 1.0, value=8))
    check_agreement(row("ours", 1.0), row("book", 1.0, "feasible", value=8))


@pytest.mark.slow
def test_one_proof_alone_measures_time_and_memory() -> None:
    found = measure(small(0, 0), "exhaustive", 60.0)
    assert (found.status, found.tasks, found.nodes, found.gap) == ("optimal", 6, 4, 0.0)
    assert found.by.startswith("exhaustive (")
    assert found.memory_mb is not None
    assert 10 < found.memory_mb < 4096
    assert 0 < found.seconds < 60


@pytest.mark.slow
def test_an_engine_that_does_not_take_an_instance_is_a_row() -> None:
    found = measure(FAMILIES["rstorm"].make(0, 0), "exhaustive", 5.0)
    assert (found.status, found.objective) == ("refused", ())
    assert "58 tasks" in found.error


def test_a_process_that_dies_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "START", "import os; os._exit(7)")
    found = measure(small(0, 0), "auto", 5.0)
    assert (found.status, found.error) == ("crashed", "exit code 7")


def test_a_process_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "START", "import time; time.sleep(60)")
    monkeypatch.setattr(isolated_run, "GRACE_S", 0.3)
    assert measure(small(0, 0), "auto", 0.1).status == "killed"


def test_proofs_beside_the_textbook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_in_process(monkeypatch)
    monkeypatch.setitem(FAMILIES, "small", SMALL)
    assert (
        run_experiment("proofs", ["--family", "small", "--count", "1", "--textbook-limit", "60"])
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["instance", "tasks", "engine", "status"]
    assert [line.split()[3] for line in lines[1:4]] == ["optimal"] * 3
    assert len({line.split()[5] for line in lines[1:4]}) == 1
    assert "no instance on which it needs more than 10 s" in lines[-1]


def test_proofs_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_in_process(monkeypatch)
    monkeypatch.setitem(FAMILIES, "small", SMALL)
    assert (
        run_experiment("proofs", ["--family", "small", "--count", "2", "--textbook", "--json"]) == 0
    )
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["instance"] for line in lines[:-1]] == ["small-0", "small-1"]
    assert lines[-1] == {"summary": {"speed_up": []}}


@pytest.fixture
def storm_file(tmp_path: Path, shared: Path) -> Path:
    """The decoded cluster 03 with its three smallest topologies."""
    data = json.loads((shared / "storm" / "clusters" / "largeCluster03.json").read_text())

    def size(topology: dict[str, list[dict[str, int]]]) -> int:
        return sum(c["parallelism_hint"] or 0 for c in topology["components"])

    data["topologies"] = sorted(data["topologies"], key=size)[:3]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(data))
    return path


def test_storm_proofs(
    storm_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer_in_process(monkeypatch)
    assert run_experiment("storm_proofs", [str(storm_file), "--worker-min-cpu", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert "3 of 3 proven" in lines[-1]


@pytest.mark.slow
def test_storm_proofs_of_one_topology_as_json(
    storm_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = json.loads(storm_file.read_text())["topologies"][0]["id"]
    assert run_experiment("storm_proofs", [str(storm_file), "--topology", key, "--json"]) == 0
    first, last = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["instance"].endswith(key)
    assert last["summary"]["topologies"] == 1


def test_storm_proofs_of_an_unknown_topology_are_refused_before_the_table(
    storm_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = json.loads(storm_file.read_text())["topologies"][0]["id"]
    assert run_experiment("storm_proofs", [str(storm_file), "--topology", first, "nope"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"storm_proofs: {storm_file}: topology = 'nope': is not a topology")


def test_storm_proofs_of_a_file_without_topologies_are_refused(
    storm_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(storm_file.read_text())
    del data["topologies"]
    storm_file.write_text(json.dumps(data))
    assert run_experiment("storm_proofs", [str(storm_file)]) == 2
    assert capsys.readouterr().err.startswith(f"storm_proofs: {storm_file}: topologies")


def test_storm_proofs_needs_a_storm_cluster(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    assert (
        run_experiment("storm_proofs", [str(root / "docs" / "examples" / "word-count.json")]) == 2
    )
    assert "must be a decoded Storm cluster" in capsys.readouterr().err
