"""Placements that people hand in: placement files, and answers of commands that hold one.

What ``solve --json`` and ``place --json`` print has the content of a placement file under the key
``placement``, and so has a plan that ``rebalance`` wrote. A placement file that names no instance
is taken, too, with a note.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, at, in_file
from slotwise.models.formats.placement_file import (
    RefusalFile,
    placement_file_of,
    placement_of,
)
from slotwise.models.formats.running.plan_file import PLAN_FORMAT, PlanFile
from slotwise.models.formats.text import parse_text, read_data
from slotwise.models.formats.validation import validated
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement


@dataclass(frozen=True, slots=True)
class GivenPlacement:
    """A placement, and a note for people about how it was read; ``None`` = nothing to note."""

    placement: Placement
    note: str | None = None


def read_given_placement(source: str | Path, instance: Instance) -> GivenPlacement:
    """Read a placement of `instance`; ``-`` = stdin.

    Raises
    ------
    InputError
        One line: file, field, value, rule; also for a placement of another instance, for a refusal,
        and for an answer without a placement.
    """
    data, file = read_data(source)
    return _in_file(data, instance, file)


def given_placement_from_text(text: str, instance: Instance, *, file: str) -> GivenPlacement:
    """Return the placement in a text; `file` names it in messages. See `read_given_placement`."""
    with in_file(file):
        data = parse_text(text)
    return _in_file(data, instance, file)


def _in_file(data: Any, instance: Instance, file: str) -> GivenPlacement:
    with in_file(file):
        given = given_placement_from_data(data, instance)
    return given if given.note is None else GivenPlacement(given.placement, f"{file}: {given.note}")


def given_placement_from_data(data: Any, instance: Instance) -> GivenPlacement:
    """Return the placement in the data of a file. See `read_given_placement`."""
    if isinstance(data, dict) and data.get("format") == PLAN_FORMAT:
        validated(PlanFile, data)
        with at("placement"):
            return _given(data["placement"], instance)
    if is_answer(data):
        if data["placement"] is None:
            status = data.get("status")
            rule = f"is missing from this answer (status {status!r}); give one that has a placement"
            raise InputError(rule, field="placement", has_value=False)
        with at("placement"):
            return _given(data["placement"], instance)
    return _given(data, instance)


def is_answer(data: Any) -> bool:
    """Whether data are the answer of a command, with a placement in it or without one.

    Places by name, where a topology may have the id ``placement``, are none.
    """
    if not isinstance(data, dict) or "format" in data or "placement" not in data:
        return False
    inside = data["placement"]
    has_format = isinstance(inside, dict) and isinstance(inside.get("format"), str)
    return inside is None or has_format or isinstance(data.get("status"), str)


def _given(data: Any, instance: Instance) -> GivenPlacement:
    if isinstance(data, dict) and "refused" in data:
        reason = validated(RefusalFile, data).refused
        raise InputError("is a refusal; give a placement", field="refused", value=reason)
    file = placement_file_of(data, instance)
    note = None
    if file.instance is None:
        note = f"has no `instance` (hash); it is taken for a placement of {instance.name!r}"
    return GivenPlacement(placement_of(file, instance), note)
