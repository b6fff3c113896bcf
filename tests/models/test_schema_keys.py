"""Every key of our files is described, and the page of keys is what the schemas say."""

from __future__ import annotations

from pathlib import Path

import pytest

from slotwise.models.errors import InputError
from slotwise.models.schema_keys import Key, key_tables, keys, with_tables
from slotwise.models.schemas import json_schemas

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "file-keys.md"


@pytest.mark.parametrize("name", list(json_schemas()))
def test_every_key_has_a_description(name):
    schema = json_schemas()[name]
    assert [key.path for key in keys(schema) if not key.description] == []
    assert schema["description"]


def test_keys_of_every_depth_are_found():
    paths = {key.path for key in keys(json_schemas()["instance"])}
    assert len(paths) >= 69
    assert {
        "name",
        "cluster.nodes[].resources",
        "topologies[].streams[].from",
        "topologies[].ackers.count",
        "running{}{}.node",
    } <= paths


def test_a_key_without_a_description_is_seen():
    schema = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert list(keys(schema)) == [Key("a", "text", "", "")]


def test_null_is_explained_wherever_it_may_stand():
    nullable = [
        key
        for schema in json_schemas().values()
        for key in keys(schema)
        if key.kind.endswith("or null")
    ]
    assert len(nullable) >= 20
    assert [key.path for key in nullable if "null" not in key.description] == []


def test_the_page_is_what_the_schemas_say():
    text = PAGE.read_text("utf-8")
    assert with_tables(text) == text
    assert [name for name in key_tables() if f"<!-- keys: {name} -->" not in text] == []


def test_a_marker_of_no_schema_is_refused():
    with pytest.raises(InputError, match="'instnace'"):
        with_tables("<!-- keys: instnace -->\n<!-- end -->\n")
