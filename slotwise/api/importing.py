"""Instances of a running Storm, and of the files that its operators have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from pydantic import RootModel

from slotwise.api.paths import path_of
from slotwise.api.plain_data import plain_data
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.importers import storm_sources
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_hash
from slotwise.models.values import time_limit


class RacksFile(RootModel[dict[str, str]]):
    """A table of racks: host or supervisor's id -> rack."""


@dataclass(frozen=True, slots=True)
class ImportedCluster:
    """An instance, and what was read for it.

    Parameters
    ----------
    instance
        What the sources state together.
    read, assumed, ignored
        One line for each thing that was read, assumed where no source says it, or left out.
    """

    instance: Instance
    read: tuple[str, ...]
    assumed: tuple[str, ...]
    ignored: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the hash of the instance and the three lists, ready for JSON."""
        return {
            "instance": instance_hash(self.instance),
            "read": list(self.read),
            "assumed": list(self.assumed),
            "ignored": list(self.ignored),
        }


def import_storm(
    sources: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    racks: Mapping[str, str] | str | PathLike[str] | None = None,
    properties: Mapping[str, str] | Iterable[str] = (),
    timeout_s: float = 30.0,
) -> ImportedCluster:
    """Read an instance from a running Storm, or from the files that describe one.

    Parameters
    ----------
    sources
        ``nimbus://HOST:PORT``; a Flux file; a ``storm.yaml``, which names its supervisor's host
        (``storm.local.hostname``) or is written ``HOST,HOST=FILE``; a file of user resource pools.
        Each states a part of the instance; one, or several.
    racks
        Host or supervisor's id -> rack, or a file of it in YAML or JSON; ``None`` = all nodes are
        in one rack, for Nimbus does not know racks.
    properties
        Values of ``${NAME}`` in Flux files, also as on the command line: ``["NAME=VALUE"]``.
    timeout_s
        Longest wait for an answer of Nimbus, seconds.

    Raises
    ------
    InputError
        One line: for bad input, a Nimbus that does not answer, a setting that changes a placement
        and is not known, and a part that two sources state.

    Examples
    --------
    >>> import slotwise
    >>> cluster = slotwise.import_storm(
    ...     ["docs/examples/clicks.flux.yaml", "a1,a2=docs/examples/storm.yaml"],
    ...     properties={"PRIORITY": "3"},
    ... )
    >>> cluster.instance
    Instance storm: 2 nodes in 1 rack, 1 topology, 11 tasks, objective overload, network
      Topology clicks: kafka[2], parse[4], count[4], __acker[1]
    """
    several = (sources,) if isinstance(sources, str | PathLike) else tuple(sources)
    if not several:
        raise InputError("needs at least one source", field="sources", has_value=False)
    instance, imported = storm_sources.import_storm(
        [fspath(source) for source in several],
        racks=None if racks is None else _racks(racks),
        properties=_properties(properties),
        timeout_s=time_limit(timeout_s, "timeout_s"),
    )
    return ImportedCluster(instance, imported.read, imported.assumed, imported.ignored)


def _racks(given: Mapping[str, str] | str | PathLike[str]) -> dict[str, str]:
    if isinstance(given, Mapping):
        return validated(RacksFile, plain_data(given)).root
    data, file = read_data(path_of(given, "racks", "a path or a dict"))
    with in_file(file):
        return validated(RacksFile, data).root


def _properties(given: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    if isinstance(given, Mapping):
        return dict(given)
    values = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError("must be NAME=VALUE", field="properties", value=word)
        values[name] = value
    return values
