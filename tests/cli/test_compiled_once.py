"""Each command compiles its instance once; a placement is judged when it comes and when it goes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from slotwise.models.instance.placement import Placement
from slotwise.models.judge import judge as judging
from slotwise.models.problem import compile as compiling
from slotwise.models.problem.problem import Problem


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
