"""What runs now, in Python: its cost, the moves, and placements from answers of commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import slotwise
from slotwise.models.errors import InputError

FILE = "running.json"


@pytest.fixture
def instance(examples: Path) -> slotwise.Instance:
    return slotwise.read_instance(FILE)


def test_result_has_what_runs_and_the_moves(instance: slotwise.Instance) -> None:
    result = slotwise.solve(instance)
    assert int(result.running.parts["network"]) == 38
    assert len(result.moves) == result.verdict.parts["moved"] == 5
    for move in result.moves:
        topology, task = move.name.split("/")
        home, place = instance.running[topology][task], result.places[topology][task]
        assert move.before == (home.node, home.worker)
        assert move.after == (place.node, place.worker)
        assert (
            repr(move) == f"{move.name}: {home.node}/{home.worker} -> {place.node}/{place.worker}"
        )


@pytest.mark.slow
def test_fewer_moves_than_the_engine_s_are_an_optimum_with_the_same_certificate(
    instance: slotwise.Instance,
) -> None:
    result = slotwise.solve(instance, engine="cp-sat")
    assert result.status == "optimal"
    certificate = slotwise.certify(instance, result)
    assert slotwise.verify(instance, certificate).status == "placement verified"


def test_without_running_there_are_no_moves(examples: Path) -> None:
    result = slotwise.solve("word-count.json", engine="exhaustive")
    assert result.running is None
    assert result.moves == ()


def test_infeasible_where_what_runs_breaks_a_rule_and_may_not_move(examples: Path) -> None:
    data = json.loads(Path(FILE).read_text())
    data["topologies"][0]["components"][0]["resources"]["cpu"] = 140
    result = slotwise.solve(data, max_moved=0)
    assert result.status == "infeasible"
    assert result.moves == ()
    assert [v.rule for v in result.running.violations] == ["capacity", "capacity"]


def test_judge_what_runs(instance: slotwise.Instance) -> None:
    for given in (instance, FILE, slotwise.compile_problem(instance)):
        assert int(slotwise.judge(given, running=True).parts["network"]) == 38


def test_judge_takes_a_placement_or_what_runs(instance: slotwise.Instance) -> None:
    with pytest.raises(InputError, match=r"^placement, running: give one"):
        slotwise.judge(instance)
    with pytest.raises(InputError, match=r"^placement, running: .* not both$"):
        slotwise.judge(instance, instance.running, running=True)
    with pytest.raises(InputError, match=r"^running: needs an instance that says what is running"):
        slotwise.judge("word-count.json", running=True)


def test_answers_are_placements(instance: slotwise.Instance) -> None:
    placement = slotwise.place(instance, "r-storm")
    slotwise.write_placement("plan.json", instance, placement)
    answer = {"status": "feasible", "placement": json.loads(Path("plan.json").read_text())}
    Path("answer.json").write_text(json.dumps(answer))
    for given in (answer, json.dumps(answer), "answer.json", Path("answer.json")):
        assert slotwise.read_placement(given, instance) == placement
        hinted = slotwise.solve(instance, hint=given, max_moved=9)
        assert hinted.status == "optimal"
    with pytest.raises(InputError, match="placement: is missing from this answer"):
        slotwise.judge(instance, {"status": "infeasible", "placement": None})


def test_a_topology_may_be_called_placement(instance: slotwise.Instance) -> None:
    data = json.loads(Path(FILE).read_text())
    data["topologies"][0]["id"] = "placement"
    data["running"] = {"placement": data["running"]["wc"]}
    verdict = slotwise.judge(data, data["running"])
    assert int(verdict.parts["network"]) == 38


def test_a_placement_without_a_hash_is_taken_with_a_warning(instance: slotwise.Instance) -> None:
    running = json.loads(Path(FILE).read_text())["running"]
    plan = {"format": "slotwise.placement/1", "topologies": running}
    with pytest.warns(UserWarning, match="it is taken for a placement of 'word-count-running'"):
        assert slotwise.judge(instance, plan).valid
