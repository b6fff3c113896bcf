"""What at most K moves save, against hand-computed costs and against every placement."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import slotwise
from slotwise.models.errors import InputError
from slotwise.pipeline.following.saving import Saving, Search, TermSaving, saving
from slotwise.solver.core.result import Status


@pytest.fixture
def example(root: Path) -> dict[str, Any]:
    return json.loads((root / "docs" / "examples" / "running.json").read_text())


@pytest.fixture
def running(example: dict[str, Any]) -> slotwise.Instance:
    return slotwise.read_instance(example)


def test_no_moves_save_nothing(running):
    none = saving(running, Search(0))
    network = none.terms[-1]
    assert (network.now, network.best, network.bound) == (38, 38, 38)
    assert (none.gain, none.moves, none.status) == (0, (), Status.OPTIMAL)


def test_moves_are_those_of_the_best_placement(running):
    five = saving(running, Search(5))
    assert [(t.term, t.now, t.best, t.bound) for t in five.terms] == [
        ("overload", 0, 0, 0),
        ("network", 38, 23, 23),
    ]
    assert five.gain == Fraction(38 - 23, 38)
    assert 1 <= len(five.moves) <= 5


def test_more_moves_never_cost_more(running):
    costs = [saving(running, Search(most)).terms[-1].best for most in range(6)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == 38
    assert costs[-1] == 23


def test_a_limit_of_the_instance_s_own_stands(example):
    example["objective"] = {"terms": ["network"], "limits": {"moved": 1}}
    assert saving(slotwise.read_instance(example), Search(9)).max_moves == 1


def test_what_runs_must_be_known(root):
    instance = slotwise.read_instance(root / "docs" / "examples" / "word-count.json")
    with pytest.raises(InputError, match="running: is missing"):
        saving(instance, Search(1))


def test_a_broken_rule_is_worth_repairing(example):
    example["topologies"][0]["components"][1]["resources"]["cpu"] = 90  # n3 has 90 + 90 + 30
    instance = slotwise.read_instance(example)
    none, one = saving(instance, Search(0)), saving(instance, Search(1))
    assert [violation.place for violation in none.violations] == ["node n3"]
    assert (none.status, none.gain, none.is_repair) == (Status.INFEASIBLE, 0, False)
    assert (one.status, one.gain, one.is_repair) == (Status.OPTIMAL, 1, True)
    assert [move.name for move in one.moves] == ["wc/count[2]"]


def terms(*rows):
    return tuple(
        TermSaving(f"t{i}", Fraction(now), None if best is None else Fraction(best), None)
        for i, (now, best) in enumerate(rows)
    )


@pytest.mark.parametrize(
    ("rows", "gain"),
    [
        (((100, 90),), Fraction(1, 10)),
        (((0, 0), (10, 5)), Fraction(1, 2)),
        (((100, 99), (50, 20)), Fraction(3, 5)),
        (((100, 99), (50, 80), (9, 0)), Fraction(1, 100)),
        (((0, 0), (0, 0)), Fraction(0)),
        (((5, None),), Fraction(0)),
    ],
)
def test_gain_is_of_the_terms_before_the_first_that_gets_worse(rows, gain):
    assert Saving(Status.OPTIMAL, terms(*rows), (), (), 3).gain == gain
