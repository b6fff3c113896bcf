"""Ten schedulers with a planted fault each are found out, on small instances, and again."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import Any

import planted_faults
import pytest
from conftest import Cli
from planted_faults import PLANTED, Planted, exact, first_fit

from slotwise.api.scheduler_tests import on_random_instances, select_checks
from slotwise.models.instance_file import read_instance
from slotwise.testing.checks import search
from slotwise.testing.checks.functions import check, check_moves

PROGRAM = planted_faults.__file__
BY_NAME = {one.scheduler.__name__: one for one in PLANTED}


@dataclass(frozen=True)
class Found:
    """A planted fault and the row of the report on it."""

    planted: Planted
    row: dict[str, Any]


@pytest.fixture(scope="module", params=list(BY_NAME))
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What the command finds out about a planted fault."""
    planted = BY_NAME[str(request.param)]
    trial = select_checks(
        f"planted_faults:{request.param}", [planted.check], 0, planted.time_limit_s
    )
    folder = tmp_path_factory.mktemp("failing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_look_on", lambda *_: None)  # each has a single fault
        tested = on_random_instances(trial, planted.examples, None, folder)
    assert tested.exit_code == 1, tested
    (check_row,) = tested.to_document()["checks"]
    failures = [one for one in check_row["failures"] if planted.finding in one["finding"]]
    assert failures, check_row
    return Found(planted, check_row | failures[0])


@pytest.mark.slow
@pytest.mark.in_turn
def test_a_planted_fault_is_found_on_a_small_instance(found: Found):
    assert found.row["examples"] <= 200
    instance = read_instance(found.row["file"])
    assert len(instance.task_names()) <= found.planted.most_tasks
    assert len(instance.cluster.nodes) <= found.planted.most_nodes


@pytest.mark.slow
@pytest.mark.in_turn
def test_the_command_that_is_told_shows_the_fault_again(found: Found, cli: Cli):
    again = cli(*shlex.split(found.row["again"])[1:], "--json")
    assert again.code == 1
    finding = again.json["checks"][0]["finding"]
    if found.planted.check == "deterministic":
        assert found.planted.finding in finding
    else:
        assert finding == found.row["finding"]


@pytest.mark.slow
@pytest.mark.in_turn
def test_the_fault_shows_in_a_command(found: Found, cli: Cli):
    """The same instance, and the scheduler as another process."""
    planted = found.planted
    command = shlex.join([sys.executable, PROGRAM, planted.scheduler.__name__])
    options = ["--instance", found.row["file"], "--check", planted.check]
    limit = ["--time-limit", 2] if planted.time_limit_s < 2 else []
    again = cli("test-scheduler", f"cmd:{command}", *options, *limit, "--json")
    assert again.code == 1, again
    assert (planted.by_command or planted.finding) in again.json["checks"][0]["finding"]


def test_judge_and_solve_open_the_files(found: Found, cli: Cli):
    assert cli("solve", found.row["file"], "--quiet").code in (0, 1)
    if found.row["placement"] is not None:
        judged = cli("judge", found.row["file"], found.row["placement"])
        is_broken = found.planted.check in ("valid", "complete")
        assert judged.code == int(is_broken), judged


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize(
    "demand",
    [
        *("valid", "complete", "deterministic", "names", "order", "capacity", "node-loss"),
        *("admits>=1", "gap<=0", "time<=20"),
    ],
)
def test_the_exact_scheduler_passes(demand: str):
    report = check(exact, demand, max_examples=40, seed=11)
    assert report.judged >= 10


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.parametrize("demand", ["valid", "complete", "deterministic"])
def test_a_plain_greedy_scheduler_passes(demand: str):
    assert check(first_fit, demand, max_examples=25, seed=11).judged >= 10


@pytest.mark.slow
@pytest.mark.in_turn
def test_a_scheduler_that_moves_as_little_as_it_can_passes():
    assert check_moves(planted_faults.moves_least, 0, max_examples=25, seed=11).judged >= 5
