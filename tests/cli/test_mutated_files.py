"""Mutated files through every command: a sample by default, 5,000 in the deep run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from mutated_commands import COMMANDS, Ended, emptied, faults
from mutated_files import Mutations
from mutations import mutated_file

from slotwise.testing.choices import FromRng

Start = Callable[[int], Mutations]


@pytest.fixture
def mutations(tmp_path: Path) -> Iterator[Start]:
    """Start mutations with a seed."""
    started: list[Mutations] = []

    def start(seed: int) -> Mutations:
        started.append(Mutations(tmp_path, seed))
        return started[-1]

    yield start
    for one in started:
        one.close()


def look_at(mutated: Mutations, count: int, note: list[str]) -> None:
    """Run and fail with everything that was found."""
    found = mutated.run(range(count))
    note.append(f"{count} mutated files: {dict(mutated.codes)}")
    assert not found, "\n".join(map(str, found))


@pytest.mark.slow
def test_mutated_files(mutations: Start, note: list[str]) -> None:
    look_at(mutations(1), 25, note)


@pytest.mark.deep
def test_many_mutated_files(mutations: Start, note: list[str]) -> None:
    mutated = mutations(0)
    look_at(mutated, 5000, note)
    assert {kind for kind, _ in mutated.codes} == set(COMMANDS)
    assert {code for _, code in mutated.codes} == {0, 1, 2, 3}


def test_the_same_seed_gives_the_same_file() -> None:
    data = {"a": [1, 2.5, {"b": "c"}], "d": None}

    def made(seed: int) -> bytes:
        return mutated_file(FromRng(np.random.default_rng(seed)), data, as_yaml=seed % 2 == 0)

    assert [made(seed) for seed in range(300)] == [made(seed) for seed in range(300)]
    assert len({made(seed) for seed in range(300)}) > 200


JUDGE, JSON = ("judge", "a", "b"), ("judge", "a", "b", "--json")
GOOD = {
    "done": (JUDGE, Ended(0, "Valid.\n", "")),
    "an object": (JSON, Ended(1, "{}\n", "")),
    "refused": (JSON, Ended(2, "", "slotwise: a.json: is empty\n")),
}
BAD = {
    "hang": (JUDGE, None, "hangs"),
    "exception": (JUDGE, Ended(-1, "", "", "Traceback\n ValueError: x"), "ValueError"),
    "code": (JUDGE, Ended(4, "", ""), "exit code 4"),
    "internal error": (JUDGE, Ended(1, "", "slotwise: internal error, x\n"), "fault"),
    "no JSON": (JSON, Ended(0, "Valid.\n", ""), "no JSON"),
    "no line": (JUDGE, Ended(2, "", ""), "one line"),
    "two lines": (JUDGE, Ended(2, "", "slotwise: a\nb\n"), "one line"),
    "escape": (JUDGE, Ended(2, "", "slotwise: \x1b[31m\n"), "unprintably"),
    "long": (JUDGE, Ended(2, "", f"slotwise: {'a' * 3000}\n"), "characters"),
    "prints": (JUDGE, Ended(2, "Valid.\n", "slotwise: a\n"), "though it refuses"),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_may_be(case: str, tmp_path: Path) -> None:
    assert list(faults(*GOOD[case], tmp_path)) == []


@pytest.mark.parametrize("case", BAD)
def test_what_must_not_be(case: str, tmp_path: Path) -> None:
    words, ended, said = BAD[case]
    assert any(said in fault for fault in faults(words, ended, tmp_path))


def test_files_that_must_not_be(tmp_path: Path) -> None:
    out = emptied(tmp_path / "out")
    (out / "plan.json").write_text('{"form')
    (out / ".plan.json.1.tmp").write_text("")
    done = list(faults(JUDGE, Ended(0, "", ""), out))
    assert done == ["leaves .plan.json.1.tmp", "leaves plan.json half-written"]
    assert len(list(faults(JUDGE, Ended(2, "", "slotwise: a\n"), out))) == 2
