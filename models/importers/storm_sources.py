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
from slotwise.models.importers.nimbus import NIMBUS, NO_RACK, read_nimbus
from slotwise.models.importers.storm_settings import (
    DEFAULTS,
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
        scheduler=_scheduler(part.scheduler for part in parts),
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
    nimbuses = any(source.startswith(f"{NIMBUS}:") for source in sources)
    instance = Instance(
        name="storm",
        cluster=Cluster(merged.nodes),
        topologies=merged.topologies,
        scheduler=merged.scheduler or Scheduler(),
        running=merged.running if nimbuses else None,
    )
    return instance, merged


def _read(source: str, properties: Mapping[str, str] | None, timeout_s: float) -> Imported:
    if "://" in source:
        return read_nimbus(source, timeout_s)
    hosts, equals, path = source.rpartition("=")
    text = read_text(Path(path))
    if is_flux(text) and not equals:
        return read_flux(path, properties)
    with in_file(path):
        data = parse_text(text, yaml=True)
        return _of_storm_yaml(path, data, [host for host in hosts.split(",") if host])


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
    if not hosts and own:
        hosts = [str(own)]
    if supervises and not hosts:
        rule = f"does not name its host: write HOST={Path(path).name} (several: HOST,HOST=FILE)"
        raise InputError(rule, field="storm.local.hostname", has_value=False)
    ports = validated(SettingShapes, data).ports or DEFAULTS["supervisor.slots.ports"]
    offered = capacities(data)
    nodes = tuple(Node(host, NO_RACK, host, len(ports), offered) for host in hosts)
    rules = any(key in _SCHEDULER for key in data)
    return Imported(
        nodes=nodes,
        scheduler=scheduler_of(data) if rules else None,
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
_SCHEDULER = frozenset(
    {
        "storm.worker.min.cpu.pcore.percent",
        "resource.aware.scheduler.priority.strategy",
        "resource.aware.scheduler.user.pools",
    }
)


def _scheduler(stated: Iterable[Scheduler | None]) -> Scheduler | None:
    """Return the scheduler's settings: of a Nimbus, with the pools of another source."""
    several = [one for one in stated if one is not None]
    if not several:
        return None
    first, *others = several
    for other in others:
        if other.pools and first.pools and other.pools != first.pools:
            raise InputError("are stated twice, differently", field="pools", has_value=False)
        first = replace(first, pools=first.pools or other.pools)
    return first


def _once(nouns: Iterable[Noun], key: Callable[[Noun], str], what: str) -> tuple[Noun, ...]:
    """Return the nouns; each is stated by one source."""
    all_ = tuple(nouns)
    twice = [name for name, count in Counter(map(key, all_)).items() if count > 1]
    if twice:
        raise InputError("is stated by two sources", field=what, value=twice[0])
    return all_
