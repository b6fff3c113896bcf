"""Reader of Flux files: topologies of Storm described in YAML.

As ``flux-core`` 2.8 reads them: ``${NAME}`` is replaced line by line by a property and
``${ENV-NAME}`` by an environment variable, the last one of a line; ``includes`` go one level deep;
a bolt to which no stream leads is not part of the topology; a key that Flux does not have is an
error. A topology that Java code makes
(``topologySource``) cannot be read: submit it and ask Nimbus.

Flux does not say how many ackers Storm will start: without ``topology.acker.executors`` none are
read, which is listed as assumed. Nor how many go with a worker, which Nimbus estimates.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, at, in_file
from slotwise.models.formats.text import parse_text, read_text
from slotwise.models.formats.validation import validated
from slotwise.models.importers.storm_settings import (
    METRICS,
    Conf,
    Imported,
    SettingShapes,
    demands_of,
    refuse_unknown,
    topology_of,
    whole_setting,
)
from slotwise.models.instance.topology import ACKER, Component, Stream, Topology, grouping_name
from slotwise.models.nouns import Flag, Name, Noun, Positive
from slotwise.models.values import known

_PROPERTY = re.compile(r".*\$\{(?P<var>ENV-(?P<env>.+)|(?P<list>.+)\[(?P<index>\d+)]|.+)}.*")
_LOADS = {
    "cpu_load": "topology.component.cpu.pcore.percent",
    "onheap_load": "topology.component.resources.onheap.memory.mb",
    "offheap_load": "topology.component.resources.offheap.memory.mb",
}


Unread = object
"""What Flux gives to Java code, or what changes no placement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxGrouping(Noun):
    """How a stream is dealt to its target's tasks."""

    type: str
    stream: str | None = field(default=None, metadata={"alias": "streamId"})
    args: Unread = None
    custom: Unread = field(default=None, metadata={"alias": "customClass"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxStream(Noun):
    """A stream between two components."""

    source: Name = field(metadata={"alias": "from"})
    target: Name = field(metadata={"alias": "to"})
    grouping: FluxGrouping
    name: Unread = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxVertex(Noun):
    """A spout or bolt; a load of -1 is not set."""

    id: Name
    parallelism: Positive = 1
    tasks: int = field(default=-1, metadata={"alias": "numTasks"})
    cpu_load: int = field(default=-1, metadata={"alias": "cpuLoad"})
    onheap_load: int = field(default=-1, metadata={"alias": "onHeapMemoryLoad"})
    offheap_load: int = field(default=-1, metadata={"alias": "offHeapMemoryLoad"})
    code: Unread = field(default=None, metadata={"alias": "className"})
    constructor: Unread = field(default=None, metadata={"alias": "constructorArgs"})
    properties: Unread = None
    methods: Unread = field(default=None, metadata={"alias": "configMethods"})
    factory: Unread = None
    factory_args: Unread = field(default=None, metadata={"alias": "factoryArgs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxInclude(Noun):
    """Another file, whose parts are added."""

    file: str
    resource: Flag = False
    override: Flag = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxFile(Noun):
    """A topology."""

    name: str | None = None
    config: Mapping[str, object] | None = None
    spouts: tuple[FluxVertex, ...] | None = None
    bolts: tuple[FluxVertex, ...] | None = None
    streams: tuple[FluxStream, ...] | None = None
    includes: tuple[FluxInclude, ...] | None = None
    source: object = field(default=None, metadata={"alias": "topologySource"})
    components: Unread = None
    hooks: Unread = field(default=None, metadata={"alias": "workerHooks"})


def is_flux(text: str) -> bool:
    """Say whether a text is a Flux file; it need not be YAML before its properties are put in."""
    return re.search(r"^(spouts|bolts|topologySource)\s*:", text, re.MULTILINE) is not None


def read_flux(path: str | Path, properties: Mapping[str, str] | None = None) -> Imported:
    """Return the topology of a Flux file.

    Parameters
    ----------
    path
        The file; files that it includes are looked up in its folder.
    properties
        Values of ``${NAME}``; ``None`` = none.

    Raises
    ------
    InputError
        One line: for bad input, a property without a value, a topology that only Java code
        defines, and a file included from a jar.
    """
    values = properties or {}
    with in_file(str(path)):
        file = _parsed(Path(path), values)
        for include in file.includes or ():
            if include.resource:
                rule = (
                    "is in a jar, which slotwise does not open; submit the topology and ask Nimbus"
                )
                raise InputError(rule, field="includes.file", value=include.file)
            file = _merged(
                file, _parsed(Path(path).parent / include.file, values), include.override
            )
        return _imported(file, path)


def _parsed(path: Path, properties: Mapping[str, str]) -> FluxFile:
    with in_file(str(path)):
        text = read_text(path)
        lines = [_substituted(line, i, properties) for i, line in enumerate(text.splitlines(), 1)]
        return validated(FluxFile, parse_text("\n".join(lines) + "\n", yaml=True))


def _substituted(line: str, number: int, properties: Mapping[str, str]) -> str:
    """Return a line with its last ``${...}`` replaced, as Flux does."""
    match = _PROPERTY.match(line)
    if match is None or line.lstrip().startswith("#"):
        return line
    name = match["var"]
    if match["env"] is not None:
        value = os.environ.get(match["env"])
    elif match["list"] is not None:
        items = properties.get(match["list"], "")[1:-1].split(",")
        index = int(match["index"])
        value = items[index].strip()[1:-1] if index < len(items) else None
    else:
        value = properties.get(name)
    if value is None:
        rule = "has no value: give it with --property NAME=VALUE, ENV-NAME in the environment"
        raise InputError(rule, field=f"line {number}", value="${" + name + "}")
    return line.replace("${" + name + "}", value)


def _merged(file: FluxFile, other: FluxFile, override: bool) -> FluxFile:
    """Return a file with the parts of an included one; streams are added in any case."""

    def by_id(
        own: Sequence[FluxVertex] | None, added: Sequence[FluxVertex] | None
    ) -> tuple[FluxVertex, ...]:
        vertices = {one.id: one for one in own or ()}
        for one in added or ():
            if override or one.id not in vertices:
                vertices[one.id] = one
        return tuple(vertices.values())

    own, added = file.config or {}, other.config or {}
    return replace(
        file,
        name=other.name if override and other.name else file.name or other.name,
        config={**own, **added} if override else {**added, **own},
        spouts=by_id(file.spouts, other.spouts),
        bolts=by_id(file.bolts, other.bolts),
        streams=(*(file.streams or ()), *(other.streams or ())),
    )


def _imported(file: FluxFile, path: str | Path) -> Imported:
    if file.source is not None:
        raise InputError(
            "is Java code, which only Storm can run; submit the topology and import nimbus://HOST:PORT",
            field="topologySource",
            has_value=False,
        )
    if not file.name:
        raise InputError("is missing", field="name", has_value=False)
    conf = file.config or {}
    refuse_unknown(conf)
    spouts, bolts = file.spouts or (), file.bolts or ()
    ids = [one.id for one in (*spouts, *bolts)]
    subscribed: dict[tuple[str, str | None, str], Stream] = {}
    for i, one in enumerate(file.streams or ()):
        with at(f"streams[{i}]"):
            known(one.source, ids, "from")
            known(one.target, [bolt.id for bolt in bolts], "to")
            stream = Stream(one.source, one.target, grouping_name(one.grouping.type))
            # A bolt subscribes to a stream once, by what is stated last.
            subscribed[one.source, one.grouping.stream, one.target] = stream
    streams = list(subscribed.values())
    reached = {one.target for one in streams}
    unreached = {one.id for one in bolts} - reached
    for i, stream in enumerate(streams):
        if stream.source in unreached:
            rule = "is a bolt to which no stream leads, so that Flux leaves it out"
            raise InputError(rule, field=f"streams[{i}].from", value=stream.source)
    components = [_component(one, "spout", conf) for one in spouts]
    components += [_component(one, "bolt", conf) for one in bolts if one.id in reached]
    assumed = []
    if conf.get("topology.acker.executors") is None:
        assumed.append(f"{path}: no ackers (Storm decides how many when it is submitted)")
    components += [
        Component(name, "system", count, demands_of(name, {}, conf))
        for name, count in _system_tasks(conf).items()
        if count
    ]
    bare = Topology(file.name, tuple(components), tuple(streams))
    return Imported(
        topologies=(topology_of(conf, bare),),
        read=(f"{path}: topology {file.name}, {len(components)} components",),
        assumed=tuple(assumed),
        ignored=tuple(f"{path}: bolt {one}: no stream leads to it" for one in sorted(unreached)),
    )


def _system_tasks(conf: Conf) -> dict[str, int]:
    """Return the executors that Storm adds: ackers, event loggers, consumers of metrics."""
    counts = {
        name: whole_setting(conf, key)
        for name, key in (
            (ACKER, "topology.acker.executors"),
            ("__eventlogger", "topology.eventlogger.executors"),
        )
        if conf.get(key) is not None
    }
    seen: Counter[str] = Counter()
    for one in validated(SettingShapes, conf).consumers or ():
        seen[one.name] += 1
        again = f"#{seen[one.name]}" if seen[one.name] > 1 else ""
        counts[f"{METRICS}{one.name}{again}"] = one.parallelism
    return counts


def _component(vertex: FluxVertex, kind: str, conf: Mapping[str, Any]) -> Component:
    own: dict[str, Any] = {}
    for name, key in _LOADS.items():
        load = getattr(vertex, name)
        # Flux sets off-heap memory only together with on-heap memory.
        if load > -1 and (name != "offheap_load" or vertex.onheap_load > -1):
            own[key] = load
    if vertex.tasks > -1:
        own["topology.tasks"] = vertex.tasks
    with at(f"{kind}s {vertex.id}"):
        shapes = validated(SettingShapes, {**conf, **own})
        limits = (vertex.parallelism, shapes.tasks, shapes.most_tasks)
        executors = min(one for one in limits if one is not None)
        return Component(vertex.id, kind, executors, demands_of(vertex.id, own, conf))
