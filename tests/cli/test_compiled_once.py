"""Each command compiles its instance once."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotwise.models.problem import compile as compiling


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
