from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sam_cases import chain, model

from slotwise.models.allocation.case import (
    AllocationCase,
    case_from_text,
    case_hash,
    case_text,
    read_allocation_case,
)
from slotwise.models.errors import InputError

CASE = AllocationCase(
    "small", chain("a"), {"a": model("a", (1, 10, 50, 20), (2, "12.5", 60, 30))}, Fraction(45, 2)
)


def document() -> dict[str, Any]:
    return dict(json.loads(case_text(CASE)))


def test_a_case_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(case_text(CASE), encoding="utf-8")
    assert read_allocation_case(path) == CASE


def test_the_hash_is_that_of_what_counts() -> None:
    unused = CASE.models | {"b": model("b", (1, 1, 1, 1))}
    for same in (replace(CASE, name="other"), replace(CASE, models=unused)):
        assert case_hash(same) == case_hash(CASE)
    assert case_hash(replace(CASE, rate=Fraction(20))) != case_hash(CASE)
    written = json.dumps(document(), indent=4).replace("22.5", "22.50")
    assert case_hash(case_from_text(written)) == case_hash(CASE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 0}, "rate = 0.0: must be above 0"),
        ({"rate": -1}, "rate = -1: must be 0 or more"),
        ({"rates": [1]}, "rates = .*: is an unknown key"),
        ({"format": "slotwise.allocation-case/2"}, "format"),
        ({"models": {"format": "slotwise.performance/1", "models": {}}}, "models.models: has no"),
    ],
)
def test_what_is_no_case_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        case_from_text(json.dumps(document() | change))


def test_a_task_without_a_model_and_a_cycle_are_refused_by_name() -> None:
    data = document()
    data["dataflow"]["tasks"][1]["model"] = "b"
    with pytest.raises(InputError, match=r"tasks.a.model = 'b': has no performance model"):
        case_from_text(json.dumps(data))
    data = document()
    data["dataflow"]["streams"].append({"from": "a", "to": "source"})
    with pytest.raises(InputError, match=r"dataflow.streams.*must be acyclic"):
        case_from_text(json.dumps(data))
