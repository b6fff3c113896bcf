"""Reader of decoded Storm clusters: the topologies and nodes of Storm's own large tests.

As in Storm's ``TestLargeCluster``: a component without a parallelism hint has no tasks, no ackers
are added, and one configuration (that of the first topology) holds for the whole cluster. All
topologies have one owner and launch time 0; on demand each has its submitter as owner. Constraints
that name components which the topology does not have bind nothing, there as here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from slotwise.models.errors import InputError, at, suggestion
from slotwise.models.formats.validation import validated
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import Component, Constraints, Stream, Topology
from slotwise.models.nouns import Flag, Name, Noun, Number, Positive, Whole
from slotwise.models.values import exact

DEFAULT_HEAP_MB = Decimal(768)
"""Storm's ``topology.worker.max.heap.size.mb`` where a topology does not set it."""

OWNER = "user"
"""Whose all topologies are in Storm's test."""

PRIORITIES = {
    "DefaultSchedulingPriorityStrategy": "default",
    "FIFOSchedulingPriorityStrategy": "fifo",
    "GenericResourceAwareSchedulingPriorityStrategy": "generic",
}
_STRATEGY = re.compile(
    r"((?:[A-Z][a-z0-9]*)+)ResourceAwareStrategy(Old)?|(ConstraintSolver)Strategy"
)


def is_storm_cluster(data: dict[str, Any]) -> bool:
    """Say whether the data of a file is that of a decoded Storm cluster."""
    return "format" not in data and "cluster_spec" in data


def instance_from_storm(
    data: Any,
    *,
    topology: str | None = None,
    worker_min_cpu: Decimal | int | str | None = None,
    submitters: bool = False,
) -> Instance:
    """Return the instance of the data of a decoded cluster; options as in `read_instance`."""
    file = validated(StormFile, data)
    conf = file.cluster_spec.cluster_conf_from_first_topology
    chosen = _chosen(file, topology)
    least = conf.worker_min_cpu_pct
    if worker_min_cpu is not None:
        least = exact(worker_min_cpu, "worker_min_cpu")
    where = "cluster_spec.cluster_conf_from_first_topology.priority_strategy"
    return Instance(
        name=file.cluster if topology is None else f"{file.cluster}-{topology}",
        cluster=Cluster(tuple(_node(i, node) for i, node in enumerate(file.cluster_spec.nodes))),
        topologies=tuple(_topology(i, file.topologies[i], submitters) for i in chosen),
        scheduler=Scheduler(least, _mapped(PRIORITIES, conf.priority_strategy, where)),
    )


def _chosen(file: StormFile, topology: str | None) -> list[int]:
    ids = [one.id for one in file.topologies]
    if topology is None:
        return list(range(len(ids)))
    if topology in ids:
        return [ids.index(topology)]
    rule = f"is not a topology of {file.cluster}; {suggestion(topology, ids)}"
    raise InputError(rule, field="topology", value=topology)


def _node(index: int, node: StormNode) -> Node:
    resources = {"cpu": node.cpu_pct, "memory_mb": node.memory_mb, **node.generic}
    with at(f"cluster_spec.nodes[{index}]"):
        return Node(node.id, node.rack, node.host, node.slots, resources)


def _topology(index: int, file: StormTopology, submitters: bool) -> Topology:
    where = f"topologies[{index}]"
    if file.shared_memory:
        raise InputError(
            "is not read from decoded Storm clusters",
            field=f"{where}.shared_memory",
            value=file.shared_memory,
        )
    heap = file.worker_max_heap_mb
    with at(where):
        return Topology(
            id=file.id,
            components=tuple(_component(i, one) for i, one in enumerate(file.components)),
            streams=tuple(_streams(file)),
            owner=file.submitter if submitters else OWNER,
            priority=file.priority,
            strategy=strategy_name(file.strategy),
            worker_max_heap_mb=DEFAULT_HEAP_MB if heap is None else heap,
            workers=file.num_workers,
            constraints=constraints_between(
                {one.id for one in file.components},
                file.ras_constraints_raw,
                file.spread_components_raw,
            ),
            one_task_per_worker=file.one_executor_per_worker,
            one_component_per_worker=file.one_component_per_worker,
        )


def _component(index: int, one: StormComponent) -> Component:
    resources = {
        "cpu": one.cpu_pct,
        "onheap_mb": one.onheap_mb,
        "offheap_mb": one.offheap_mb,
        **one.generic,
    }
    with at(f"components[{index}]"):
        return Component(one.id, one.kind, one.parallelism_hint or 0, resources)


