"""A topology file with measured weights in place of its own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.topology import ACKER, Ackers, Component, Stream, Topology
from slotwise.pipeline.statistics.weights.measured import (
    ComponentWeights,
    Measured,
    StreamWeights,
    TaskPlace,
    Weight,
    rounded,
)

RESOURCES = ("cpu", "onheap_mb", "offheap_mb")
"""Demands that are measured."""

Holder = TypeVar("Holder", Component, Ackers)

_INDEX = re.compile(r".*[\[/](\d+)\]?")


def measured_instance(
    instance: Instance, measured: Measured, tuple_bytes: Decimal | None = None
) -> Instance:
    """Return `instance` with measured demands, rates and sizes of tuples, and where tasks ran.

    With what a prediction reads, too: the time per tuple of each component, and the rate of a spout
    that sends on one stream, where no window limits it. What was not measured keeps its value. The
    flow becomes ``rates`` where every stream has a rate
    afterwards. Everything else stays.

    Parameters
    ----------
    instance
        The topology file that was measured with.
    measured
        What the logs say of it.
    tuple_bytes
        Size of a tuple where neither logs nor file tell it; ``None`` = 1, as in any instance.
    """
    topologies = tuple(_topology(one, measured, tuple_bytes) for one in instance.topologies)
    rates = all(
        stream.rate is not None or stream.source == stream.target
        for one in topologies
        for stream in one.streams
    )
    running = running_places(instance, measured.places)
    return replace(
        instance,
        topologies=topologies,
        running=running or instance.running,
        flow="rates" if rates and any(one.streams for one in topologies) else instance.flow,
    )


def _topology(topology: Topology, measured: Measured, tuple_bytes: Decimal | None) -> Topology:
    weights = {one.component: one for one in measured.components if one.topology == topology.id}
    flows = {(o.source, o.target): o for o in measured.streams if o.topology == topology.id}
    ackers = topology.ackers
    if ackers is not None and ACKER in weights:
        ackers = _with_demands(ackers, weights[ACKER])
    streams = _streams(topology, flows, tuple_bytes)
    return replace(
        topology,
        components=tuple(
            _with_workload(topology, _with_demands(one, weights[one.id]), weights[one.id], streams)
            if one.id in weights
            else one
            for one in topology.components
        ),
        ackers=ackers,
        streams=streams,
    )


def _with_workload(
    topology: Topology,
    component: Component,
    weights: ComponentWeights,
    streams: Sequence[Stream],
) -> Component:
    """Return a component with its measured time per tuple and, of a spout, its rate.

    A tuple that a spout emits is on one stream, so the rate is known where it has but one. Under a
    window a rate would be a limit, which no log tells.
    """
    if weights.service_ms is not None and weights.service_ms.value:
        component = replace(component, service_ms=weights.service_ms.value)
    mine = [one for one in streams if one.source == component.id]
    if component.kind == "spout" and topology.window is None and len(mine) == 1:
        (stream,) = mine
        component = replace(component, rate=component.rate if stream.rate is None else stream.rate)
    return component


def _with_demands(holder: Holder, weights: ComponentWeights) -> Holder:
    resources, estimated = dict(holder.resources), set(holder.estimated)
    for name in RESOURCES:
        weight: Weight | None = getattr(weights, name)
        if weight is not None:
            resources[name] = weight.value
            (estimated.add if weight.estimated else estimated.discard)(name)
    return replace(holder, resources=resources, estimated=tuple(estimated))


def _streams(
    topology: Topology,
    flows: Mapping[tuple[str, str], StreamWeights],
    tuple_bytes: Decimal | None,
) -> tuple[Stream, ...]:
    parallel: dict[tuple[str, str], list[Stream]] = defaultdict(list)
    for stream in topology.streams:
        parallel[stream.source, stream.target].append(stream)
    receivers = {one.id: one.parallelism for one in topology.placed_components}
    return tuple(
        _stream(one, flows[ends], parallel[ends], receivers[one.target], tuple_bytes)
        if (ends := (one.source, one.target)) in flows
        else one
        for one in topology.streams
    )


def _stream(
    stream: Stream,
    weights: StreamWeights,
    parallel: Sequence[Stream],
    receivers: int,
    stated: Decimal | None,
) -> Stream:
    """Return a stream with its share of what its target receives from its source.

    Logs do not tell streams between the same two components apart: they keep the proportion of
    their rates in the file, or share alike where one has none.
    """
    marks = set(stream.estimated)
    rate, size = stream.rate, stream.tuple_bytes
    if weights.received is not None:
        rate = rounded(Fraction(weights.received.value) * _share(stream, parallel, receivers))
        estimated = weights.received.estimated or len(parallel) > 1
        (marks.add if estimated else marks.discard)("rate")
    if weights.tuple_bytes is not None:
        size = weights.tuple_bytes.value
        (marks.add if weights.tuple_bytes.estimated else marks.discard)("tuple_bytes")
    elif weights.received is not None:
        size = stated if size is None else size
        marks.add("tuple_bytes")
    return replace(stream, rate=rate, tuple_bytes=size, estimated=tuple(marks))


def _share(stream: Stream, parallel: Sequence[Stream], receivers: int) -> Fraction:
    """Return the stream's own rate for each tuple received; ``all`` delivers one R times."""
    known = all(one.rate is not None for one in parallel) and any(one.rate for one in parallel)
    own = [Fraction(one.rate or 0) if known else Fraction(1) for one in parallel]
    copies = [receivers if one.grouping == "all" else 1 for one in parallel]
    received = sum(rate * copy for rate, copy in zip(own, copies, strict=True))
    return own[parallel.index(stream)] / received if received else Fraction(0)


