"""Storm's settings as nouns of an instance: what a configuration says about placement.

Used wherever a configuration is at hand: Nimbus's answers, Flux files, ``storm.yaml``. Only the
settings named here are read, so that credentials in a configuration go nowhere. A setting of
Storm's that changes a placement and that we do not know is an error (`refuse_unknown`). Defaults
are those of Storm 2.8 (``defaults.yaml``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import parse_json
from slotwise.models.formats.validation import validated
from slotwise.models.importers.storm_cluster import (
    PRIORITIES,
    RawConstraints,
    StormObject,
    constraints_between,
    strategy_name,
)
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Place, Scheduler
from slotwise.models.instance.topology import (
    ACKER,
    Ackers,
    RasSettings,
    Topology,
)
from slotwise.models.nouns import Flag, Name, Noun, Number, Positive, Whole
from slotwise.models.values import exact, whole

Conf = Mapping[str, Any]
"""Settings by their names in Storm."""

DEFAULTS: Conf = {
    "resource.aware.scheduler.priority.strategy": "DefaultSchedulingPriorityStrategy",
    "storm.worker.min.cpu.pcore.percent": 0,
    "supervisor.cpu.capacity": 400,
    "supervisor.memory.capacity.mb": 4096,
    "supervisor.slots.ports": (6700, 6701, 6702, 6703),
    "topology.acker.cpu.pcore.percent": 10,
    "topology.acker.resources.offheap.memory.mb": 0,
    "topology.acker.resources.onheap.memory.mb": 128,
    "topology.component.cpu.pcore.percent": 10,
    "topology.component.resources.offheap.memory.mb": 0,
    "topology.component.resources.onheap.memory.mb": 128,
    "topology.metrics.consumer.cpu.pcore.percent": 10,
    "topology.metrics.consumer.resources.offheap.memory.mb": 0,
    "topology.metrics.consumer.resources.onheap.memory.mb": 128,
    "topology.priority": 29,
    "topology.scheduler.strategy": "DefaultResourceAwareStrategy",
    "topology.worker.max.heap.size.mb": 768,
    "topology.workers": 1,
}
"""Storm's own values of the settings that we read and a file may leave out."""

SCHEDULER = (
    "resource.aware.scheduler.priority.strategy",
    "resource.aware.scheduler.user.pools",
    "storm.worker.min.cpu.pcore.percent",
)
"""The settings of the cluster's scheduler."""

RESOURCES = {
    "cpu.pcore.percent": "cpu",
    "topology.component.cpu.pcore.percent": "cpu",
    "supervisor.cpu.capacity": "cpu",
    "onheap.memory.mb": "onheap_mb",
    "topology.component.resources.onheap.memory.mb": "onheap_mb",
    "offheap.memory.mb": "offheap_mb",
    "topology.component.resources.offheap.memory.mb": "offheap_mb",
    "memory.mb": "memory_mb",
    "supervisor.memory.capacity.mb": "memory_mb",
}
"""Storm's names of its own resources -> ours; the others are generic and keep their names."""

_DEMANDS = {
    "cpu": "cpu.pcore.percent",
    "onheap_mb": "resources.onheap.memory.mb",
    "offheap_mb": "resources.offheap.memory.mb",
}
_MAP = "topology.component.resources.map"
METRICS = "__metrics_"
"""How Storm begins the names of consumers of metrics."""

_READ_PREFIXES = ("topology.ras.", "topology.scheduler.", "resource.aware.scheduler.")
_READ = frozenset(
    {
        "topology.ras.acker.executors.per.worker",
        "topology.ras.constraint.max.state.search",
        "topology.ras.constraint.max.time.secs",
        "topology.ras.constraints",
        "topology.ras.one.component.per.worker",
        "topology.ras.one.executor.per.worker",
        "topology.ras.order.executors.by.proximity.needs",
        "topology.scheduler.favored.nodes",
        "topology.scheduler.strategy",
        "topology.scheduler.unfavored.nodes",
        "resource.aware.scheduler.constraint.max.state.search",
        "resource.aware.scheduler.max.topology.scheduling.attempts",
        "resource.aware.scheduler.priority.strategy",
        "resource.aware.scheduler.user.pools",
    }
)
"""The settings under these prefixes that are read, or that limit only the length of a search."""

ROUND_ROBIN = (
    "org.apache.storm.scheduler.DefaultScheduler",
    "org.apache.storm.scheduler.EvenScheduler",
)
PLANNED_SCHEDULER = "slotwise.storm.PlannedScheduler"
"""Our own scheduler inside Storm, around the Resource Aware Scheduler."""

