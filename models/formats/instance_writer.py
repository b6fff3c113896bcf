"""The data of an instance's file, and the instance's hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from slotwise.models.formats.json_text import canonical_json
from slotwise.models.instance.instance import Instance


def instance_document(instance: Instance) -> dict[str, Any]:
    """Return the full data of an instance's file, defaults filled in; numbers are exact.

    Every number is an `int` or a `Decimal`; `json_text` and `yaml_text` write them.
    """
    return instance.to_document()


def instance_hash(instance: Instance) -> str:
    """Return ``sha256:`` and the hash of the canonical document without the name.

    Equal for files that differ in layout, key order, spelling of numbers, or in whether a
    default is written out (a demand or capacity of 0 is one), or in what was estimated. The order
    of nodes, topologies, components, streams and linear rows counts: results refer to it.
    """
    document = instance_document(instance)
    del document["name"]
    for part in _parts(document):
        part.pop("estimated", None)
        if "resources" in part:
            amounts = part["resources"].items()
            part["resources"] = {key: amount for key, amount in amounts if amount != 0}
    return "sha256:" + hashlib.sha256(canonical_json(document).encode("ascii")).hexdigest()


def _parts(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parts that have resources, or numbers that may be estimated."""
    yield from document["cluster"]["nodes"]
    for topology in document["topologies"]:
        yield from topology["components"]
        yield from topology["streams"]
        if topology["ackers"] is not None:
            yield topology["ackers"]
