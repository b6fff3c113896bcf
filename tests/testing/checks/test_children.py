"""Code under test runs in other processes: what it does there stays there, and ends in time."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import limited_schedulers as limited
import pytest
from conftest import Cli

from slotwise.heuristics.method import MethodError
from slotwise.heuristics.run import run_method
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.testing.checks import search as searching
from slotwise.testing.checks.functions import CheckFailed, check, check_deterministic, check_valid
from slotwise.testing.checks.scheduler import as_scheduler
from slotwise.testing.checks.search import Budget, search
from slotwise.testing.checks.table import parse_demand
from slotwise.testing.checks.trial import Trial

INSTANCE = Instance(
    "i",
    Cluster((Node("n", "r", resources={"cpu": Decimal(50)}),)),
    (Topology("t", (Component("a", "bolt", 2),)),),
)


@pytest.mark.parametrize("name", ["changes_its_input", "SPOILS"])
def test_a_change_of_the_input_is_a_finding_and_saved(name: str, cli: Cli, tmp_path: Path):
    words = ("--check", "order", "--check", "valid", "--examples", 10, "--save", tmp_path)
    answer = cli("test-scheduler", f"limited_schedulers:{name}", *words, "--json")
    assert answer.code == 1, answer
    for row in answer.json["checks"]:
        assert row["kinds"] == ["changes its input"]
        assert row["finding"].startswith("changes its input: cluster.nodes[0].resources.")
        assert Path(row["file"]).exists()


def test_a_local_function_cannot_change_the_instance_either():
    def spoils(instance: Instance) -> Refusal:
        object.__setattr__(instance, "name", "other")
        return Refusal("no")

    with pytest.raises(CheckFailed, match=r"changes its input: name was .*, and is other"):
        check_valid(spoils, max_examples=5, seed=0)


def test_a_method_of_another_package_gets_a_copy():
    problem = compile_problem(INSTANCE)
    assert isinstance(run_method(problem, limited.SPOILS, 0), Placement)
    assert problem.instance.cluster.nodes[0].resources == {"cpu": 50}


@pytest.mark.slow
@pytest.mark.parametrize("demand", ["deterministic", "gap<=1"])
def test_an_order_of_hashes_is_found_by_default(demand: str, monkeypatch: pytest.MonkeyPatch):
    """`gap` asks with one seed of hashing alone, and so is the same from run to run."""
    monkeypatch.setattr(searching, "SHRINK_S", 0.0)  # each step of it starts processes
    found = [
        search(
            parse_demand(demand),
            Trial(as_scheduler(limited.keeps_an_order_of_hashes)),
            budget=Budget(20, 0),
        )
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert (found[0].failure is None) == (demand != "deterministic")


def test_a_command_is_asked_with_other_seeds_of_hashing(tmp_path: Path):
    program = tmp_path / "hashes.py"
    program.write_text(
        "import json, os, sys\n"
        "json.dump({'refused': os.environ['PYTHONHASHSEED'] + str(hash('a'))}, sys.stdout)\n"
    )
    scheduler = as_scheduler(f"cmd:{sys.executable} {program}")
    answers = [scheduler.ask(INSTANCE, 20, seed) for seed in (1, 1, 2)]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.slow
@pytest.mark.parametrize("is_local", [False, True])
def test_a_loop_in_native_code_ends_at_its_limit(is_local: bool):
    def local(instance: Instance) -> Placement:
        limited.loops_in_native_code(instance)
        raise AssertionError

    code = local if is_local else limited.loops_in_native_code
    scheduler = as_scheduler(code)
    for _ in range(2):
        with pytest.raises(MethodError, match=r"gave no answer within 0.2 s") as raised:
            scheduler.ask(INSTANCE, 0.2, 1)
        assert raised.value.timed_out


@pytest.mark.slow
def test_a_process_that_dies_is_a_finding():
    with pytest.raises(CheckFailed, match="breaks down: kills_its_process ended its process by"):
        check(limited.kills_its_process, "complete", max_examples=5, seed=0)


@pytest.mark.slow
def test_every_rule_that_breaks_is_reported(cli: Cli, tmp_path: Path):
    with pytest.raises(CheckFailed) as failed:
        check_valid(limited.breaks_two_rules, max_examples=30, seed=0)
    kinds = [one.finding.kinds for one in failed.value.failures]
    assert sorted(kinds) == [("heap",), ("slots",)]
    assert str(failed.value).count("Reproduce with: ") == 2
    words = ("--check", "valid", "--examples", 30, "--seed", 0, "--save", tmp_path)
    answer = cli("test-scheduler", "limited_schedulers:breaks_two_rules", *words, "--json")
    (row,) = answer.json["checks"]
    assert sorted(one["kinds"] for one in row["failures"]) == [["heap"], ["slots"]]
    assert len({one["file"] for one in row["failures"]}) == 2


def test_one_instance_tells_all_rules_that_it_breaks():
    tight = Instance(
        "tight",
        Cluster((Node("n", "r", slots=0, resources={"cpu": Decimal(1)}),)),
        (Topology("t", (Component("a", "bolt", 2, {"cpu": Decimal(5)}),)),),
    )
    finding = parse_demand("valid").holds(lambda _: Placement((0, 0), (0, 0)), tight)
    assert finding is not None
    assert finding.kinds == ("capacity", "slots")
    assert "breaks capacity: " in finding.message
    assert "breaks slots: " in finding.message


def test_the_state_of_a_scheduler_stays_from_call_to_call():
    calls: list[int] = []

    def counts(instance: Instance) -> Refusal | Placement:
        calls.append(1)
        count = len(instance.task_names())
        return Refusal("even") if len(calls) % 2 else Placement((0,) * count, (0,) * count)

    with pytest.raises(CheckFailed, match="then with a"):
        check_deterministic(counts, max_examples=5, seed=0)
    assert not calls
