"""What an engineer asks who has a cluster already: what it costs now, and what to move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

FILE = "running.json"


def changed(**parts: Any) -> str:
    """Write the example with some keys changed; return the file's name."""
    document = json.loads(Path(FILE).read_text()) | parts
    Path("changed.json").write_text(json.dumps(document))
    return "changed.json"


def overfull() -> dict[str, Any]:
    """Everything in one worker, which has too much heap, on a node with too little cpu."""
    running = json.loads(Path(FILE).read_text())["running"]["wc"]
    return {"wc": {task: {"node": "n1", "worker": 1} for task in running}}


def document_of(answer: Any) -> dict[str, Any]:
    assert answer.err == ""
    return json.loads(answer.out)


def columns(text: str, first: str) -> list[list[str]]:
    """The rows of the tables in a text whose first column begins with `first`."""
    lines = [line.split() for line in text.splitlines()]
    return [words for words in lines if words and words[0].startswith(first)]


def test_solve_shows_cost_now_best_bound_and_moves(cli: Cli, examples: Path) -> None:
    answer = cli("solve", FILE)
    assert answer.code == 0
    assert "What runs now keeps every hard rule." in answer.out
    assert columns(answer.out, "term") == [["term", "now", "best", "bound", "gap"]]
    assert columns(answer.out, "network")[0][1:4] == ["38", "23", "23"]
    moves = columns(answer.out, "wc/")
    assert f"Moves: {len(moves)} of the 9 running tasks." in answer.out
    assert "Fewer moves may do" in answer.out
    running = json.loads(Path(FILE).read_text())["running"]["wc"]
    for task, *places in moves:
        home = running[task.removeprefix("wc/")]
        assert places[:2] == [home["node"], str(home["worker"])]
        assert places[2:] != places[:2]


def test_the_table_has_the_length_of_moved(cli: Cli, examples: Path) -> None:
    found = document_of(cli("solve", FILE, "--json", "--quiet"))
    assert [term["value"] for term in found["running"]["objective"]] == [0, 38]
    assert found["running"]["valid"]
    assert found["running"]["violations"] == []
    assert found["running"]["parts"]["moved"] == 0
    Path("answer.json").write_text(json.dumps(found))
    verdict = document_of(cli("judge", FILE, "answer.json", "--json"))
    assert verdict["parts"]["moved"] == len(found["moves"]) == 5
    places = found["placement"]["topologies"]["wc"]
    running = json.loads(Path(FILE).read_text())["running"]["wc"]
    assert {move["task"]: (move["from"], move["to"]) for move in found["moves"]} == {
        f"wc/{task}": (running[task], place)
        for task, place in places.items()
        if place != running[task]
    }


@pytest.mark.slow
def test_equal_nodes_and_workers_are_no_moves(cli: Cli, examples: Path) -> None:
    """What runs is optimal: however an engine names nodes, workers and tasks, nothing moves."""
    for seed in range(2):
        best = document_of(cli("solve", FILE, "--seed", seed, "--json", "--quiet"))["placement"]
        name = changed(running=best["topologies"])
        for engine in ("configurations", "cp-sat"):
            again = cli("solve", name, "--engine", engine)
            assert "Moves: none of the 9 running tasks." in again.out


def test_with_moved_as_a_term(cli: Cli, examples: Path) -> None:
    name = changed(objective={"terms": ["network", "moved"]})
    answer = cli("solve", name)
    assert columns(answer.out, "moved")[0][1:4] == ["0", "5", "5"]
    assert len(columns(answer.out, "wc/")) == 5
    assert "Fewer moves may do" not in answer.out


