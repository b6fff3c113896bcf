"""The command ``simulate``, for people and as JSON, with its exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import slotwise

SHORT = ("--seconds", "1", "--warm-up", "0.5")


@pytest.fixture
def plan(cli: Cli, examples: Path) -> str:
    """A placement of the example on two nodes."""
    assert cli("place", "clicks.json", "--with", "r-storm", "--out", "packed.json").code == 0
    return "packed.json"


def changed(plan: str, *spot: str | int, **values: Any) -> tuple[str, str]:
    """Write the example with other values at a spot; return it and the same places for it."""
    document = json.loads(Path("clicks.json").read_text())
    part: Any = document
    for key in spot:
        part = part[key]
    part |= values
    Path("changed.json").write_text(json.dumps(document))
    instance = slotwise.read_instance("clicks.json")
    places = slotwise.read_placement(plan, instance).to_dict(instance)
    moved = {"format": "slotwise.placement/1", "topologies": places}
    Path("moved.json").write_text(json.dumps(moved))
    return "changed.json", "moved.json"


def test_a_simulation_as_json_is_that_of_python(cli: Cli, plan: str) -> None:
    answer = cli("simulate", "clicks.json", plan, *SHORT, "--seed", "7", "--json")
    assert answer.code == 0
    found = slotwise.simulate("clicks.json", plan, seconds=1, warm_up=0.5, seed=7)
    document = answer.json
    del document["instance"]
    assert document == json.loads(json.dumps(found.to_document()))
    (spout,) = document["spouts"]
    assert spout["completed"] > 500
    assert spout["rate"]["mean"] == pytest.approx(spout["completed"])
    assert spout["latency_ms"]["half_width"] < spout["latency_ms"]["mean"]


def test_the_same_seed_gives_the_same_run(plan: str) -> None:
    def document(seed: int) -> dict[str, Any]:
        found = slotwise.simulate("clicks.json", plan, seconds=1, warm_up=0.5, seed=seed)
        return found.to_document() | {"seed": None}

    assert document(1) == document(1)
    assert document(1) != document(2)


def test_a_simulation_for_people(cli: Cli, plan: str) -> None:
    answer = cli("simulate", "clicks.json", plan, *SHORT)
    assert answer.code == 0
    out = " ".join(answer.out.split())
    assert "tuples/s in all, in 1 simulated seconds after 0.5 to warm up" in out
    assert "The busiest resource is the cpu of n1:" in out
    assert "spout tuples/s +- ms +- tuples" in out
    assert "node cpu receiving sending" in out


def test_rates_that_are_not_sustainable(cli: Cli, plan: str) -> None:
    files = changed(plan, "topologies", 0, "components", 0, rate=2000)
    answer = cli("simulate", *files, *SHORT, "--json")
    assert answer.code == 1
    (spout,) = answer.json["spouts"]
    assert spout["latency_ms"] is None
    assert spout["rate"]["mean"] < 1900
    assert "Not sustainable" in cli("simulate", *files, *SHORT).out


def test_a_node_over_its_memory_is_not_simulated(cli: Cli, plan: str) -> None:
    resources = {"cpu": 200, "memory_mb": 1000}
    files = changed(plan, "cluster", "nodes", 1, resources=resources)
    answer = cli("simulate", *files, *SHORT)
    assert answer.code == 1
    assert "No simulation: 1 node over memory" in answer.out
    assert cli("simulate", *files, *SHORT, "--json").json["spouts"] == []


def test_what_is_assumed_is_listed(cli: Cli, examples: Path) -> None:
    cli("place", "word-count.json", "--with", "r-storm", "--out", "plan.json")
    words = ("simulate", "word-count.json", "plan.json", *SHORT, "--assume", "assumptions.json")
    answer = cli(*words)
    assert "service_ms = 0.5, for topologies[0].components[0] and 2 more" in answer.out


@pytest.mark.parametrize(
    ("spot", "values", "message"),
    [
        (("topologies", 0, "components", 0), {"rate": None}, "components[0].rate: is needed"),
        (("topologies", 0, "components", 1), {"service_scv": None}, "[1].service_scv: is needed"),
        (("topologies", 0, "streams", 0), {"tuple_bytes": None}, "[0].tuple_bytes: is needed"),
        (("cluster", "nodes", 0), {"cores": None}, "cluster.nodes[0].cores: is needed"),
        (("cluster",), {"delay_ms": {"worker": 1}}, "cluster.delay_ms.rack: is needed"),
        (("topologies", 0), {"window": 0}, "topologies[0].window = 0: must be 1 or more"),
    ],
)
def test_bad_input_is_one_line(
    cli: Cli, plan: str, spot: tuple[str | int, ...], values: dict[str, Any], message: str
) -> None:
    answer = cli("simulate", *changed(plan, *spot, **values), *SHORT)
    assert answer.code == 2, answer.out
    assert answer.out == ""
    assert answer.err.splitlines()[-1].startswith("slotwise: changed.json: ")
    assert message in answer.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seconds", "0"), "--seconds = 0.0: must be a finite number of simulated seconds above"),
        (("--seconds", "nan"), "--seconds = nan: must be a finite number"),
        (("--warm-up", "-1"), "--warm-up = -1.0: must be a finite number of simulated seconds, 0"),
        (("--seed", "-1"), "--seed = -1: must be from 0 to"),
    ],
)
def test_options_that_make_no_sense(
    cli: Cli, plan: str, words: tuple[str, ...], message: str
) -> None:
    answer = cli("simulate", "clicks.json", plan, *words)
    assert answer.code == 2
    assert message in answer.err


def test_a_placement_or_what_runs(cli: Cli, plan: str) -> None:
    answer = cli("simulate", "clicks.json")
    assert answer.code == 2
    assert "give one, a placement or what runs now" in answer.err


def test_without_simpy(cli: Cli, plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.models.simulation.simulation.find_spec", lambda name: None)
    answer = cli("simulate", "clicks.json", plan)
    assert answer.code == 2
    assert "pip install 'slotwise[simulation]'" in answer.err
