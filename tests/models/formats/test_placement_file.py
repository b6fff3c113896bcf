"""Placement files and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from malformed_cases import GOOD_PLACEMENT, good_text

from slotwise.models.errors import InputError
from slotwise.models.formats.given_placement import (
    GivenPlacement,
    given_placement_from_data,
    given_placement_from_text,
    read_given_placement,
)
from slotwise.models.formats.placement_file import (
    answer_from_data,
    placement_document,
    placement_text,
    write_placement,
)
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.instance_file import instance_from_text, instance_hash
from slotwise.testing import instances

GOOD = instance_from_text(good_text())
PLAN = Placement((0, 0, 1), (0, 0, 3))


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_round_trip_through_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plan{suffix}"
    write_placement(path, GOOD, PLAN)
    assert read_given_placement(path, GOOD) == GivenPlacement(PLAN)


def test_the_document_is_that_of_the_design() -> None:
    assert placement_document(GOOD, PLAN) == GOOD_PLACEMENT
    assert json.loads(placement_text(GOOD, PLAN)) == GOOD_PLACEMENT


@pytest.mark.slow
@given(instances(wide_numbers=True), st.data())
def test_round_trip_of_any_placement(instance: Instance, data: st.DataObject) -> None:
    tasks = len(instance.task_names())
    places = st.tuples(st.integers(0, len(instance.cluster.nodes) - 1), st.integers(0, 10**6))
    drawn = data.draw(
        st.lists(places | st.just((UNPLACED, UNPLACED)), min_size=tasks, max_size=tasks)
    )
    placement = Placement(tuple(n for n, _ in drawn), tuple(w for _, w in drawn))
    assert answer_from_data(placement_document(instance, placement), instance) == placement


def test_tasks_that_are_not_named_are_not_placed() -> None:
    document = {
        "format": "slotwise.placement/1",
        "instance": instance_hash(GOOD),
        "topologies": {"wc": {"count[0]": {"node": "n2", "worker": 1}}},
    }
    assert answer_from_data(document, GOOD) == Placement((-1, -1, 1), (-1, -1, 1))


def test_a_refusal_is_read_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text('{"refused": "no node has a GPU"}')
    assert answer_from_data(json.loads(path.read_text()), GOOD) == Refusal("no node has a GPU")
    with pytest.raises(InputError, match="refused = 'no node has a GPU': is a refusal"):
        read_given_placement(path, GOOD)


def test_a_placement_of_another_instance_is_refused_by_name() -> None:
    other = instance_from_text(good_text().replace('"cpu": 400', '"cpu": 500'))
    with pytest.raises(InputError) as caught:
        given_placement_from_text(placement_text(GOOD, PLAN), other, file="plan.json")
    message = str(caught.value)
    assert message.startswith("plan.json: instance = ")
    assert "'good'" in message
    assert instance_hash(other) in message


def test_the_name_of_the_instance_does_not_matter() -> None:
    renamed = instance_from_text(good_text().replace('"good"', '"better"'))
    given = given_placement_from_text(placement_text(GOOD, PLAN), renamed, file="plan.json")
    assert given == GivenPlacement(PLAN)


def test_a_file_without_a_hash_is_taken_with_a_note_from_people_and_refused_from_methods() -> None:
    for document in (
        {key: value for key, value in GOOD_PLACEMENT.items() if key != "instance"},
        {**GOOD_PLACEMENT, "instance": None},
    ):
        given = given_placement_from_text(json.dumps(document), GOOD, file="plan.json")
        assert given.placement == PLAN
        assert given.note == (
            "plan.json: has no `instance` (hash); it is taken for a placement of 'good'"
        )
        with pytest.raises(InputError, match="instance: is missing"):
            answer_from_data(document, GOOD)


@pytest.mark.parametrize("more", [{}, {"status": "feasible"}, {"status": "violated", "x": 1}])
def test_the_answer_of_a_command_holds_a_placement(more: dict[str, object]) -> None:
    answer = {**more, "placement": GOOD_PLACEMENT}
    assert given_placement_from_data(answer, GOOD) == GivenPlacement(PLAN)
    with pytest.raises(InputError, match="format"):  # methods write placement files
        answer_from_data(answer, GOOD)
