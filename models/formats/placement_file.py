"""Reading and writing placements, and the refusals that methods write in their place."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError
from slotwise.models.formats.instance_writer import instance_hash
from slotwise.models.formats.json_text import pretty_json
from slotwise.models.formats.text import write_data
from slotwise.models.formats.validation import check_format, validated
from slotwise.models.instance.instance import Instance, Running
from slotwise.models.instance.placement import Placement, Refusal, from_places, to_places
from slotwise.models.nouns import Name, Noun

PLACEMENT_FORMAT = "slotwise.placement/1"


@dataclass(frozen=True, slots=True)
class PlacementFile(Noun):
    """A file ``slotwise.placement/1``; tasks that are not named are not placed.

    Parameters
    ----------
    instance
        Hash of the instance that was placed, ``sha256:...``; a method must give it; ``None`` = not
        known: ``judge`` and ``--hint`` take the file with a note.
    topologies
        Topology -> ``component[index]`` -> place.
    """

    FORMAT = PLACEMENT_FORMAT

    instance: Name | None = None
    topologies: Running = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class RefusalFile(Noun):
    """The answer of a method that makes no placement.

    Parameters
    ----------
    refused
        The reason, one line.
    """

    refused: str


def answer_from_data(data: Any, instance: Instance) -> Placement | Refusal:
    """Return the placement or refusal in the data of a file.

    Raises
    ------
    InputError
        One line: field, value, rule; so also for a placement that names another instance, or none.
    """
    if isinstance(data, dict) and "refused" in data:
        return Refusal(validated(RefusalFile, data).refused)
    file = placement_file_of(data, instance)
    if file.instance is None:
        raise InputError("is missing", field="instance", has_value=False)
    return placement_of(file, instance)


def placement_file_of(data: Any, instance: Instance) -> PlacementFile:
    """Return the checked data of a placement file; refuse that of another instance."""
    check_format(data, PLACEMENT_FORMAT)
    file = validated(PlacementFile, data)
    expected = instance_hash(instance)
    if file.instance not in (None, expected):
        raise InputError(
            f"is the hash of another instance; that of {instance.name!r} is {expected}",
            field="instance",
            value=file.instance,
        )
    return file


def placement_of(file: PlacementFile, instance: Instance) -> Placement:
    """Return the placement in the checked data of a placement file."""
    return from_places(instance, file.topologies)


def placement_document(instance: Instance, placement: Placement) -> dict[str, Any]:
    """Return the data of a placement file; JSON-ready."""
    places = to_places(instance, placement)
    return PlacementFile(instance_hash(instance), topologies=places).to_document()


def placement_text(instance: Instance, placement: Placement) -> str:
    """Return a placement as the text of a JSON file."""
    return pretty_json(placement_document(instance, placement)) + "\n"


def write_placement(path: str | Path, instance: Instance, placement: Placement) -> None:
    """Write a placement file, whole or not at all.

    Parameters
    ----------
    path
        Of the file: YAML where it ends in ``.yaml`` or ``.yml``, otherwise JSON.
    instance
        What was placed; the file names its hash.
    placement
        Of `instance`, valid or not.

    Raises
    ------
    InputError
        When the file cannot be written.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> slotwise.write_placement("plan.json", instance, slotwise.place(instance, "r-storm"))
    >>> slotwise.judge(instance, "plan.json").valid
    True
    """
    write_data(path, placement_document(instance, placement))
