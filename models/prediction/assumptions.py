"""Defaults for what an instance does not say of its workload, and a list of where they stand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, TypeVar

from slotwise.models.errors import in_file
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import check_format, validated
from slotwise.models.instance.cluster import Cluster, LevelTimes
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.nouns import SPARSE, AboveZero, Noun, Number, Positive
from slotwise.models.values import plain

ASSUMPTIONS_FORMAT = "slotwise.assumptions/1"

N = TypeVar("N", bound=Noun)


@dataclass(frozen=True, slots=True)
class Assumptions(Noun):
    """A file ``slotwise.assumptions/1``: values for keys that an instance lacks.

    The keys are those of the instance; each stands for every noun that may have it and does not.

    Parameters
    ----------
    rate
        Of spouts of topologies without a window; ``None`` = not assumed.
    service_ms
        Of components and ackers; ``None`` = not assumed.
    service_scv
        Of components and ackers; ``None`` = not assumed.
    message_bytes
        Of ackers; ``None`` = not assumed.
    selectivity
        Of streams without a rate; ``None`` = not assumed.
    tuple_bytes
        Of streams; ``None`` = not assumed.
    cores
        Of nodes; ``None`` = not assumed.
    bandwidth_in_mbit_s
        Of nodes; ``None`` = not assumed.
    bandwidth_out_mbit_s
        Of nodes; ``None`` = not assumed.
    delay_ms
        Of the cluster, by level.
    serialise_ms
        Of the cluster, by level.
    uplink_mbit_s
        Of every rack; ``None`` = not assumed.
    """

    FORMAT = ASSUMPTIONS_FORMAT

    rate: Number | None = field(default=None, metadata=SPARSE)
    service_ms: Number | None = field(default=None, metadata=SPARSE)
    service_scv: Number | None = field(default=None, metadata=SPARSE)
    message_bytes: Number | None = field(default=None, metadata=SPARSE)
    selectivity: Number | None = field(default=None, metadata=SPARSE)
    tuple_bytes: Number | None = field(default=None, metadata=SPARSE)
    cores: Positive | None = field(default=None, metadata=SPARSE)
    bandwidth_in_mbit_s: AboveZero | None = field(default=None, metadata=SPARSE)
    bandwidth_out_mbit_s: AboveZero | None = field(default=None, metadata=SPARSE)
    delay_ms: LevelTimes = field(default_factory=LevelTimes, metadata=SPARSE)
    serialise_ms: LevelTimes = field(default_factory=LevelTimes, metadata=SPARSE)
    uplink_mbit_s: AboveZero | None = field(default=None, metadata=SPARSE)


def read_assumptions(path: str | os.PathLike[str]) -> Assumptions:
    """Return what a file of assumptions says.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    data, file = read_data(path)
    with in_file(file):
        return assumptions_of(data)


def assumptions_of(data: object) -> Assumptions:
    """Return the assumptions that the data of a file are; see `read_assumptions` for errors."""
    check_format(data, ASSUMPTIONS_FORMAT)
    return validated(Assumptions, data)


@dataclass(frozen=True, slots=True)
class Assumed:
    """A value that was filled in.

    Parameters
    ----------
    key
        As in the file, ``delay_ms.rack`` for one of a level.
    value
        What was assumed.
    where
        Paths of the nouns that have it now.
    """

    key: str
    value: Decimal | int
    where: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"key": self.key, "value": plain(self.value), "where": list(self.where)}


class _Filling:
    """Fills keys in, and keeps where."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[Decimal | int, list[str]]] = {}

    def note(self, key: str, value: Decimal | int, path: str) -> None:
        self.found.setdefault(key, (value, []))[1].append(path)

    def filled(self, noun: N, path: str, defaults: Mapping[str, Any]) -> N:
        """Return a noun with the defaults where it has ``None``."""
        changes = {
            key: value
            for key, value in defaults.items()
            if value is not None and getattr(noun, key) is None
        }
        for key, value in changes.items():
            self.note(key, value, path)
        return replace(noun, **changes) if changes else noun  # type: ignore[type-var]


def with_assumptions(
    instance: Instance, assumptions: Assumptions
) -> tuple[Instance, tuple[Assumed, ...]]:
    """Return the instance with what it lacks filled in, and what that was and where."""
    filling = _Filling()
    cluster = _cluster(filling, instance.cluster, assumptions)
    topologies = tuple(
        _topology(filling, f"topologies[{t}]", topology, assumptions)
        for t, topology in enumerate(instance.topologies)
    )
    assumed = tuple(Assumed(key, value, tuple(at)) for key, (value, at) in filling.found.items())
    return replace(instance, cluster=cluster, topologies=topologies), assumed


def _topology(
    filling: _Filling, path: str, topology: Topology, assumptions: Assumptions
) -> Topology:
    service = {key: getattr(assumptions, key) for key in ("service_ms", "service_scv")}
    components = []
    for c, component in enumerate(topology.components):
        is_source = component.kind == "spout" and topology.window is None
        rate = {"rate": assumptions.rate} if is_source else {}
        components.append(filling.filled(component, f"{path}.components[{c}]", {**service, **rate}))
    streams = []
    for s, stream in enumerate(topology.streams):
        defaults: dict[str, Any] = {"tuple_bytes": assumptions.tuple_bytes}
        if stream.rate is None:
            defaults["selectivity"] = assumptions.selectivity
        streams.append(filling.filled(stream, f"{path}.streams[{s}]", defaults))
    ackers = topology.ackers
    if ackers is not None:
        defaults = {**service, "message_bytes": assumptions.message_bytes}
        ackers = filling.filled(ackers, f"{path}.ackers", defaults)
    return replace(topology, components=tuple(components), streams=tuple(streams), ackers=ackers)


def _cluster(filling: _Filling, cluster: Cluster, assumptions: Assumptions) -> Cluster:
    keys = ("cores", "bandwidth_in_mbit_s", "bandwidth_out_mbit_s")
    defaults = {key: getattr(assumptions, key) for key in keys}
    nodes = tuple(
        filling.filled(node, f"cluster.nodes[{n}]", defaults)
        for n, node in enumerate(cluster.nodes)
    )
    times: dict[str, LevelTimes] = {}
    for key in ("delay_ms", "serialise_ms"):
        given, default = getattr(cluster, key), getattr(assumptions, key)
        for level in fields(LevelTimes):
            value = getattr(default, level.name)
            if value is not None and getattr(given, level.name) is None:
                filling.note(f"{key}.{level.name}", value, "cluster")
                given = replace(given, **{level.name: value})
        times[key] = given
    uplinks = dict(cluster.uplink_mbit_s)
    if assumptions.uplink_mbit_s is not None:
        for rack in cluster.racks:
            if rack not in uplinks:
                uplinks[rack] = assumptions.uplink_mbit_s
                where = f"cluster.uplink_mbit_s.{rack}"
                filling.note("uplink_mbit_s", assumptions.uplink_mbit_s, where)
    return replace(
        cluster,
        nodes=nodes,
        delay_ms=times["delay_ms"],
        serialise_ms=times["serialise_ms"],
        uplink_mbit_s=uplinks,
    )
