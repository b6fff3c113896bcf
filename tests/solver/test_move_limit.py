"""The limit of moves: judged, kept by the exact engines, read, written and hashed."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import Cli
from malformed_cases import good_text

from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.instance_file import instance_from_text, instance_hash, instance_text
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.result import Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve

ENGINES_AND_AUTO = ("auto", *ENGINES)
SPREAD = {"a[0]": Place("n1", 3), "a[1]": Place("n2", 3), "b[0]": Place("n3", 3)}


def running(
    limit: int | None,
    *,
    capacity: int = 100,
    terms: tuple[str, ...] = ("network",),
    places: dict[str, Place] | None = None,
) -> Instance:
    """Two tasks a and one b of 10 points run spread over three nodes; each a-b pair costs."""
    offered = {"cpu": Decimal(capacity)}
    nodes = tuple(Node(f"n{n}", "r1", slots=4, resources=offered) for n in (1, 2, 3))
    demand = {"cpu": Decimal(10)}
    components = (Component("a", "spout", 2, demand), Component("b", "bolt", 1, demand))
    return Instance(
        "running",
        Cluster(nodes),
        (Topology("t", components, (Stream("a", "b"),)),),
        running={"t": SPREAD if places is None else places},
        objective=Objective(terms, limits={} if limit is None else {"moved": limit}),
    )


def test_the_judge_counts_moves_against_the_limit() -> None:
    placement = Placement((0, 0, 2), (3, 3, 3))
    assert judge(running(1), placement).valid
    (violation,) = judge(running(0), placement).violations
    assert str(violation) == "max_moved: cluster, tasks: 1 moved, 0 allowed"


def test_a_topology_left_out_has_moved() -> None:
    nowhere = Placement((UNPLACED,) * 3, (UNPLACED,) * 3)
    one = running(2, terms=("rejected", "network"))
    assert [v.rule for v in judge(one, nowhere).violations] == ["max_moved"]


@pytest.mark.parametrize("engine", ENGINES_AND_AUTO)
@pytest.mark.parametrize(("limit", "network"), [(None, 0), (3, 0), (2, 0), (1, 2), (0, 4)])
def test_each_move_is_used_where_it_pays_most(engine: str, limit: int | None, network: int) -> None:
    """All in one worker costs 0 and takes two moves; with one move an `a` joins `b`."""
    problem = compile_problem(running(limit))
    if engine != "auto" and ENGINES[engine].supports(problem) is not None:
        pytest.skip(f"{engine} says no")
    result = solve(problem, engine=engine, time_limit_s=20)
    assert result.status is Status.OPTIMAL
    assert [t.value for t in result.objective] == [network]


@pytest.mark.parametrize("engine", ENGINES_AND_AUTO)
@pytest.mark.parametrize(("limit", "status"), [(0, Status.INFEASIBLE), (1, Status.OPTIMAL)])
def test_moves_that_capacity_forces(engine: str, limit: int, status: Status) -> None:
    """A node holds one task, and two of them run on n1: one has to go."""
    crowded = {**SPREAD, "a[1]": Place("n1", 3)}
    problem = compile_problem(running(limit, capacity=15, places=crowded))
    if engine != "auto" and ENGINES[engine].supports(problem) is not None:
        pytest.skip(f"{engine} says no")
    assert solve(problem, engine=engine, time_limit_s=20).status is status


def test_a_limit_that_cannot_bind_is_none() -> None:
    assert compile_problem(running(3)).move_limit == NO_LIMIT
    assert compile_problem(running(2)).move_limit == 2


def test_it_is_written_read_and_hashed() -> None:
    one = running(2)
    assert instance_from_text(instance_text(one)) == one
    assert instance_hash(one) != instance_hash(running(None)) != instance_hash(running(1))


@pytest.mark.parametrize("absent", ["null", "{}", '{"moved": null}'])
def test_no_limit_hashes_as_before(absent: str) -> None:
    text = good_text().replace('"format"', f'"objective": {{"limits": {absent}}}, "format"', 1)
    assert instance_hash(instance_from_text(text)) == instance_hash(instance_from_text(good_text()))


def test_it_needs_what_is_running() -> None:
    with pytest.raises(InputError, match="'moved' needs `running`"):
        replace(running(2), running=None)
    with pytest.raises(InputError, match=r"limits = 'network': must be one of moved"):
        Objective(limits={"network": 2})


def test_the_command_limits_moves(cli: Cli, tmp_path: Path) -> None:
    file, plan = tmp_path / "running.json", tmp_path / "plan.json"
    file.write_text(instance_text(running(None)))
    answer = cli("solve", file, "--max-moved", 1, "--out", plan, "--json")
    assert answer.code == 0
    (network,) = answer.json["objective"]
    assert (network["term"], network["value"], network["bound"]) == ("network", 2, 2)
    judged = cli("judge", file, plan, "--json")
    assert judged.json["parts"]["moved"] == 1


def test_the_command_needs_what_is_running(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "fresh.json"
    file.write_text(json.dumps(json.loads(good_text())))
    answer = cli("solve", file, "--max-moved", 1)
    assert answer.code == 2
    assert "--max-moved = 1: needs an instance with `running`" in answer.err
