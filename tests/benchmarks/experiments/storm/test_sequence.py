"""Topologies of a cluster placed one after another."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from small_storm_cluster import SMALL

from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.storm.filling import Filling
from slotwise.benchmarks.experiments.storm.sequence import EXACT, sequence, summarise
from slotwise.models.families.storm import storm_instances
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem

METHODS = ("round-robin", "r-storm", "ras-default", EXACT)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Three equal topologies without constraints on nodes that hold two and a half of them."""
    data = copy.deepcopy(SMALL)
    (one,) = data["topologies"]
    one["ras_constraints_raw"], one["spread_components_raw"] = None, None
    one["components"][0]["parallelism_hint"], one["worker_max_heap_mb"] = 2, 4096.0
    data["topologies"] = [{**one, "id": f"t{i}"} for i in range(3)]
    node = data["cluster_spec"]["nodes"][0]
    node |= {
        "cpu_pct": 90.0,
        "memory_mb": 99_999.0,
        "slots": 9,
        "generic": {"network.resource.units": 90.0},
    }
    data["cluster_spec"]["nodes"] = [
        {**node, "id": f"n{i}", "host": f"h{i}", "rack": f"r{i}"} for i in range(2)
    ]
    path = tmp_path / "small.json"
    path.write_text(json.dumps(data))
    return path


@pytest.fixture
def together(cluster: Path) -> Instance:
    *_, made = storm_instances(f"storm:{cluster}")
    return made


def test_each_topology_has_what_is_left(together: Instance) -> None:
    problem = compile_problem(together)
    filling = Filling(problem)
    objective = Objective(("network",))
    first = filling.instance(0, objective)
    assert first.cluster.nodes == together.cluster.nodes
    filling.add(0, Placement((0, 0, 1, 1, 1), (4, 4, 0, 0, 0)))
    left = filling.instance(1, objective).cluster.nodes
    assert [int(node.resources["cpu"] or 0) for node in left] == [50, 60]
    assert [node.slots for node in left] == [8, 8]
    filling.add(1, Placement((0, 0, 1, 1, 1), (4, 4, 0, 0, 0)))
    assert judge(problem, filling.placement).valid


def test_costs_bounds_and_failures_add_up(together: Instance) -> None:
    rows = list(sequence(together, METHODS, 20.0))
    assert [row.topology for row in rows] == ["t0", "t1", "t2"]
    assert all(row.alone.proven for row in rows)
    for row in rows:
        for entry in row.entries.values():
            assert (entry.cost is None) == bool(entry.reason)
            assert entry.cost is None or entry.cost >= (row.alone.bound or 0)
    sums = {one.method: one for one in summarise(rows)}
    assert list(sums) == list(METHODS)
    assert sums[EXACT].placed == 2
    assert sum(sums[EXACT].failures.values()) == 1
    assert all(one.cost >= one.bound for one in sums.values())
    assert sums[EXACT].cost <= sums["r-storm"].cost


def test_as_a_program(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run_experiment(
            "storm_sequence", [str(cluster), "--methods", "r-storm,exact", "--time-limit", "20"]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "| t0 | 5 |" in out
    assert "| exact | 2 |" in out
    assert (
        run_experiment(
            "storm_sequence", [str(cluster), "--methods", "exact", "--count", "1", "--json"]
        )
        == 0
    )
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("topology") for line in lines] == ["t0", None]
    assert run_experiment("storm_sequence", [str(cluster.parent / "none.json")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_count_below_1_is_refused(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_experiment("storm_sequence", [str(cluster), "--count", "0"]) == 2
    assert capsys.readouterr().err == "storm_sequence: --count = 0: must be 1 or more\n"
