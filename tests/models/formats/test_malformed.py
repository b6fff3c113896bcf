"""Bad input is refused in one line that names file, field, value and rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from malformed_cases import CASES, GOOD, GOOD_HASH, GOOD_PLACEMENT, Case, good_text

from slotwise.models.errors import InputError
from slotwise.models.formats.given_placement import read_given_placement
from slotwise.models.instance_file import instance_from_text, instance_hash, read_instance


def test_the_good_input_is_good(tmp_path: Path) -> None:
    instance = instance_from_text(good_text())
    assert instance_hash(instance) == GOOD_HASH
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(GOOD_PLACEMENT))
    assert read_given_placement(plan, instance).placement.nodes == (0, 0, 1)
    assert instance.name == GOOD["name"]


def test_names_are_unique_and_there_are_many() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_line_names_file_field_value_and_rule(case: Case, tmp_path: Path) -> None:
    path = case.put(tmp_path)
    with pytest.raises(InputError) as caught:
        _read(case, path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert len(message) < len(str(path)) + 400
    for fragment in case.fragments:
        assert fragment in message


def test_the_message_without_a_file_still_names_the_field() -> None:
    with pytest.raises(InputError, match=r"^text: format: is missing"):
        instance_from_text("{}")


def _read(case: Case, path: Path) -> object:
    if case.kind == "instance":
        return read_instance(path)
    return read_given_placement(path, instance_from_text(good_text()))
