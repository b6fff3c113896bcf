"""The keys of our files as tables, from their JSON Schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slotwise.models.schemas import json_schemas
from slotwise.models.values import known

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a file.

    Parameters
    ----------
    path
        From the top, ``[]`` for the items of a list and ``{}`` for the values of an object with
        keys of the user's own: ``topologies[].components[].id``.
    kind
        The type of its value, in words.
    default
        Its value where it is absent, as JSON; empty where it is required.
    description
        Its meaning; empty where the schema has none.
    """

    path: str
    kind: str
    default: str
    description: str


def keys(schema: Schema) -> Iterator[Key]:
    """Yield the keys of a schema, outer ones first."""
    yield from _keys(schema, schema, "")


def _keys(root: Schema, schema: Schema, path: str) -> Iterator[Key]:
    for name, value in schema.get("properties", {}).items():
        here = f"{path}.{name}".lstrip(".")
        required = name in schema.get("required", ())
        yield Key(here, _kind(root, value), _default(value, required), value.get("description", ""))
        yield from _inside(root, value, here)


def _inside(root: Schema, value: Schema, path: str) -> Iterator[Key]:
    """Yield the keys inside a value."""
    for one in _alternatives(root, value):
        if "properties" in one:
            yield from _keys(root, one, path)
        if isinstance(one.get("items"), dict):
            yield from _inside(root, one["items"], f"{path}[]")
        if isinstance(one.get("additionalProperties"), dict):
            yield from _inside(root, one["additionalProperties"], f"{path}{{}}")


def _alternatives(root: Schema, value: Schema) -> list[Schema]:
    if "$ref" in value:
        return [root["$defs"][value["$ref"].rpartition("/")[2]]]
    several = [each for one in value.get("anyOf", ()) for each in _alternatives(root, one)]
    return several or [value]


def _kind(root: Schema, value: Schema) -> str:
    words = [_word(root, one) for one in _alternatives(root, value)]
    return " or ".join(dict.fromkeys(words))


def _word(root: Schema, one: Schema) -> str:
    if "const" in one:
        return f"`{json.dumps(one['const'])}`"
    if "enum" in one:
        return ", ".join(f"`{choice}`" for choice in one["enum"])
    if "prefixItems" in one:
        return f"[{', '.join(_kind(root, item) for item in one['prefixItems'])}]"
    if one.get("type") == "array":
        return f"list of {_kind(root, one['items'])}"
    if one.get("type") == "object" and isinstance(one.get("additionalProperties"), dict):
        kind = _kind(root, one["additionalProperties"])
        return f"object of ({kind})" if " or " in kind else f"object of {kind}"
    least = f" >= {one['minimum']}" if "minimum" in one else ""
    least = f" > {one['exclusiveMinimum']}" if "exclusiveMinimum" in one else least
    names = {"string": "text", "boolean": "true or false", "integer": "whole number"}
    kind = str(one.get("type", "any"))
    return names.get(kind, kind) + least


def _default(value: Schema, required: bool) -> str:
    if required or "default" not in value:
        return ""
    default = value["default"]
    return "{...}" if isinstance(default, dict) and default else json.dumps(default)


def key_table(schema: Schema) -> str:
    """Return the keys of a schema as a table in Markdown."""
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key in keys(schema):
        default = f"`{key.default}`" if key.default else "required"
        cells = (f"`{key.path}`", key.kind, default, key.description)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def key_tables() -> dict[str, str]:
    """Return name of a schema -> the table of its keys; schemas without keys are left out."""
    tables = {name: schema for name, schema in json_schemas().items() if "properties" in schema}
    return {name: key_table(schema) for name, schema in tables.items()}


def with_tables(page: str) -> str:
    """Return a page in Markdown with the text between its markers generated again.

    A marker is ``<!-- keys: NAME -->``; its part ends at ``<!-- end -->``.

    Raises
    ------
    InputError
        For a marker of an unknown schema.
    """
    tables = key_tables()

    def table(mark: re.Match[str]) -> str:
        return f"{mark[1]}\n{tables[known(mark[2], tables, 'keys')]}<!-- end -->"

    return re.sub(r"(<!-- keys: (\S+) -->)\n.*?<!-- end -->", table, page, flags=re.DOTALL)
