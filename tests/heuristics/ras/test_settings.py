"""What the RAS strategies read of a topology besides: ``ras`` in instance files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import RasSettings
from slotwise.models.instance_file import instance_from_text, instance_hash, instance_text
from slotwise.models.schemas import json_schemas

FULL = {"order_by_proximity": True, "isolated_machines": 3, "max_states": 50, "max_seconds": 7}


def read(ras: Any = None) -> Instance:
    topology: dict[str, Any] = {"id": "t", "components": []}
    if ras is not None:
        topology["ras"] = ras
    file = {
        "format": "slotwise.instance/1",
        "name": "x",
        "cluster": {"nodes": [{"id": "n", "rack": "r"}]},
        "topologies": [topology],
    }
    return instance_from_text(json.dumps(file))


def test_all_keys_are_read_and_written() -> None:
    instance = read(FULL)
    assert instance.topologies[0].ras == RasSettings(True, 3, 50, 7)
    assert instance_from_text(instance_text(instance)) == instance


def test_defaults_are_storms_and_leave_the_hash_alone() -> None:
    assert read().topologies[0].ras == RasSettings(False, None, 10_000, None)
    written = {**FULL, "order_by_proximity": False, "max_states": 10_000}
    written |= {"isolated_machines": None, "max_seconds": None}
    assert instance_hash(read(written)) == instance_hash(read({})) == instance_hash(read())
    assert "ras" not in instance_text(read()).replace("ras-", "")


@pytest.mark.parametrize("key", FULL)
def test_the_hash_sees_each_setting(key: str) -> None:
    assert instance_hash(read({key: FULL[key]})) != instance_hash(read())


@pytest.mark.parametrize(
    ("ras", "field"),
    [
        ({"isolated_machines": 0}, "topologies[0].ras.isolated_machines"),
        ({"max_states": -1}, "topologies[0].ras.max_states"),
        ({"max_seconds": 1.5}, "topologies[0].ras.max_seconds"),
        ({"proximity": True}, "topologies[0].ras.proximity"),
        ({"order_by_proximity": 1}, "topologies[0].ras.order_by_proximity"),
    ],
)
def test_what_is_wrong_is_named(ras: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        read(ras)
    assert field in str(caught.value)


def test_the_schema_has_them() -> None:
    assert '"isolated_machines"' in json.dumps(json_schemas())