def test_topologies_left_out_are_moves(cli: Cli, examples: Path) -> None:
    document = json.loads(Path(FILE).read_text())
    nodes = [
        {"id": f"n{i}", "rack": "r", "resources": {"cpu": 60, "memory_mb": 10**6}}
        for i in (1, 2, 3)
    ]
    name = changed(
        cluster={"nodes": nodes},
        objective={"terms": ["rejected"]},
        topologies=[
            {**document["topologies"][0], "priority": 1},
        ],
    )
    answer = cli("solve", name)
    assert len(columns(answer.out, "wc/")) == 9
    assert answer.out.count("(left out)") == 9
    found = document_of(cli("solve", name, "--json", "--quiet"))
    assert [move["to"] for move in found["moves"]] == [None] * 9


def test_without_running_nothing_is_said(cli: Cli, examples: Path) -> None:
    answer = cli("solve", "word-count.json")
    assert "Moves" not in answer.out
    assert "now" not in answer.out
    found = document_of(cli("solve", "word-count.json", "--json", "--quiet"))
    assert found["running"] is None
    assert found["moves"] is None


# judge --running


def test_judge_what_runs(cli: Cli, examples: Path) -> None:
    answer = cli("judge", FILE, "--running")
    assert answer.code == 0
    assert "Valid: every hard rule holds." in answer.out
    assert columns(answer.out, "network") == [["network", "38"]]
    piped = cli("judge", "-", "--running", "--json", stdin=Path(FILE).read_text())
    assert document_of(piped)["parts"] == {
        "overload": 0,
        "network": 38,
        "rejected": 0,
        "nodes": 3,
        "workers": 3,
        "moved": 0,
        "linear": 0,
    }


def test_judge_what_runs_and_breaks_rules(cli: Cli, examples: Path) -> None:
    answer = cli("judge", changed(running=overfull()), "--running")
    assert answer.code == 1
    assert "capacity: node n1, cpu: 350 needed, 200 available" in answer.out


# files that hold a placement


@pytest.mark.parametrize(
    "words", [["solve", FILE, "--quiet"], ["place", FILE, "--with", "round-robin"]], ids=" ".join
)
def test_answers_are_taken_as_placements(cli: Cli, examples: Path, words: list[str]) -> None:
    text = cli(*words, "--json").out
    Path("answer.json").write_text(text)
    expected = json.loads(text)["objective"]
    for answer in (
        cli("judge", FILE, "answer.json", "--json"),
        cli("judge", FILE, "-", "--json", stdin=text),
    ):
        assert answer.code == 0
        values = [term["value"] for term in document_of(answer)["objective"]]
        assert values == [term["value"] for term in expected]
    for hint, stdin in (("answer.json", ""), ("-", text)):
        solved = cli("solve", FILE, "--hint", hint, "--json", "--quiet", stdin=stdin)
        assert document_of(solved)["objective"][1]["value"] == 23


def test_the_answer_to_a_limit_of_moves_is_one_of_the_file(cli: Cli, examples: Path) -> None:
    text = cli("solve", FILE, "--max-moved", 2, "--json", "--quiet").out
    assert len(json.loads(text)["moves"]) == 2
    assert cli("judge", FILE, "-", stdin=text).code == 0
    again = cli("solve", FILE, "--max-moved", 2, "--hint", "-", "--quiet", stdin=text)
    assert again.code == 0


def test_a_placement_without_a_hash_is_taken_with_a_note(cli: Cli, examples: Path) -> None:
    cli("solve", FILE, "--out", "plan.json", "--quiet")
    plan = json.loads(Path("plan.json").read_text())
    del plan["instance"]
    Path("plan.json").write_text(json.dumps(plan))
    for words in (
        ["judge", FILE, "plan.json", "--json"],
        ["solve", FILE, "--hint", "plan.json", "--quiet", "--json"],
    ):
        answer = cli(*words)
        assert answer.code == 0
        assert answer.err == (
            "slotwise: plan.json: has no `instance` (hash); it is taken for a placement of "
            "'word-count-running'\n"
        )
        json.loads(answer.out)


# infeasible