def running_places(
    instance: Instance, places: Iterable[TaskPlace]
) -> dict[str, dict[str, Place]] | None:
    """Return where the tasks run, in the instance's names; ``None`` = no task of it was seen.

    Storm numbers the tasks of a component consecutively; the task with the least number has index
    0. A worker whose port is not known gets the topology's place in the file as its label. Of
    topologies that used a worker one after the other, the last one is in it. Nodes that the cluster
    does not have, and surplus tasks, are left out.
    """
    node_of = node_ids(instance.cluster)
    of_component: dict[tuple[str, str], list[TaskPlace]] = defaultdict(list)
    for one in places:
        of_component[one.topology, one.component].append(one)
    seen: list[tuple[datetime, str, str, Place]] = []
    for label, topology in enumerate(instance.topologies):
        for component in topology.placed_components:
            several = of_component[topology.id, component.id]
            for index, one in indexed(several, component.parallelism).items():
                if one.node not in node_of:
                    continue
                place = Place(node_of[one.node], label if one.worker is None else one.worker)
                seen.append((one.time, topology.id, f"{component.id}[{index}]", place))
    tenants = {place: topology for _, topology, _, place in sorted(seen, key=lambda one: one[0])}
    running: dict[str, dict[str, Place]] = {}
    for _, topology_id, task, place in seen:
        if tenants[place] == topology_id:
            running.setdefault(topology_id, {})[task] = place
    return running or None


def node_ids(cluster: Cluster) -> dict[str, str]:
    """Return name in logs -> node id: the id itself, or a host that no other node has."""
    hosts = [node.host for node in cluster.nodes]
    by_host = {node.host: node.id for node in cluster.nodes if hosts.count(node.host) == 1}
    return by_host | {node.id: node.id for node in cluster.nodes}


def indexed(places: Sequence[TaskPlace], parallelism: int) -> dict[int, TaskPlace]:
    """Return index of a component's task -> where it ran.

    Where the name of a task has no number, the index is its rank among the names.
    """
    number = {one.task: _number(one.task) for one in places}
    numbers = sorted({one for one in number.values() if one is not None})
    named = all(_INDEX.fullmatch(task) for task in number)
    first = 0 if named or not numbers else numbers[0]
    if None in number.values():
        index = {task: rank for rank, task in enumerate(sorted(number))}
    elif numbers and numbers[-1] - first < parallelism:
        index = {task: n - first for task, n in number.items() if n is not None}
    else:
        index = {task: numbers.index(n) for task, n in number.items() if n is not None}
    latest = {index[one.task]: one for one in sorted(places, key=lambda one: one.time)}
    return {i: latest[i] for i in sorted(latest) if i < parallelism}


def _number(task: str) -> int | None:
    """Return Storm's number of a task, or the index in ``component[index]``; ``None`` = neither."""
    written = _INDEX.fullmatch(task)
    digits = written[1] if written else task
    return int(digits) if digits.isdecimal() else None
