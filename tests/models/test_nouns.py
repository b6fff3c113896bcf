"""Nouns say once what may stand in their fields, in Python and in files."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from malformed_cases import GOOD

from slotwise.models.errors import InputError
from slotwise.models.formats.plan_file import MoveFile
from slotwise.models.formats.validation import validated
from slotwise.models.instance.instance import Instance, LinearCost, Place, Scheduler
from slotwise.models.instance.topology import Component, Constraints, Stream, Topology
from slotwise.models.instance_file import instance_document
from slotwise.models.schemas import json_schemas


def read(**keys: Any) -> Instance:
    return validated(Instance, copy.deepcopy(GOOD) | keys)


def test_keys_are_checked_wherever_a_noun_stands_again() -> None:
    place = {"node": "n1", "worker": 1}
    for key in ("from", "to"):
        with pytest.raises(InputError, match=rf"^{key}\.rack = 2: is an unknown key; known are"):
            validated(MoveFile, {"task": "t", "from": place, "to": place, key: place | {"rack": 2}})


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ({"worker_min_cpu": False}, "scheduler.worker_min_cpu = false: must be a number"),
        ({"worker_min_cpu": "1"}, "scheduler.worker_min_cpu = '1': must be a number, not text"),
        ({"pools": {"ann": {"cpu": -1}}}, "scheduler.pools.ann.cpu = -1: must be 0 or more"),
    ],
)
def test_what_a_file_may_not_hold_is_named(scheduler: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(scheduler=scheduler)
    assert str(caught.value) == message


def test_null_is_the_default_where_the_noun_has_no_none() -> None:
    read_with_null = read(scheduler={"worker_min_cpu": None}, objective={"limits": None})
    assert read_with_null == read()
    assert read_with_null.scheduler == Scheduler()


def test_an_unknown_limit_is_refused_though_it_is_null() -> None:
    with pytest.raises(InputError, match=r"^objective.limits = 'nodes': must be one of moved"):
        read(objective={"limits": {"nodes": None}})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Component("a", "bolt", 1, {"cpu": 1e-7}), "resources.cpu = 1e-07: must have"),
        (lambda: Component("a", "bolt", -1), "parallelism = -1: must be 0 or more"),
        (lambda: Component("a", "bolt", 1, estimated=("",)), r"estimated\[0\] = '': must be"),
        (lambda: Stream("", "b"), "from = '': must be a text of one line"),
        (lambda: Constraints(max_per_node={"a": 0}), "max_per_node.a = 0: must be 1 or more"),
        (lambda: Place("n", True), "worker = true: must be a whole number"),
        (
            lambda: Topology("t", (), one_task_per_worker="no"),  # type: ignore[arg-type]
            "one_task_per_worker = 'no': must be true or false",
        ),
    ],
)
def test_fields_made_in_python_are_checked(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        make()


def test_running_topologies_without_tasks_are_left_out() -> None:
    assert read(running={"wc": {}}) == read(running={})


def test_rows_are_lists_and_sparse_fields_are_written_where_they_say_something() -> None:
    instance = read(linear=[["spout[0]", "n1", 2]])
    assert instance.linear == (LinearCost("spout[0]", "n1", 2),)  # type: ignore[arg-type]
    document = instance_document(instance)
    assert document["linear"] == [["spout[0]", "n1", 2]]
    assert "limits" not in document["objective"]
    assert list(document["topologies"][0])[-2:] == ["components", "streams"]


def test_schemas_have_the_words_of_docstrings_and_defaults_as_numbers() -> None:
    schemas = json_schemas()
    cluster = schemas["instance"]["$defs"]["Cluster"]
    assert cluster["properties"]["nodes"]["description"] == "The machines, at least one."
    assert cluster["properties"]["distance"]["default"]["rack"] == 2
    assert "default" not in schemas["instance"]["$defs"]["Distance"]["properties"]["rack"]
