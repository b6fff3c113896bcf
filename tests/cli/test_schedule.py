"""The command ``schedule``."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli

PLAN = "plan.json"


def test_scheduled_evicted_refused(examples: Path, cli: Cli) -> None:
    answer = cli("schedule", "shared-cluster.yaml", "--out", PLAN)
    assert answer.code == 1
    assert "3 scheduled, 0 running already, 1 refused" in answer.out
    assert "logs: Not enough resources to schedule" in answer.out
    assert "trial was evicted for alarms, and placed again." in answer.out
    judged = cli("judge", "shared-cluster.yaml", PLAN, "--json")
    assert judged.code == 0
    assert judged.json["objective"][0] == {"term": "rejected", "value": 1}


def test_json_is_one_object(examples: Path, cli: Cli) -> None:
    found = cli("schedule", "shared-cluster.yaml", "--json").json
    assert [one["topology"] for one in found["topologies"]] == [
        "alarms",
        "reports",
        "trial",
        "logs",
    ]
    assert [one["outcome"] for one in found["topologies"]] == [*["scheduled"] * 3, "refused"]
    assert found["topologies"][0]["evicted"] == ["logs", "trial", "reports"]
    assert found["evicted"][0] == {"topology": "logs", "by": "alarms", "again": False}
    assert found["exact"] is None
    assert "logs" not in found["placement"]["topologies"]
    assert found["violations"] == []


def test_exact_counterparts(examples: Path, cli: Cli) -> None:
    found = cli("schedule", "shared-cluster.yaml", "--exact", "--json").json["exact"]
    best = found["best_set"]
    assert (best["proven"], best["cost"], best["scheduler_cost"]) == (True, 1, 1)
    assert best["left_out"] == best["scheduler_left_out"] == ["logs"]
    first, second = found["evictions"]
    assert (first["topology"], first["status"], first["evicted"]) == ("alarms", "optimal", ["logs"])
    assert first["scheduler_evicted"] == ["logs", "trial", "reports"]
    assert (second["topology"], second["status"]) == ("logs", "infeasible")


def test_exact_for_people(examples: Path, cli: Cli) -> None:
    out = " ".join(cli("schedule", "shared-cluster.yaml", "--exact").out.split())
    assert "the best set leaves out logs (cost 1): proven" in out
    assert "alarms logs, trial, reports logs proven" in out
    assert "logs refused none is enough proven" in out


def test_pools_and_priority_change_the_order(examples: Path, cli: Cli) -> None:
    Path("pools.yaml").write_text("eve: {cpu: 100, memory_mb: 1000}\n")
    found = cli("schedule", "shared-cluster.yaml", "--pools", "pools.yaml", "--json").json
    order = [one["topology"] for one in found["topologies"]]
    assert order[0] == "trial"
    assert found["topologies"][0]["guaranteed"]
    fifo = cli("schedule", "shared-cluster.yaml", "--priority", "fifo", "--json").json
    assert fifo["priority"] == "fifo"


def test_all_scheduled_is_exit_0(examples: Path, cli: Cli) -> None:
    answer = cli("schedule", "word-count.json", "--strategy", "ras-generic-old", "--json")
    assert answer.code == 0
    message = answer.json["topologies"][0]["message"]
    assert message.startswith("Running - Fully Scheduled by GenericResourceAwareStrategyOld")


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (["--priority", "fofi"], None, "did you mean 'fifo'?"),
        (["--strategy", "ras-defualt"], None, "did you mean 'ras-default'"),
        (["--pools", "none.yaml"], None, "none.yaml: cannot be read"),
        (["--pools", "p.yaml"], "[1]", "must be an object"),
        (["--pools", "p.yaml"], "ann: 3", "ann = 3: must be an object"),
        (["--pools", "p.yaml"], "ann: {cpu: -1}", "p.yaml: ann.cpu = -1: must be 0 or more"),
        (["--pools", "p.yaml"], "ann: {memory: 1}", "is not a resource of this cluster"),
    ],
)
def test_errors_are_one_line(
    examples: Path, cli: Cli, words: list[str], text: str | None, said: str
) -> None:
    if text is not None:
        Path("p.yaml").write_text(text)
    answer = cli("schedule", "shared-cluster.yaml", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert said in answer.err


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("cpu: 100, memory_mb: 1000}}", "cpu: null}}", "node n1 has no limit of cpu"),
        (
            "cluster:\n",
            "cluster:\n  matrix: [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]\n",
            "distances are given node by node",
        ),
    ],
)
def test_a_cluster_that_storm_cannot_express(
    examples: Path, cli: Cli, old: str, new: str, reason: str
) -> None:
    text = Path("shared-cluster.yaml").read_text()
    Path("other.yaml").write_text(text.replace(old, new))
    answer = cli("schedule", "other.yaml")
    assert (answer.code, answer.out) == (2, "")
    said = f"other.yaml: cluster: is not an instance that Storm's scheduler takes: {reason}"
    assert said in answer.err


def test_a_placement_that_breaks_rules_is_not_written(examples: Path, cli: Cli) -> None:
    """Only ``ras-constraint-solver`` looks at constraints between components."""
    text = Path("shared-cluster.yaml").read_text()
    apart = "  - id: trial\n    constraints: {max_per_node: {read: 1}}\n"
    Path("apart.yaml").write_text(text.replace("  - id: trial\n", apart))
    answer = cli("schedule", "apart.yaml", "--out", PLAN)
    assert answer.code == 1
    assert "breaks hard rules" in answer.out
    assert not Path(PLAN).exists()
    exact = cli("schedule", "apart.yaml", "--exact", "--json").json["exact"]
    assert exact["evictions"][0]["status"] == "not-answered"
    assert "breaks a hard rule" in exact["evictions"][0]["reason"]