RAS = "org.apache.storm.scheduler.resource.ResourceAwareScheduler"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsConsumer(StormObject):
    """An entry of ``topology.metrics.consumer.register``."""

    name: Name = field(metadata={"alias": "class"})
    parallelism: Positive = field(default=1, metadata={"alias": "parallelism.hint"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool(Noun):
    """What a user is guaranteed; Storm reads these two keys only."""

    cpu: Number = Decimal(0)
    memory: Number = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingShapes(StormObject):
    """The settings that are lists and maps, and the numbers of tasks; ``None`` = not set."""

    resources: Mapping[str, Number] | None = field(default=None, metadata={"alias": _MAP})
    tasks: Whole | None = field(default=None, metadata={"alias": "topology.tasks"})
    most_tasks: Positive | None = field(
        default=None, metadata={"alias": "topology.max.task.parallelism"}
    )
    constraints: RawConstraints | None = field(
        default=None, metadata={"alias": "topology.ras.constraints"}
    )
    spread: tuple[str, ...] | None = field(
        default=None, metadata={"alias": "topology.spread.components"}
    )
    favored: tuple[str, ...] | None = field(
        default=None, metadata={"alias": "topology.scheduler.favored.nodes"}
    )
    unfavored: tuple[str, ...] | None = field(
        default=None, metadata={"alias": "topology.scheduler.unfavored.nodes"}
    )
    one_component_per_worker: Flag | None = field(
        default=None, metadata={"alias": "topology.ras.one.component.per.worker"}
    )
    one_task_per_worker: Flag | None = field(
        default=None, metadata={"alias": "topology.ras.one.executor.per.worker"}
    )
    by_proximity: Flag | None = field(
        default=None, metadata={"alias": "topology.ras.order.executors.by.proximity.needs"}
    )
    consumers: tuple[MetricsConsumer, ...] | None = field(
        default=None, metadata={"alias": "topology.metrics.consumer.register"}
    )
    ports: tuple[Whole, ...] | None = field(
        default=None, metadata={"alias": "supervisor.slots.ports"}
    )
    offered: Mapping[str, Number] | None = field(
        default=None, metadata={"alias": "supervisor.resources.map"}
    )
    pools: Mapping[str, Pool] | None = field(
        default=None, metadata={"alias": "resource.aware.scheduler.user.pools"}
    )


@dataclass(frozen=True, slots=True)
class Imported:
    """What one source says, or several together.

    Parameters
    ----------
    nodes, topologies
        The nouns that it has.
    scheduler
        What it states of `SCHEDULER`.
    running
        Topology -> task -> where it runs.
    ids
        Topology -> its id in the running Storm.
    read, assumed, ignored
        One line for each thing that was read, assumed or left out.
    """

    nodes: tuple[Node, ...] = ()
    topologies: tuple[Topology, ...] = ()
    scheduler: Conf = field(default_factory=dict)
    running: Mapping[str, Mapping[str, Place]] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def with_racks(self, rack_of_host: Mapping[str, str]) -> Imported:
        """Return this with each node in the rack of its host, or of its id.

        Other names in the table are listed as ignored: a table may have all machines of a site,
        and a name may be misspelt.

        Raises
        ------
        InputError
            When a node has neither.
        """
        nodes = []
        for node in self.nodes:
            rack = rack_of_host.get(node.id, rack_of_host.get(node.host))
            if rack is None:
                raise InputError("has no rack in the table of racks", field="host", value=node.host)
            nodes.append(replace(node, rack=rack))
        names = {name for node in nodes for name in (node.id, node.host)}
        more = (f"rack of {name}: no supervisor" for name in sorted(rack_of_host.keys() - names))
        return replace(self, nodes=tuple(nodes), ignored=(*self.ignored, *more))


def refuse_unknown(conf: Conf) -> None:
    """Check that every setting which changes a placement is one that is read, and its shape.

    Raises
    ------
    InputError
        For the first that is not.
    """
    validated(SettingShapes, conf)
    for name in sorted(conf):
        if name.startswith(_READ_PREFIXES) and name not in _READ and conf[name] is not None:
            rule = "is a setting of Storm's schedulers that slotwise does not know"
            raise InputError(rule, field=name, value=conf[name])
    scheduler = conf.get("storm.scheduler")
    if scheduler not in (None, "", RAS, PLANNED_SCHEDULER, *ROUND_ROBIN):
        rule = f"must be {RAS}, {PLANNED_SCHEDULER} or Storm's default scheduler"
        raise InputError(rule, field="storm.scheduler", value=scheduler)


def scheduler_of(conf: Conf) -> Scheduler:
    """Return the settings of the cluster's scheduler, from those of `SCHEDULER`."""
    name = "resource.aware.scheduler.priority.strategy"
    strategy = str(_get(conf, name)).rpartition(".")[2]
    if strategy not in PRIORITIES:
        raise InputError(f"must be one of {', '.join(PRIORITIES)}", field=name, value=strategy)
    least = _amount(conf, "storm.worker.min.cpu.pcore.percent")
    return Scheduler(least, PRIORITIES[strategy], pools_of(conf))


def pools_of(conf: Conf) -> dict[str, dict[str, Decimal]]:
    """Return what ``resource.aware.scheduler.user.pools`` guarantees, by owner and resource."""
    pools = validated(SettingShapes, conf).pools or {}
    return {owner: {"cpu": pool.cpu, "memory_mb": pool.memory} for owner, pool in pools.items()}


def capacities(conf: Conf) -> dict[str, Decimal]:
    """Return the resources that a supervisor with these settings offers."""
    return {
        "cpu": _amount(conf, "supervisor.cpu.capacity"),
        "memory_mb": _amount(conf, "supervisor.memory.capacity.mb"),
        **_named(validated(SettingShapes, conf).offered),
    }


def demands_of(component: str, own: Conf, conf: Conf) -> dict[str, Decimal]:
    """Return what one executor asks for, as Storm's ``NormalizedResourceRequest`` computes it.

    Parameters
    ----------
    component
        Its component; ackers and consumers of metrics have defaults of their own.
    own
        The component's configuration.
    conf
        The topology's configuration.
    """
    demands = _named(validated(SettingShapes, conf).resources)
    special = {ACKER: "topology.acker."}.get(component)
    if component.startswith(METRICS):
        special = "topology.metrics.consumer."
    for resource, name in _DEMANDS.items():
        if special:
            demands[resource] = _amount(conf, special + name)
        elif resource not in demands:
            demands[resource] = _amount(conf, "topology.component." + name)
        if own.get("topology.component." + name) is not None:
            demands[resource] = _amount(own, "topology.component." + name)
    demands.update(_named(validated(SettingShapes, own).resources))
    return demands


def topology_of(conf: Conf, bare: Topology) -> Topology:
    """Return a topology of components and streams with the rules that its settings state."""
    ackers = next((one for one in bare.components if one.id == ACKER), None)
    shapes = validated(SettingShapes, conf)
    return replace(
        bare,
        components=tuple(one for one in bare.components if one.id != ACKER),
        priority=whole_setting(conf, "topology.priority"),
        strategy=strategy_of(conf),
        worker_max_heap_mb=_amount(conf, "topology.worker.max.heap.size.mb"),
        workers=whole_setting(conf, "topology.workers", least=1),
        favored_nodes=shapes.favored or (),
        unfavored_nodes=shapes.unfavored or (),
        constraints=constraints_between(
            {one.id for one in bare.components}, shapes.constraints, shapes.spread
        ),
        one_task_per_worker=bool(shapes.one_task_per_worker),
        one_component_per_worker=bool(shapes.one_component_per_worker),
        ackers=None
        if ackers is None or not ackers.parallelism
        else Ackers(
            ackers.parallelism,
            max(1, whole(conf.get("topology.ras.acker.executors.per.worker") or 1, "ackers")),
            ackers.resources,
        ),
        ras=ras_settings(conf),
        window=_window(conf),
    )


def strategy_of(conf: Conf) -> str | None:
    """Return our name of the strategy; ``None`` where Storm's round robin places."""
    if conf.get("storm.scheduler") in (None, "", *ROUND_ROBIN) and "storm.scheduler" in conf:
        return None
    named = str(_get(conf, "topology.scheduler.strategy"))
    if named == PLANNED_STRATEGY:
        named = str(conf.get(WRAPPED) or DEFAULTS["topology.scheduler.strategy"])
    return strategy_name(named)


PLANNED_STRATEGY = "slotwise.storm.PlannedStrategy"
"""Our own strategy inside Storm; it places as the one that it wraps where there is no plan."""

WRAPPED = "slotwise.strategy"
"""The setting that names the wrapped strategy."""


def ras_settings(conf: Conf) -> RasSettings:
    """Return the other settings of Storm's strategies."""
    key = "topology.ras.constraint.max.state.search"
    states = conf.get(key)
    seconds = conf.get("topology.ras.constraint.max.time.secs")
    isolated = conf.get("topology.isolate.machines")
    return RasSettings(
        bool(validated(SettingShapes, conf).by_proximity),
        None if isolated is None else whole(isolated, "topology.isolate.machines", least=1),
        10_000 if states is None else whole(states, key),
        None if seconds is None else whole(seconds, "topology.ras.constraint.max.time.secs"),
    )


def json_conf(text: str | None, field: str) -> dict[str, Any]:
    """Return the settings in a text of JSON; none where there is no text."""
    data = parse_json(text) if text else {}
    if not isinstance(data, dict):
        raise InputError("must be an object of settings", field=field, value=data)
    return data


def whole_setting(conf: Conf, key: str, *, least: int = 0) -> int:
    """Return a setting that is a whole number of at least `least`."""
    return whole(_get(conf, key) if key in DEFAULTS else conf[key], key, least=least)


def _window(conf: Conf) -> int | None:
    """Return the window; Storm counts nothing as in flight where it is said to have no ackers."""
    pending = conf.get("topology.max.spout.pending")
    if pending is None or conf.get("topology.acker.executors") == 0:
        return None
    return whole(pending, "topology.max.spout.pending", least=1)


def _named(resources: Mapping[str, Decimal] | None) -> dict[str, Decimal]:
    return {RESOURCES.get(name, name): amount for name, amount in (resources or {}).items()}


def _get(conf: Conf, key: str) -> Any:
    value = conf.get(key)
    return DEFAULTS[key] if value is None else value


def _amount(conf: Conf, key: str) -> Decimal:
    return exact(_get(conf, key) if key in DEFAULTS else conf[key], key)
