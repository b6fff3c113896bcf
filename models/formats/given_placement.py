"""Placements passed in by users: placement files, and answers of commands that hold one.

What ``solve --json`` and ``place --json`` print has the content of a placement file under the key
``placement``, and so has a plan written by ``rebalance``. A placement file without the hash of its
instance is accepted with a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, at, in_file
from slotwise.models.formats.placement_file import (
    RefusalFile,
    placement_file_of,
    placement_of,
)
from slotwise.models.formats.plan_file import PLAN_FORMAT, PlanFile
from slotwise.models.formats.text import parse_text, read_data
from slotwise.models.formats.validation import validated
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement


@dataclass(frozen=True, slots=True)
class GivenPlacement:
    """A placement, and a note about how it was read; ``None`` = no note."""

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
            return _placement_of_file(data["placement"], instance)
    if is_answer(data):
        if data["placement"] is None:
            status = data.get("status")
            rule = f"is missing from this answer (status {status!r}); give one that has a placement"
            raise InputError(rule, field="placement", has_value=False)
        with at("placement"):
            return _placement_of_file(data["placement"], instance)
    return _placement_of_file(data, instance)


def is_answer(data: Any) -> bool:
    """Whether data are the answer of a command, with a placement in it or without one.

    Places by name, where a topology may have the id ``placement``, are not answers.
    """
    if not isinstance(data, dict) or "format" in data or "placement" not in data:
        return False
    inside = data["placement"]
    has_format = isinstance(inside, dict) and isinstance(inside.get("format"), str)
    return inside is None or has_format or isinstance(data.get("status"), str)


def _placement_of_file(data: Any, instance: Instance) -> GivenPlacement:
    if isinstance(data, dict) and "refused" in data:
        reason = validated(RefusalFile, data).refused
        raise InputError("is a refusal; give a placement", field="refused", value=reason)
    file = placement_file_of(data, instance)
    note = None
    if file.instance is None:
        note = f"has no `instance` (hash); it is taken for a placement of {instance.name!r}"
    return GivenPlacement(placement_of(file, instance), note)


# Where tasks run, from a placement passed in by users, also of a cluster with more nodes.


def of_larger_cluster(data: Any, instance: Instance) -> tuple[Any, Instance]:
    """Return data and instance such that a placement on lost nodes can be read.

    Parameters
    ----------
    data
        Of a placement file, a plan or an answer; anything else is returned as it is.
    instance
        The instance of the placement.

    Returns
    -------
    tuple[Any, Instance]
        Where the data name nodes that the cluster lacks: the data without the hash, which is that
        of another instance, and the instance with these nodes, empty, at the end. Otherwise both as
        they are: a placement of another instance stays refused.
    """
    file = _placement_in(data)
    named = _nodes(file) if file is not None else ()
    known = {node.id for node in instance.cluster.nodes}
    gone = [name for name in dict.fromkeys(named) if name not in known]
    if not gone:
        return data, instance
    assert file is not None, "it names nodes"
    cluster = instance.cluster
    added = tuple(Node(name, cluster.nodes[0].rack, slots=0) for name in gone)
    larger = replace(cluster, nodes=(*cluster.nodes, *added), matrix=None)
    bare = {key: value for key, value in file.items() if key != "instance"}
    return bare, replace(instance, cluster=larger)


def _placement_in(data: Any) -> Mapping[str, Any] | None:
    """Return the placement file in the data of an answer, a plan, or itself; ``None`` = none."""
    if not isinstance(data, Mapping):
        return None
    if isinstance(data.get("topologies"), Mapping):
        return data
    inside = data.get("placement")
    return inside if isinstance(inside, Mapping) and "topologies" in inside else None


def _nodes(file: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the nodes in a placement file; data of another shape are checked later."""
    topologies = file.get("topologies")
    nodes = []
    for tasks in topologies.values() if isinstance(topologies, Mapping) else ():
        for place in tasks.values() if isinstance(tasks, Mapping) else ():
            node = place.get("node") if isinstance(place, Mapping) else None
            if isinstance(node, str) and node:
                nodes.append(node)
    return tuple(nodes)
