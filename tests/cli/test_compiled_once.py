"""Each command compiles its instance once; a placement is judged when it comes and when it goes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from assignments import document

from slotwise.models.instance.instance import Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data, read_instance
from slotwise.models.judge import judge as judging
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem import compile as compiling
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Status
from slotwise.solver.engines import ENGINES
from slotwise.solver.solve import solve


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the topologies that are compiled."""
    names: list[str] = []
    read = compiling.pair_flow

    def counted(topology: object, flow: object) -> object:
        names.append(topology.id)
        return read(topology, flow)

    monkeypatch.setattr(compiling, "pair_flow", counted)
    return names


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, Placement]]:
    """How often each placement of each problem is judged."""
    counts: Counter[tuple[int, Placement]] = Counter()
    kept: list[Problem] = []  # so that no two problems have the same id
    read = judging.account

    def counted(problem: Problem, placement: Placement) -> object:
        kept.append(problem)
        counts[id(problem), placement] += 1
        return read(problem, placement)

    monkeypatch.setattr(judging, "account", counted)
    return counts


@pytest.mark.parametrize(
    "words",
    [
        ("solve", "--engine", "exhaustive"),
        ("place", "--with", "round-robin", "--out", "plan.json"),
        ("schedule",),
        ("convert", "--to", "lp", "--out", "model.lp"),
    ],
    ids=lambda words: words[0],
)
def test_once(words: tuple[str, ...], examples: Path, cli, compiled: list[str]) -> None:
    command, *options = words
    assert cli(command, "word-count.json", *options).code in (0, 1)
    assert compiled == ["wc"]


@pytest.mark.slow
def test_once_to_judge_and_verify(examples: Path, cli, compiled: list[str]) -> None:
    made = cli(
        "solve",
        "word-count.json",
        "--engine",
        "exhaustive",
        "--out",
        "p.json",
        "--certificate",
        "c.json",
    )
    assert made.code == 0
    for words in (("judge", "word-count.json", "p.json"), ("verify", "word-count.json", "c.json")):
        compiled.clear()
        assert cli(*words).code == 0
        assert compiled == ["wc"]
    compiled.clear()
    assert cli("verify", "word-count.json", "c.json", "--resolve").code == 0
    assert compiled == ["wc"]


def test_once_with_a_limit_from_the_command_line(examples: Path, cli, compiled: list[str]) -> None:
    made = cli("solve", "shared-cluster.yaml", "--max-moved", 1, "--out", "p.json")
    assert made.code == 0
    assert sorted(compiled) == sorted(set(compiled))
    compiled.clear()
    assert cli("judge", "shared-cluster.yaml", "p.json").code == 0
    assert sorted(compiled) == sorted(set(compiled))


@pytest.mark.parametrize("as_json", [False, True])
def test_solve_judges_a_placement_when_it_is_offered_and_when_it_is_returned(
    as_json: bool, examples: Path, cli, judged: Counter[tuple[int, Placement]]
) -> None:
    flags = ["--json"] if as_json else []
    answer = cli("solve", "word-count.json", "--engine", "exhaustive", *flags)
    assert answer.code == 0
    assert list(judged.values()) == [2]


@pytest.fixture
def problems(examples: Path) -> tuple[Problem, ...]:
    """Flows, soft resources with running tasks, an assignment, and a partition into equal nodes."""
    data = document(np.random.default_rng(1), tasks=5, nodes=3, load=0.8)
    data["distance"] = (1 - np.eye(3, dtype=int)).tolist()
    instances = (
        read_instance(examples / "word-count.json"),
        read_instance(examples / "shared-cluster.yaml"),
        instance_from_data(data),
        instance_from_data({**data, "linear": None}),
    )
    return tuple(compile_problem(instance) for instance in instances)


@pytest.fixture
def few_moves(examples: Path) -> tuple[Problem, ...]:
    """For engines that take nothing without a limit of moves, or no limit but 0."""
    instance = read_instance(examples / "running.json")
    assert instance.running is not None
    some = {"wc": dict(list(instance.running["wc"].items())[1:])}
    found = (
        replace(instance, objective=Objective(("network",), limits={"moved": 5})),
        replace(instance, objective=Objective(("network",), limits={"moved": 0}), running=some),
    )
    return tuple(map(compile_problem, found))


@pytest.mark.slow
@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_engine_has_each_placement_judged_once_and_the_one_it_returns_again(
    engine: str,
    problems: tuple[Problem, ...],
    few_moves: tuple[Problem, ...],
    judged: Counter[tuple[int, Placement]],
) -> None:
    taken = [problem for problem in problems if ENGINES[engine].supports(problem) is None]
    taken = taken or [one for one in few_moves if ENGINES[engine].supports(one) is None]
    assert taken
    for problem in taken:
        judged.clear()
        found = solve(problem, engine=engine)
        assert found.status is Status.OPTIMAL
        times = judged.pop((id(problem), found.placement))
        if problem.instance.running is not None:
            judged[id(problem), running_placement(problem)] -= 1  # to say what it costs
        if times == 1:  # equal things were exchanged, so the engine's own was judged twice
            assert found.moves
            times = max(judged.values())
            judged.subtract([key for key, count in judged.items() if count == 2][:1])
        assert times == 2
        assert set(judged.values()) <= {0, 1}


@pytest.mark.parametrize("as_json", [False, True])
def test_place_and_judge_judge_once(
    as_json: bool, examples: Path, cli, judged: Counter[tuple[int, Placement]]
) -> None:
    flags = ["--json"] if as_json else []
    made = cli("place", "word-count.json", "--with", "round-robin", "--out", "p.json", *flags)
    assert made.code == 0
    assert list(judged.values()) == [1]
    judged.clear()
    assert cli("judge", "word-count.json", "p.json", *flags).code == 0
    assert list(judged.values()) == [1]