def _streams(file: StormTopology) -> Iterator[Stream]:
    for i, component in enumerate(file.components):
        for j, one in enumerate(component.inputs):
            with at(f"components[{i}].inputs[{j}]"):
                yield Stream(one.source, component.id, one.grouping)


def constraints_between(
    known: frozenset[str] | set[str], raw: RawConstraints | None, spread: Iterable[str] | None
) -> Constraints:
    """Return the constraints between components that exist, in Storm's old and new spelling.

    Only ``ConstraintSolverStrategy`` keeps them; the problem states them in any case.

    Parameters
    ----------
    known
        The components that exist.
    raw
        ``topology.ras.constraints``.
    spread
        ``topology.spread.components``.
    """
    pairs: list[tuple[str, str]] = []
    most: dict[str, int] = {}
    if isinstance(raw, Mapping):
        for name, rules in raw.items():
            apart = [rules.apart] if isinstance(rules.apart, str) else rules.apart
            pairs.extend((name, other) for other in apart)
            if rules.most is not None:
                most[name] = rules.most
    else:
        pairs.extend(raw or ())
    for name in spread or ():
        most.setdefault(name, 1)
    return Constraints(
        tuple(pair for pair in pairs if known.issuperset(pair)),
        {name: limit for name, limit in most.items() if name in known},
    )


def strategy_name(class_name: str) -> str:
    """Return our name of a class of Storm's strategies, whatever its package.

    ``RoundRobinResourceAwareStrategy`` is ``ras-round-robin``; which strategies there are is not
    known here.

    Raises
    ------
    InputError
        When the class is not named as Storm's resource aware strategies are.
    """
    match = _STRATEGY.fullmatch(class_name.rpartition(".")[2])
    if match is None:
        rule = "must be one of Storm's resource aware strategies, as DefaultResourceAwareStrategy"
        raise InputError(rule, field="strategy", value=class_name)
    words = re.findall("[A-Z][a-z0-9]*", "".join(part or "" for part in match.groups()))
    return "-".join(("ras", *words)).lower()


def _mapped(names: dict[str, str], class_name: str, where: str) -> str:
    """Return our name of a Storm class, whatever its package."""
    short = class_name.rpartition(".")[2]
    if short not in names:
        raise InputError(f"must be one of {', '.join(names)}", field=where, value=class_name)
    return names[short]


# The shape of a decoded Storm cluster, as far as we read it.


class StormObject(Noun):
    """An object of a decoded file, which holds more than we read."""

    __slots__ = ()

    OTHERS = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StormInput(StormObject):
    """A subscription of a component to a stream."""

    source: Name = field(metadata={"alias": "from"})
    grouping: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StormComponent(StormObject):
    """A spout or bolt with the request of one executor."""

    id: Name
    kind: str
    parallelism_hint: Whole | None
    cpu_pct: Number
    onheap_mb: Number
    offheap_mb: Number
    generic: Mapping[str, Number] = field(default_factory=dict)
    inputs: tuple[StormInput, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StormRules(StormObject):
    """Constraints of one component in Storm's newer spelling."""

    most: Positive | None = field(default=None, metadata={"alias": "maxNodeCoLocationCnt"})
    apart: tuple[Name, ...] | Name = field(default=(), metadata={"alias": "incompatibleComponents"})


RawConstraints = tuple[tuple[Name, Name], ...] | Mapping[str, StormRules]
"""``topology.ras.constraints``: pairs of components, or rules by component."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StormTopology(StormObject):
    """A topology with its configuration."""

    id: Name
    priority: Whole
    strategy: str
    num_workers: Positive | None = None
    worker_max_heap_mb: Number | None = None
    submitter: str = ""
    one_executor_per_worker: Flag = False
    one_component_per_worker: Flag = False
    ras_constraints_raw: RawConstraints | None = None
    spread_components_raw: tuple[str, ...] | None = None
    shared_memory: Mapping[str, object] = field(default_factory=dict)
    components: tuple[StormComponent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StormNode(StormObject):
    """A supervisor."""

    id: Name
    host: str
    rack: Name
    slots: Whole
    cpu_pct: Number
    memory_mb: Number
    generic: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StormConf(StormObject):
    """The cluster's configuration."""

    priority_strategy: str
    worker_min_cpu_pct: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class StormSpec(StormObject):
    """The cluster."""

    cluster_conf_from_first_topology: StormConf
    nodes: tuple[StormNode, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StormFile(StormObject):
    """A decoded cluster."""

    cluster: Name
    topologies: tuple[StormTopology, ...]
    cluster_spec: StormSpec
