"""Reading and writing placements, and the refusals that methods write in their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.atomic_file import write_atomically
from slotwise.models.formats.instance_reader import places_of
from slotwise.models.formats.instance_schema import PlacementFile, RefusalFile
from slotwise.models.formats.instance_writer import instance_hash, places_document
from slotwise.models.formats.json_text import pretty_json
from slotwise.models.formats.text import YAML_SUFFIXES, parse_text, read_data
from slotwise.models.formats.validation import validated
from slotwise.models.formats.yaml_text import yaml_text
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal, from_places, to_places

PLACEMENT_FORMAT = "slotwise.placement/1"


def read_answer(source: str | Path, instance: Instance) -> Placement | Refusal:
    """Read a placement of `instance`, or the refusal a method wrote; ``-`` = stdin.

    Raises
    ------
    InputError
        One line: file, field, value, rule; so also for a placement of another instance.
    """
    data, file = read_data(source)
    with in_file(file):
        return answer_from_data(data, instance)


def read_placement(source: str | Path, instance: Instance) -> Placement:
    """Read a placement of `instance`; a refusal is an error here. See `read_answer`."""
    answer = read_answer(source, instance)
    if isinstance(answer, Refusal):
        raise InputError(
            "is a refusal; a placement is needed",
            field="refused",
            value=answer.reason,
            file=str(source),
        )
    return answer


def answer_from_text(text: str, instance: Instance, *, file: str) -> Placement | Refusal:
    """Return the placement or refusal in a text; `file` names it in messages."""
    with in_file(file):
        return answer_from_data(parse_text(text), instance)


def answer_from_data(data: Any, instance: Instance) -> Placement | Refusal:
    """Return the placement or refusal in the data of a file."""
    if not isinstance(data, dict):
        raise InputError("must be an object with the key `format`", value=data)
    if "refused" in data:
        return Refusal(validated(RefusalFile, data).refused)
    if "format" not in data:
        raise InputError(
            f"is missing; it must be {PLACEMENT_FORMAT}", field="format", has_value=False
        )
    if data["format"] != PLACEMENT_FORMAT:
        raise InputError(f"must be {PLACEMENT_FORMAT}", field="format", value=data["format"])
    file = validated(PlacementFile, data)
    expected = instance_hash(instance)
    if file.instance != expected:
        raise InputError(
            f"is another instance; {instance.name!r} is {expected}",
            field="instance",
            value=file.instance,
        )
    return from_places(instance, places_of(file.topologies, "topologies"))


def placement_document(instance: Instance, placement: Placement) -> dict[str, Any]:
    """Return the data of a placement file; JSON-ready."""
    return {
        "format": PLACEMENT_FORMAT,
        "instance": instance_hash(instance),
        "topologies": places_document(to_places(instance, placement)),
    }


def placement_text(instance: Instance, placement: Placement) -> str:
    """Return a placement as the text of a JSON file."""
    return pretty_json(placement_document(instance, placement)) + "\n"


def write_placement(path: str | Path, instance: Instance, placement: Placement) -> None:
    """Write a placement, whole or not at all; as YAML where the path ends so, else as JSON."""
    as_yaml = str(path).lower().endswith(YAML_SUFFIXES)
    document = placement_document(instance, placement)
    write_atomically(path, yaml_text(document) if as_yaml else pretty_json(document) + "\n")
