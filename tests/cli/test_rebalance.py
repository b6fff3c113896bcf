"""The command ``rebalance``: moves, fronts, plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

import slotwise

FILE, SWAP, SWAP_NOW = "running.json", "swap.json", "swap-now.json"


def columns(out: str, first: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines() if line.split()[:1] == [first]]


def test_the_front_the_costs_and_the_moves(cli: Cli, examples: Path) -> None:
    answer = cli("rebalance", FILE, "--max-moves", 3)
    assert answer.code == 0
    assert columns(answer.out, "0") == [["0", "0", "0", "38", "38", "yes"]]
    assert columns(answer.out, "free")[0][3:] == ["23", "23", "yes"]
    assert columns(answer.out, "network") == [["network", "38", "25", "13"]]
    assert "Moves: 3, in this order" in answer.out


def test_the_plan_is_a_placement(cli: Cli, examples: Path) -> None:
    answer = cli("rebalance", FILE, "--max-moves", 2, "--out", "plan.json", "--json")
    document, plan = answer.json, json.loads(Path("plan.json").read_text())
    assert plan["format"] == "slotwise.plan/1"
    assert plan["ordered"] is document["ordered"] is True
    assert plan["moves"] == document["moves"]
    assert sum(move["saves"]["network"] for move in plan["moves"]) == 38 - 32
    assert {"task", "from", "to", "saves", "parking"} == set(plan["moves"][0])
    for given, stdin in (("plan.json", ""), ("-", answer.out)):
        judged = cli("judge", FILE, given, "--json", stdin=stdin)
        assert judged.code == 0
        assert judged.json["parts"]["moved"] == 2
        assert judged.json["parts"]["network"] == 32
    assert cli("solve", FILE, "--hint", "plan.json", "--quiet").code == 0


def test_a_broken_plan_file_is_refused(cli: Cli, examples: Path) -> None:
    cli("rebalance", FILE, "--max-moves", 1, "--out", "plan.json")
    plan = json.loads(Path("plan.json").read_text())
    del plan["moves"][0]["task"]
    Path("plan.json").write_text(json.dumps(plan))
    answer = cli("judge", FILE, "plan.json")
    assert answer.code == 2
    assert "plan.json: moves[0].task: is missing" in answer.err


def test_json_has_the_front_and_the_free_optimum(cli: Cli, examples: Path) -> None:
    front = cli("rebalance", FILE, "--max-moves", 1, "--json").json["front"]
    assert [row["max_moves"] for row in front] == [0, 1, None]
    assert [row["objective"][1]["value"] for row in front] == [38, 35, 23]
    assert [row["bounds"][1]["bound"] for row in front] == [38, 35, 23]
    assert {row["status"] for row in front} == {"optimal"}


def test_a_placement_in_place_of_running(cli: Cli, examples: Path) -> None:
    cli("place", "word-count.json", "--with", "round-robin", "--out", "now.json")
    answer = cli("rebalance", "word-count.json", "now.json", "--max-moves", 1, "--out", "plan.json")
    assert answer.code == 0
    assert cli("judge", "word-count.json", "plan.json").code == 0


@pytest.mark.parametrize("method", ["stromax-reassign", "stromax-global", "r-storm", "ras-default"])
def test_methods(cli: Cli, examples: Path, method: str) -> None:
    answer = cli("rebalance", FILE, "--method", method, "--json")
    assert answer.code == 0
    assert answer.json["front"] is None
    assert answer.json["method"] == method
    assert answer.json["ordered"]


def test_a_method_that_moves_more_than_allowed(cli: Cli, examples: Path) -> None:
    answer = cli("rebalance", FILE, "--method", "r-storm", "--max-moves", 1)
    assert answer.code == 1
    assert "Broken: max_moved: cluster, tasks: 4 moved, 1 allowed" in answer.out


def test_swap_space_is_missing(cli: Cli, examples: Path) -> None:
    answer = cli("rebalance", SWAP, SWAP_NOW)
    assert answer.code == 1
    assert "2 more moves: proven to have no order" in answer.out
    assert columns(answer.out, "node") == [
        ["node", "n1", "capacity", "cpu", "30"],
        ["node", "n2", "capacity", "cpu", "30"],
    ]
    document = cli("rebalance", SWAP, SWAP_NOW, "--json").json
    assert document["ordered"] is False
    assert document["order_proven"] is True
    assert [one["missing"] for one in document["missing"]] == [30, 30]
    parked = cli("rebalance", SWAP, SWAP_NOW, "--parking", 1, "--json")
    assert parked.code == 0
    assert [move["parking"] for move in parked.json["moves"]] == [True, False, False]


def test_no_placement_within_so_many_moves(cli: Cli, examples: Path) -> None:
    document = json.loads(Path(FILE).read_text())
    document["topologies"][0]["components"][0]["resources"]["cpu"] = 140
    Path("grown.json").write_text(json.dumps(document))
    answer = cli("rebalance", "grown.json", "--max-moves", 0)
    assert answer.code == 1
    assert "proven: no placement within that many moves keeps all hard rules" in answer.out
    assert cli("rebalance", "grown.json", "--max-moves", 0, "--json").json["status"] == "infeasible"


def test_it_draws_the_front(cli: Cli, examples: Path) -> None:
    pytest.importorskip("matplotlib")
    answer = cli("rebalance", FILE, "--max-moves", 2, "--svg", "front.svg")
    assert answer.code == 0
    text = Path("front.svg").read_text()
    assert "best cost" in text
    assert "moves" in text


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["word-count.json"], "INSTANCE: needs an instance that says what is running"),
        ([FILE, "--method", "best"], "best"),
        ([FILE, "--max-moves", "-1"], "--max-moves = -1"),
        ([FILE, "--parking", "-1"], "--parking = -1"),
        ([FILE, "--svg", "front.png"], "--svg = 'front.png': must end in .svg"),
        (["-", "-"], "stdin"),
        ([FILE, "--out", "nowhere/plan.json"], "--out"),
    ],
    ids=str,
)
def test_bad_input(cli: Cli, examples: Path, words: list[str], fragment: str) -> None:
    answer = cli("rebalance", *words)
    assert answer.code == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    assert fragment in answer.err


def test_from_python(examples: Path) -> None:
    done = slotwise.rebalance(FILE, max_moves=2)
    assert repr(done).startswith("Rebalanced word-count-running by optimal: optimal, 2 moves")
    assert done.violations == ()
    refused = slotwise.rebalance("word-count.json", SMALL, method="stromax-reassign")
    assert refused.status == "refused"
    assert refused.plan is None


SMALL = {"wc": {"lines[0]": {"node": "n1", "worker": 0}}}
"""One task runs; the others do not yet."""
