"""``--without-node`` and ``--spare``: where tasks go when machines die."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import slotwise

FILE = "machines.json"
ORPHANS = ["wc/lines[1]", "wc/split[3]", "wc/count[3]"]


def written(name: str, document: dict[str, Any]) -> str:
    Path(name).write_text(json.dumps(document))
    return name


def test_orphans_come_first_then_what_moves_gain(cli: Cli, examples: Path) -> None:
    answer = cli("rebalance", FILE, "--without-node", "m2", "--max-moves", 1, "--out", "plan.json")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("Orphans: 3 tasks of m2; a place for each, 0 other moves (network ")
    heads = ("New places with 0 other moves, proven best:", "Best cost for each number of moves:")
    assert [line for line in lines if line in heads] == list(heads)
    assert cli("judge", FILE, "plan.json").code == 0  # a placement of the file as it is


def test_json_has_the_orphans(cli: Cli, examples: Path) -> None:
    found = cli("rebalance", FILE, "--without-node", "m2", "--max-moves", 0, "--json").json
    assert [row["task"] for row in found["orphans"]] == ORPHANS
    assert {row["from"]["node"] for row in found["orphans"]} == {"m2"}
    assert all(row["to"]["node"] != "m2" for row in found["orphans"])
    assert [move["task"] for move in found["moves"] if move["from"] is None] == [
        move["task"] for move in found["moves"]
    ]
    assert found["front"][0]["status"] == "optimal"
    assert found["front"][0]["objective"][0]["value"] == 120


def test_solve_takes_it_too(cli: Cli, examples: Path) -> None:
    answer = cli(
        *("solve", FILE, "--without-node", "m2", "--max-moved", 0, "--quiet", "--json"),
        *("--out", "plan.json"),
    )
    assert answer.code == 0
    assert answer.json["objective"][0]["value"] == 120
    assert cli("judge", FILE, "plan.json", "--json").json["parts"]["network"] == 120


def test_a_node_that_running_names_and_the_cluster_lacks_is_noted(cli: Cli, examples: Path) -> None:
    text = Path(FILE).read_text().replace('"m2", "worker"', '"m22", "worker"')
    Path("misspelt.json").write_text(text)
    answer = cli("judge", "misspelt.json", "--running")
    said = "running names node 'm22', which the cluster lacks: 3 tasks orphaned; did you mean 'm2'?"
    assert said in answer.err
    with pytest.warns(UserWarning, match="running names node 'm22'"):
        slotwise.read_instance("misspelt.json")


def test_a_placement_of_the_cluster_with_the_machine_is_taken(cli: Cli, examples: Path) -> None:
    cli("place", FILE, "--with", "round-robin", "--out", "now.json")
    less = json.loads(Path(FILE).read_text())
    del less["running"]
    less["cluster"]["nodes"] = [one for one in less["cluster"]["nodes"] if one["id"] != "m2"]
    answer = cli("rebalance", written("less.json", less), "now.json", "--max-moves", 0)
    assert answer.code == 0
    assert "names node 'm2', which the cluster lacks: 3 tasks orphaned" in answer.err
    assert answer.out.startswith("Orphans: 3 tasks of m2; a place for each, 0 other moves")
    less["name"] = "other"
    del less["cluster"]["nodes"][0]["slots"]
    cli("place", written("other.json", less), "--with", "round-robin", "--out", "theirs.json")
    refused = cli("rebalance", "less.json", "theirs.json")  # all its nodes are there
    assert refused.code == 2
    assert "is the hash of another instance" in refused.err


def test_unknown_machines_are_refused(cli: Cli, examples: Path) -> None:
    for command in ("solve", "rebalance"):
        answer = cli(command, FILE, "--without-node", "m2,m7")
        assert answer.code == 2
        assert "--without-node = 'm7': is not a node; did you mean 'm" in answer.err
    assert cli("rebalance", FILE, "--without-node", "m2,").code == 2


def test_no_name_is_refused(cli: Cli, examples: Path) -> None:
    for command in ("solve", "rebalance", "verify", "explain"):
        plan = ["c.json"] if command == "verify" else []
        answer = cli(command, FILE, *plan, "--without-node", "")
        assert answer.code == 2
        assert "--without-node = '': must be ids of nodes" in answer.err


def test_only_a_search_that_follows_is_announced(cli: Cli, examples: Path) -> None:
    lost = ("rebalance", FILE, "--without-node", "m2", "--max-moves", 0)
    first = cli(*lost, "--method", "r-storm").out.splitlines()[0]
    assert first.startswith("Orphans: 3 tasks of m2; a place for each, 0 other moves (")
    assert first.endswith(").")
    assert cli(*lost).out.splitlines()[0].endswith("; looking for better ones.")
    assert "a place for each" not in cli(*lost, "--quiet").out


def test_spare_counts_tasks_that_wait_already(examples: Path) -> None:
    given = slotwise.read_instance(FILE)
    here = {one.name: one.orphans for one in slotwise.spare(given, time_limit_s=20).losses}
    found = slotwise.spare(given, without_nodes=["m2"], time_limit_s=20)
    after = {one.name: one.orphans for one in found.losses if one.kind == "node"}
    assert len(ORPHANS) == here["m2"]
    assert after == {name: here[name] + here["m2"] for name in after}


def test_spare_has_the_worst_loss_first(cli: Cli, examples: Path) -> None:
    answer = cli("rebalance", FILE, "--spare", "--json")
    assert answer.code == 1
    losses = answer.json["losses"]
    assert [one["name"] for one in losses[:3]] == ["r1", "r2", "r3"]
    assert {one["status"] for one in losses[:3]} == {"impossible"}
    short = {"what": "cpu", "where": "in all", "needed": 760, "available": 720}
    assert losses[0]["missing"] == [short]
    assert {(one["status"], one["moves"]) for one in losses[3:]} == {("placed", 0)}


@pytest.mark.parametrize(
    ("option", "value"),
    [("--out", "p.json"), ("--svg", "c.svg"), ("--method", "nosuch"), ("--parking", 1)],
)
def test_spare_takes_no_options_of_a_plan(
    cli: Cli, examples: Path, option: str, value: str | int
) -> None:
    answer = cli("rebalance", FILE, "--spare", option, value)
    assert (answer.code, answer.out) == (2, "")
    assert f"{option} = {value!r}: cannot be used with --spare" in answer.err


def test_spare_leaves_open_what_it_does_not_reach_in_time(examples: Path) -> None:
    found = slotwise.spare(FILE, time_limit_s=1e-6)
    assert {one.status for one in found.losses} == {"open"}
    assert {one.name: one.orphans for one in found.losses}["m2"] == len(ORPHANS)


def test_first_places_end_at_the_time_limit(cli: Cli, examples: Path) -> None:
    firsts: list[Any] = []
    slotwise.rebalance(FILE, without_nodes=["m2"], on_first=firsts.append, time_limit_s=1e-6)
    assert [first.verdict for first in firsts] == [None]
    lost = ("rebalance", FILE, "--without-node", "m2", "--max-moves", 0)
    first = cli(*lost, "--time-limit", "0.000001").out.splitlines()[0]
    assert first == "Orphans: 3 tasks of m2; no place found at once, the search goes on."


def test_spare_counts_the_fewest_moves(examples: Path) -> None:
    data = json.loads(Path("machines.json").read_text())
    data["cluster"]["nodes"] = [
        {"id": name, "rack": "r", "slots": 4, "resources": {"cpu": cpu}}
        for name, cpu in (("big", 60), ("small", 40), ("lost", 60))
    ]
    parts = [("a", 60), ("b", 40)]
    data["topologies"] = [
        {
            "id": "t",
            "components": [
                {"id": key, "kind": "spout", "parallelism": 1, "resources": {"cpu": cpu}}
                for key, cpu in parts
            ],
        }
    ]
    data["running"] = {
        "t": {"a[0]": {"node": "lost", "worker": 0}, "b[0]": {"node": "big", "worker": 0}}
    }
    found = {one.name: one for one in slotwise.spare(data, time_limit_s=20).losses}
    lost = found["lost"]  # its task needs all of `big`, so the one that runs there moves
    assert (lost.status, lost.moves, lost.fewest) == ("placed", 1, 1)
    strict = slotwise.spare(data, max_moves=0, time_limit_s=20)
    assert (strict.losses[0].name, strict.losses[0].status) == ("lost", "impossible")
    (missing,) = strict.losses[0].missing
    assert (missing.what, missing.where) == ("cpu", "t/a[0]")
    assert [int(missing.needed), int(missing.available)] == [60, 40]


@pytest.fixture
def no_room(examples: Path) -> str:
    """The six machines with 150 points of cpu each: 760 are needed, five of them have 750."""
    document = json.loads(Path(FILE).read_text())
    for node in document["cluster"]["nodes"]:
        node["resources"]["cpu"] = 150
    return written("no-room.json", document)


def test_a_loss_that_no_moves_repair_is_said_and_explained(cli: Cli, no_room: str) -> None:
    moved = cli("rebalance", no_room, "--without-node", "m2", "--max-moves", 0, "--time-limit", 20)
    assert moved.code == 1
    assert "Orphans: proven to have no place, whatever moves." in moved.out
    assert "unless other tasks move" not in moved.out
    lost = ("--without-node", "m2")
    answer = cli("explain", no_room, *lost, "--time-limit", 5)
    assert "All tasks need 760 cpu, but all nodes have 750: 10 short." in answer.out
    found = slotwise.explain(no_room, without_nodes=["m2"], time_limit_s=5)
    assert found.status == "infeasible"
    refused = cli("explain", FILE, "plan.json", *lost)
    assert refused.code == 2
    assert "--without-node = 'm2': takes no PLACEMENT" in refused.err


@pytest.mark.parametrize("method", [(), ("--with", "r-storm")])
def test_a_plan_of_an_explanation_is_one_of_the_file(
    cli: Cli, examples: Path, method: tuple[str, ...]
) -> None:
    words = ("explain", FILE, *method, "--without-node", "m2", "--time-limit", 20)
    answer = cli(*words, "--out", "plan.json", "--json")
    assert answer.code == 0
    assert cli("judge", FILE, "plan.json").code == 0
    assert answer.json["placement"] == json.loads(Path("plan.json").read_text())


@pytest.mark.slow
def test_the_plan_that_a_method_missed_is_one_of_the_file(cli: Cli, examples: Path) -> None:
    document = json.loads(Path("tight.json").read_text())
    spare = document["cluster"]["nodes"][0] | {"id": "n0"}
    document["cluster"]["nodes"].insert(0, spare)
    words = ("explain", written("spare.json", document), "--with", "round-robin")
    answer = cli(*words, "--without-node", "n0", "--out", "plan.json", "--json")
    assert answer.code == 1
    assert cli("judge", "spare.json", "plan.json").code == 0
    plan = json.loads(Path("plan.json").read_text())
    assert answer.json["missed"] == plan
    for other in (answer.json["placement"], answer.json["nearest"]["placement"]):
        assert other["instance"] == plan["instance"]


def test_a_certificate_without_a_node_is_verified(cli: Cli, examples: Path) -> None:
    lost = ("--without-node", "m2", "--max-moved", 0)
    assert cli("solve", FILE, *lost, "--quiet", "--certificate", "c.json").code == 0
    assert cli("verify", FILE, "c.json", *lost).code == 0
    assert cli("verify", FILE, "c.json").code == 1


def test_ids_are_not_a_text(examples: Path) -> None:
    with pytest.raises(slotwise.InputError, match=r"must be ids of nodes, such as \['m2'\]"):
        slotwise.rebalance(FILE, without_nodes="m2")