def test_a_limit_of_moves_is_named_before_capacity(cli: Cli, tmp_path: Path) -> None:
    """Task `a` needs all of `big`, where `b` runs: enough capacity, and one move would do."""
    components = [
        {"id": name, "kind": "spout", "parallelism": 1, "resources": {"cpu": cpu}}
        for name, cpu in (("a", 60), ("b", 40))
    ]
    nodes = [
        {"id": name, "rack": "r", "slots": 4, "resources": {"cpu": cpu}}
        for name, cpu in (("big", 60), ("small", 40))
    ]
    file = tmp_path / "moves.json"
    document = {
        "format": "slotwise.instance/1",
        "name": "moves",
        "cluster": {"nodes": nodes},
        "topologies": [{"id": "t", "components": components}],
        "running": {"t": {"b[0]": {"node": "big", "worker": 0}}},
        "objective": {"terms": ["network"]},
    }
    file.write_text(json.dumps(document))
    answer = cli("solve", file, "--max-moved", 0, "--quiet")
    assert answer.code == 1
    said = " ".join(answer.out.split())
    assert said.startswith("Proven infeasible: at most 0 running tasks may move")
    assert said.index("Allow more moves") < said.index("add capacity")
    assert cli("solve", file, "--max-moved", 1, "--quiet").code == 0


@pytest.mark.parametrize("limit", [["--max-moved", "0"], []])
def test_infeasible_because_what_runs_breaks_rules(
    cli: Cli, examples: Path, limit: list[str]
) -> None:
    terms = ["overload", "network"]
    objective = {"terms": terms} if limit else {"terms": terms, "limits": {"moved": 0}}
    name = changed(running=overfull(), objective=objective)
    answer = cli("solve", name, *limit)
    assert answer.code == 1
    said = " ".join(answer.out.split())
    assert "What runs now breaks hard rules: capacity (1), heap (1)." in said
    assert "capacity: node n1, cpu: 350 needed, 200 available" in said
    assert "At most 0 running tasks may move" in said
    found = document_of(cli("solve", name, *limit, "--json", "--quiet"))
    assert found["status"] == "infeasible"
    assert found["moves"] is None
    assert {v["rule"] for v in found["running"]["violations"]} == {"capacity", "heap"}


def test_feasible_where_what_runs_breaks_rules(cli: Cli, examples: Path) -> None:
    answer = cli("solve", changed(running=overfull()))
    assert answer.code == 0
    assert "What runs now breaks hard rules" in answer.out
    assert "may move" not in answer.out


# bad input


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["judge", FILE], ["PLAN", "--running"]),
        (["judge", FILE, "plan.json", "--running"], ["PLAN, --running: give one, ", "not both"]),
        (
            ["judge", "word-count.json", "--running"],
            ["--running: needs an instance", "`instance.running`"],
        ),
        (["judge", "-", "-"], ["stdin"]),
        (["solve", "-", "--hint", "-"], ["stdin", "--hint"]),
        (["solve", "word-count.json", "--max-moved", "1"], ["--max-moved = 1", "`running`"]),
        (["judge", "odd.json", "--running"], ["odd.json: running.wc.lines[9]", "a task"]),
        (["solve", "odd.json"], ["odd.json: running.wc.lines[9]", "a task"]),
        (["judge", FILE, "refused.json"], ["refused.json: placement: is missing", "'refused'"]),
        (["solve", FILE, "--hint", "refused.json"], ["refused.json: placement: is missing"]),
        (["judge", FILE, "other.json"], ["other.json: placement.instance", "another instance"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_bad_input(cli: Cli, examples: Path, words: list[str], fragments: list[str]) -> None:
    odd = json.loads(Path(FILE).read_text())
    odd["running"]["wc"]["lines[9]"] = {"node": "n1", "worker": 0}
    Path("odd.json").write_text(json.dumps(odd))
    Path("refused.json").write_text('{"status": "refused", "reason": "x", "placement": null}')
    other = {"format": "slotwise.placement/1", "instance": "sha256:0", "topologies": {}}
    Path("other.json").write_text(json.dumps({"status": "optimal", "placement": other}))
    answer = cli(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    for fragment in fragments:
        assert fragment in answer.err
