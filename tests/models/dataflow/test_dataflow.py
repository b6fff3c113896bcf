"""Dataflows: their files, their rates, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from slotwise.models.dataflow import input_rates, read_dataflow
from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import pretty_json
from slotwise.models.micro_dags import DIAMOND, LINEAR, MICRO_DAGS, STAR


@pytest.mark.parametrize("dag", MICRO_DAGS.values(), ids=MICRO_DAGS)
def test_what_is_written_is_read(dag: Any, tmp_path: Path) -> None:
    path = tmp_path / "dag.json"
    path.write_text(pretty_json(dag.to_document()))
    assert read_dataflow(path) == dag


def test_rates_of_the_micro_dags() -> None:
    """Section 8.1: Pi of Diamond takes in four times the rate; X, P, F of Star twice."""
    assert set(input_rates(LINEAR, Fraction(7)).values()) == {7}
    assert input_rates(DIAMOND, Fraction(50))["pi"] == 200
    star = input_rates(STAR, Fraction(50))
    assert [star[name] for name in ("blob", "table", "xml", "pi", "file")] == [
        50,
        50,
        100,
        100,
        100,
    ]


FILE: dict[str, Any] = {
    "format": "slotwise.dataflow/1",
    "name": "small",
    "tasks": [
        {"name": "in", "model": None},
        {"name": "a", "model": "xml"},
        {"name": "b", "model": "pi"},
    ],
    "streams": [
        {"from": "in", "to": "a"},
        {"from": "in", "to": "b", "selectivity": 0.5},
        {"from": "a", "to": "b", "selectivity": 1.5},
    ],
}


def test_selectivities_are_exact(tmp_path: Path) -> None:
    rates = input_rates(_read(FILE, tmp_path), Fraction(1, 3))
    assert rates == {"in": Fraction(1, 3), "a": Fraction(1, 3), "b": Fraction(2, 3)}


CASES = {
    "cycle": (("streams", {"from": "b", "to": "a"}), "streams = 'a -> b': must be acyclic"),
    "itself": (("streams", {"from": "b", "to": "b"}), "streams = 'b': must be acyclic"),
    "unknown task": (("streams", {"from": "b", "to": "c"}), r"streams\[3\] = 'c': must be a task"),
    "twice": (("streams", {"from": "in", "to": "a"}), "'in -> a': occurs twice"),
    "same name": (("tasks", {"name": "a", "model": "pi"}), "tasks = 'a': must be unique"),
    "no model": (("tasks", {"name": "c"}), r"tasks\[3\].model: is missing"),
    "negative": (
        ("streams", {"from": "b", "to": "in", "selectivity": -1}),
        r"streams\[3\].selectivity = -1: must be 0 or more",
    ),
}


@pytest.mark.parametrize(("change", "message"), CASES.values(), ids=CASES)
def test_bad_dataflows_are_refused(
    change: tuple[str, dict[str, Any]], message: str, tmp_path: Path
) -> None:
    key, more = change
    with pytest.raises(InputError, match=message):
        _read(FILE | {key: [*FILE[key], more]}, tmp_path)


def _read(data: dict[str, Any], folder: Path) -> Any:
    path = folder / "dag.json"
    path.write_text(json.dumps(data))
    return read_dataflow(path)
