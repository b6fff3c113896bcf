"""The command ``predict``, for people and as JSON, with its exit codes and messages."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import slotwise
from slotwise.models.prediction import prediction


@pytest.fixture
def plans(cli: Cli, examples: Path) -> None:
    """Two placements of the example: packed.json on two nodes, spread.json on four."""
    for method, path in (("r-storm", "packed.json"), ("round-robin", "spread.json")):
        assert cli("place", "clicks.json", "--with", method, "--out", path).code == 0


def changed(path: str, *spot: str | int, **values: Any) -> str:
    """Write the example with other values at a spot; return the placement on it that is packed."""
    document = json.loads(Path("clicks.json").read_text())
    part: Any = document
    for key in spot:
        part = part[key]
    part |= values
    Path(path).write_text(json.dumps(document))
    places = slotwise.read_placement("packed.json", "clicks.json").to_dict(
        slotwise.read_instance("clicks.json")
    )
    plan = {"format": "slotwise.placement/1", "topologies": places}
    Path("plan.json").write_text(json.dumps(plan))
    return "plan.json"


@pytest.mark.usefixtures("plans")
def test_a_prediction_as_json_is_that_of_python(cli: Cli) -> None:
    answer = cli("predict", "clicks.json", "packed.json", "--json")
    assert answer.code == 0
    found = slotwise.predict("clicks.json", "packed.json")
    (spout,) = answer.json["spouts"]
    assert spout["rate"] == 1000
    assert found.spouts[0].latency is not None
    assert spout["latency_ms"]["mean"] == found.spouts[0].latency.mean
    assert spout["bounds"] is None
    assert found.sustainable is not None
    assert Fraction(answer.json["sustainable"]["exact"]) == found.sustainable.multiple
    assert answer.json["bottleneck"]["kind"] == "cpu"
    assert answer.json["assumed"] == []


@pytest.mark.usefixtures("plans")
def test_a_prediction_for_people(cli: Cli) -> None:
    out = " ".join(cli("predict", "clicks.json", "packed.json").out.split())
    assert "the busiest resource is the cpu of n1: 59.1 %" in out
    assert "below 1.69133 times the given rates" in out
    (spout,) = slotwise.predict("clicks.json", "packed.json").spouts
    assert spout.latency is not None
    assert f"clicks/read 1000 {spout.latency.mean:.4g}" in out
    assert "n1 59.1 % 0.6 % 8.6 %" in out


@pytest.mark.usefixtures("plans")
def test_two_placements_beside_each_other(cli: Cli) -> None:
    words = ("predict", "clicks.json", "packed.json", "--compare", "spread.json")
    answer = cli(*words)
    assert answer.code == 0
    assert "clicks/read       1000     1000   +0.0 %" in answer.out
    found = cli(*words, "--json").json
    assert found["bottleneck"]["place"] == "n1"
    alone = cli("predict", "clicks.json", "spread.json", "--json").json
    del alone["instance"]
    assert found["compared"] == alone
    piped = cli("predict", "-", *words[2:], "--json", stdin=Path("clicks.json").read_text())
    assert piped.json == found


@pytest.mark.usefixtures("plans")
def test_rates_that_are_not_sustainable(cli: Cli) -> None:
    plan = changed("fast.json", "topologies", 0, "components", 0, rate=2000)
    answer = cli("predict", "fast.json", plan)
    assert answer.code == 1
    assert "Not sustainable: at the given rates queues grow without end." in answer.out
    found = cli("predict", "fast.json", plan, "--json")
    assert found.code == 1
    assert found.json["analysis"] is None
    assert found.json["spouts"][0]["latency_ms"] is None
    assert found.json["sustainable"]["multiple"] < 1


@pytest.mark.usefixtures("plans")
def test_a_node_over_its_memory_has_no_prediction(cli: Cli) -> None:
    resources = {"cpu": 200, "memory_mb": 1000}
    plan = changed("small.json", "cluster", "nodes", 1, resources=resources)
    answer = cli("predict", "small.json", plan)
    assert answer.code == 1
    assert "No prediction: 1 node over memory" in answer.out
    assert "n2: 1536 MB needed, 1000 available" in answer.out
    found = cli("predict", "small.json", plan, "--json").json
    assert found["over_memory"] == [{"node": "n2", "needed": 1536, "available": 1000}]
    assert found["spouts"] == []


@pytest.mark.usefixtures("examples")
def test_what_is_assumed_is_listed(cli: Cli) -> None:
    cli("place", "word-count.json", "--with", "r-storm", "--out", "plan.json")
    words = ("predict", "word-count.json", "plan.json", "--assume", "assumptions.json")
    answer = cli(*words)
    assert answer.code == 0
    assert "service_ms = 0.5, for topologies[0].components[0] and 2 more" in answer.out
    assumed = {one["key"]: one for one in cli(*words, "--json").json["assumed"]}
    assert assumed["delay_ms.rack"] == {"key": "delay_ms.rack", "value": 0.2, "where": ["cluster"]}
    assert "message_bytes" not in assumed


C, S = ("topologies", 0, "components", 1), ("topologies", 0, "streams", 0)
N = ("cluster", "nodes", 0)


@pytest.mark.parametrize(
    ("spot", "values", "message"),
    [
        ((*C[:-1], 0), {"rate": None}, "topologies[0].components[0].rate: is needed"),
        ((*C[:-1], 0), {"rate": 0}, "components[0].rate = 0: some spout must have a rate above 0"),
        (C, {"service_ms": None}, "topologies[0].components[1].service_ms: is needed"),
        (C, {"service_scv": None}, "topologies[0].components[1].service_scv: is needed"),
        (S, {"selectivity": None}, "topologies[0].streams[0].selectivity: is needed"),
        (S, {"tuple_bytes": None}, "topologies[0].streams[0].tuple_bytes: is needed"),
        (N, {"cores": None}, "cluster.nodes[0].cores: is needed"),
        (N, {"resources": {"memory_mb": 4096}}, "cluster.nodes[0].resources.cpu: is needed"),
        (N, {"resources": {"cpu": 0, "memory_mb": 4096}}, "resources.cpu = 0: has work"),
        (N, {"bandwidth_out_mbit_s": None}, "cluster.nodes[0].bandwidth_out_mbit_s: is needed"),
        (N, {"bandwidth_out_mbit_s": 0}, "bandwidth_out_mbit_s = 0: must be above 0"),
        (("cluster",), {"delay_ms": {"worker": 1}}, "cluster.delay_ms.rack: is needed"),
        (("cluster",), {"serialise_ms": {}}, "cluster.serialise_ms.worker: is needed"),
        (("topologies", 0), {"window": 0}, "topologies[0].window = 0: must be 1 or more"),
        (C, {"service_ms": float("nan")}, "components[1].service_ms = NaN: must be finite"),
        (
            ("topologies", 0),
            {
                "streams": [
                    {"from": "read", "to": "parse", "selectivity": 1},
                    {"from": "parse", "to": "count", "selectivity": 3},
                    {"from": "count", "to": "parse", "selectivity": 0.5},
                ]
            },
            "tuples multiply on this cycle; the product of its selectivities must be below 1, and",
        ),
    ],
)
@pytest.mark.usefixtures("plans")
def test_bad_input_is_one_line(
    cli: Cli, spot: tuple[str | int, ...], values: dict[str, Any], message: str
) -> None:
    answer = cli("predict", "bad.json", changed("bad.json", *spot, **values))
    assert answer.code == 2, answer.out
    assert answer.out == ""
    assert answer.err.splitlines()[-1].startswith("slotwise: bad.json: ")
    assert message in answer.err.splitlines()[-1]


@pytest.mark.usefixtures("plans")
def test_an_uplink_is_needed_where_racks_are_crossed(cli: Cli) -> None:
    document = json.loads(Path("clicks.json").read_text())
    document["cluster"]["uplink_mbit_s"] = {"r1": 100}
    spread = slotwise.read_placement("spread.json", "clicks.json")
    with pytest.raises(slotwise.InputError, match=r"^cluster\.uplink_mbit_s\.r2: is needed"):
        slotwise.predict(document, spread)
    assert slotwise.predict(document, slotwise.read_placement("packed.json", "clicks.json"))


@pytest.mark.usefixtures("plans")
def test_a_placement_or_what_runs(cli: Cli) -> None:
    answer = cli("predict", "clicks.json")
    assert answer.code == 2
    assert "give one, a placement or what runs now" in answer.err


@pytest.mark.usefixtures("plans")
def test_assumptions_are_checked(cli: Cli) -> None:
    Path("bad.json").write_text('{"format": "slotwise.assumptions/1", "cores": 0}')
    answer = cli("predict", "clicks.json", "packed.json", "--assume", "bad.json")
    assert answer.code == 2
    assert answer.err == "slotwise: bad.json: cores = 0: must be 1 or more\n"
    with pytest.raises(slotwise.InputError, match=r"^format: is missing"):
        slotwise.predict("clicks.json", "packed.json", assume={"cores": 1})


@pytest.mark.usefixtures("plans")
def test_an_approximation_that_has_not_settled_says_so_first(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cli("predict", "clicks.json", "packed.json")
    real = prediction.solve
    monkeypatch.setattr(prediction, "solve", lambda found: replace(real(found), settled=False))
    unsettled = cli("predict", "clicks.json", "packed.json")
    assert unsettled.out.startswith("Not settled: ")
    assert whole.out.splitlines()[0] in unsettled.out
    assert cli("predict", "clicks.json", "packed.json", "--json").json["settled"] is False


@pytest.mark.parametrize(("file", "says"), [("clicks.json", True), ("word-count.json", False)])
def test_solve_names_predict_where_the_instance_says_what_tuples_cost(
    cli: Cli, examples: Path, file: str, says: bool
) -> None:
    assert ("slotwise predict" in cli("solve", file, "--time-limit", "20").out) is says
