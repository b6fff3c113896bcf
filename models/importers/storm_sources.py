"""A cluster's instance from what an operator has: a Nimbus, Flux files, ``storm.yaml``, racks.

Which placement problem do these sources state together? Each says a part: a Nimbus has nodes,
topologies and what runs; a Flux file a topology; a ``storm.yaml`` a supervisor, the cluster's
scheduler or the users' pools. A part that two sources state is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from slotwise.models.display import counted
from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import parse_text, read_text
from slotwise.models.formats.validation import validated
from slotwise.models.importers.flux import is_flux, read_flux
from slotwise.models.importers.nimbus import NO_RACK, read_nimbus
from slotwise.models.importers.storm_settings import (
    DEFAULTS,
    SCHEDULER,
    Conf,
    Imported,
    SettingShapes,
    capacities,
    refuse_unknown,
    scheduler_of,
)
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Scheduler

Noun = TypeVar("Noun")


def import_storm(
    sources: Sequence[str],
    *,
    racks: Mapping[str, str] | None = None,
    properties: Mapping[str, str] | None = None,
    timeout_s: float = 30,
) -> tuple[Instance, Imported]:
    """Return the instance that the sources state together, and what was read and assumed.

    Parameters
    ----------
    sources
        ``nimbus://HOST:PORT``, a Flux file, a ``storm.yaml``, or ``HOST,HOST=FILE`` for a
        ``storm.yaml`` that several supervisors have.
    racks
        Host or supervisor's id -> rack; ``None`` = all nodes are in one rack.
    properties
        Values of ``${NAME}`` in Flux files.
    timeout_s
        Longest wait for an answer of a Nimbus, seconds.

    Raises
    ------
    InputError
        One line: for bad input, a setting that changes a placement and is not known, a part stated
        twice or not at all.
    """
    parts = [_read(source, properties, timeout_s) for source in sources]
    merged = Imported(
        nodes=_once((node for part in parts for node in part.nodes), lambda one: one.id, "node"),
        topologies=_once(
            (one for part in parts for one in part.topologies), lambda one: one.id, "topology"
        ),
        scheduler=_stated_once(part.scheduler for part in parts),
        running={name: places for part in parts for name, places in part.running.items()},
        ids={name: one for part in parts for name, one in part.ids.items()},
        read=tuple(line for part in parts for line in part.read),
        assumed=tuple(line for part in parts for line in part.assumed),
        ignored=tuple(line for part in parts for line in part.ignored),
    )
    if not merged.nodes:
        rule = "names no supervisor: add a nimbus://HOST:PORT or HOST=storm.yaml"
        raise InputError(rule, field="SOURCE", value=", ".join(sources))
    if racks is not None:
        merged = merged.with_racks(racks)
        kept = tuple(line for line in merged.assumed if NO_RACK not in line)
        merged = replace(merged, assumed=kept)
    instance = Instance(
        name="storm",
        cluster=Cluster(merged.nodes),
        topologies=merged.topologies,
        scheduler=scheduler_of(merged.scheduler) if merged.scheduler else Scheduler(),
        running=merged.running if any(map(_is_address, sources)) else None,
    )
    return instance, merged


def _read(source: str, properties: Mapping[str, str] | None, timeout_s: float) -> Imported:
    if _is_address(source):
        return read_nimbus(source, timeout_s)
    hosts, equals, path = source.rpartition("=")
    text = read_text(Path(path))
    if is_flux(text) and not equals:
        return read_flux(path, properties)
    with in_file(path):
        data = parse_text(text, yaml=True)
        return _of_storm_yaml(path, data, [host for host in hosts.split(",") if host])


def _is_address(source: str) -> bool:
    """Say whether a source is a Nimbus, not a file."""
    return "://" in source


def _of_storm_yaml(path: str, data: Any, hosts: list[str]) -> Imported:
    """Return what a ``storm.yaml`` says: supervisors, the cluster's scheduler, or both."""
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise InputError("must be a Flux file or Storm's settings", field="SOURCE", value=path)
    if not any(key.partition(".")[0] in _STORM for key in data):
        rule = "must be a Flux file or Storm's settings (storm.yaml)"
        raise InputError(rule, field="SOURCE", value=path)
    refuse_unknown(data)
    supervises = any(key.startswith("supervisor.") for key in data)
    own = data.get("storm.local.hostname")
    if own is not None and not isinstance(own, str):
        raise InputError("must be a name", field="storm.local.hostname", value=own)
    if not hosts and own:
        hosts = [own]
    if supervises and not hosts:
        rule = f"does not name its host: write HOST={Path(path).name} (several: HOST,HOST=FILE)"
        raise InputError(rule, field="storm.local.hostname", has_value=False)
    ports = validated(SettingShapes, data).ports
    slots = len(set(DEFAULTS["supervisor.slots.ports"] if ports is None else ports))
    offered = capacities(data)
    nodes = tuple(Node(host, NO_RACK, host, slots, offered) for host in hosts)
    rules = {key: data[key] for key in SCHEDULER if data.get(key) is not None}
    scheduler_of(rules)  # raises where one of them cannot be
    return Imported(
        nodes=nodes,
        scheduler=rules,
        read=(f"{path}: {counted(len(nodes), 'supervisor')}" + (", scheduler" if rules else ""),),
        assumed=tuple(_assumed(path, data)) if nodes else (),
    )


def _assumed(path: str, data: Mapping[str, Any]) -> Iterator[str]:
    """Say what Storm takes for a supervisor's settings that a file does not have."""
    for key in (
        "supervisor.slots.ports",
        "supervisor.cpu.capacity",
        "supervisor.memory.capacity.mb",
    ):
        if data.get(key) is None:
            default = DEFAULTS[key]
            value = ", ".join(map(str, default)) if isinstance(default, tuple) else default
            yield f"{path}: {key} is {value}, Storm's default"
    yield f"{path}: its nodes are in one rack, {NO_RACK} (--racks FILE)"


_STORM = frozenset({"storm", "supervisor", "nimbus", "topology", "resource"})


def _stated_once(several: Iterable[Conf]) -> dict[str, Any]:
    """Return the scheduler's settings that some source states; two may state the same."""
    together: dict[str, Any] = {}
    for conf in several:
        for key, value in conf.items():
            if together.setdefault(key, value) != value:
                raise InputError("is stated twice, differently", field=key, value=value)
    return together


def _once(nouns: Iterable[Noun], key: Callable[[Noun], str], what: str) -> tuple[Noun, ...]:
    """Return the nouns; each is stated by one source."""
    all_ = tuple(nouns)
    twice = [name for name, count in Counter(map(key, all_)).items() if count > 1]
    if twice:
        raise InputError("is stated by two sources", field=what, value=twice[0])
    return all_
