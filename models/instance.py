"""The instance: a cluster, the topologies to place on it, what runs already, and the objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slotwise.models.cluster import Cluster
from slotwise.models.errors import InputError
from slotwise.models.numbers import exact, name, whole
from slotwise.models.topology import Topology, distinct, one_of

TERM_PARTS = ("overload", "network", "rejected", "nodes", "workers", "moved", "linear")
FLOWS = ("pairs", "rates")
PRIORITY_STRATEGIES = ("default", "fifo", "generic")
LIMITED_PARTS = ("moved",)
"""Parts of the objective that can be limited by a hard rule."""

MAX_TASKS = 1_000_000
"""Most tasks of an instance; the largest published topology has 9,389."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What to minimise, in this order.

    Parameters
    ----------
    terms
        Lexicographic: a later term counts only among placements that are best in the earlier
        ones. Each is one of `TERM_PARTS` or a sum of them, written ``network+linear``.
    soft
        Soft resource -> weight of one unit of overload, a whole number; others are hard.
    limits
        Part -> most of it, a hard rule, whether or not the part is a term; one of
        `LIMITED_PARTS`. ``{"moved": 3}``: at most 3 tasks are not where `running` has them.
    """

    terms: tuple[str, ...] = ("overload", "network")
    soft: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that every part is known and stands once."""
        terms = tuple("+".join(parts_of(term)) for term in self.terms)
        object.__setattr__(self, "terms", terms)
        if not self.terms:
            raise InputError("must name at least one term", field="terms", value="[]")
        for index, term in enumerate(self.terms):
            for part in parts_of(term):
                one_of(part, TERM_PARTS, f"terms[{index}]")
        distinct((part for term in self.terms for part in parts_of(term)), "terms")
        for key, weight in self.soft.items():
            whole(weight, f"soft.{key}")
        object.__setattr__(self, "soft", dict(self.soft))
        for part, most in self.limits.items():
            one_of(part, LIMITED_PARTS, "limits")
            whole(most, f"limits.{part}")
        object.__setattr__(self, "limits", dict(self.limits))

    @property
    def parts(self) -> frozenset[str]:
        """Every part that occurs in some term."""
        return frozenset(part for term in self.terms for part in parts_of(term))


def parts_of(term: str) -> tuple[str, ...]:
    """Return the parts of a term: ``network+linear`` -> ``("network", "linear")``."""
    return tuple(part.strip() for part in term.split("+"))


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Settings of the cluster's scheduler.

    Parameters
    ----------
    worker_min_cpu
        A worker counts at least this much cpu (Storm's ``storm.worker.min.cpu.pcore.percent``).
    priority_strategy
        Storm's order of topologies: ``default``, ``fifo`` or ``generic``; no rule of the problem.
    pools
        Owner -> guaranteed resources; no rule of the problem.
    """

    worker_min_cpu: Decimal = Decimal(0)
    priority_strategy: str = "default"
    pools: Mapping[str, Mapping[str, Decimal]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check each field by itself."""
        object.__setattr__(self, "worker_min_cpu", exact(self.worker_min_cpu, "worker_min_cpu"))
        one_of(self.priority_strategy, PRIORITY_STRATEGIES, "priority_strategy")
        pools = {
            owner: {key: exact(value, f"pools.{owner}.{key}") for key, value in pool.items()}
            for owner, pool in self.pools.items()
        }
        object.__setattr__(self, "pools", pools)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one task runs: a node's id and a worker label, unique on that node (a port, say)."""

    node: str
    worker: int

    def __post_init__(self) -> None:
        """Check each field by itself."""
        name(self.node, "node")
        whole(self.worker, "worker")


@dataclass(frozen=True, slots=True)
class LinearCost:
    """Cost of one task on one node; absent rows cost 0.

    `task` is ``topology/component[index]``, or ``component[index]`` where the instance has a
    single topology.
    """

    task: str
    node: str
    cost: Decimal

    def __post_init__(self) -> None:
        """Check each field by itself."""
        object.__setattr__(self, "cost", exact(self.cost, "cost"))


Running = Mapping[str, Mapping[str, Place]]
"""Topology id -> ``component[index]`` -> place."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One placement problem, in the user's own units.

    Parameters
    ----------
    name
        For people; not part of the instance's hash.
    cluster, topologies
        At least one node; topology ids unique.
    scheduler, objective
        See `Scheduler`, `Objective`.
    running
        Where tasks run now, for the term ``moved``; ``None`` = nothing is known. Nodes and tasks
        in it must exist.
    linear
        Costs of tasks on nodes, for the term ``linear``.
    flow
        ``pairs``: weight 1 for each ordered pair of tasks of two components joined by a stream;
        ``rates``: rates times tuple size, divided over the pairs by grouping.
    """

    name: str
    cluster: Cluster
    topologies: tuple[Topology, ...]
    scheduler: Scheduler = field(default_factory=Scheduler)
    running: Running | None = None
    objective: Objective = field(default_factory=Objective)
    linear: tuple[LinearCost, ...] = ()
    flow: str = "pairs"

    def __post_init__(self) -> None:
        """Check the references between the parts."""
        name(self.name, "name")
        object.__setattr__(self, "topologies", tuple(self.topologies))
        object.__setattr__(self, "linear", tuple(self.linear))
        one_of(self.flow, FLOWS, "flow")
        distinct((topology.id for topology in self.topologies), "topologies[].id")
        _check_task_count(self)
        _check_rates(self)
        _check_soft(self)
        _check_running(self)
        _check_linear(self)

    def task_names(self) -> tuple[tuple[str, str], ...]:
        """All tasks in canonical order, as (topology id, ``component[index]``).

        The order is that of the topologies, of their components (ackers last), of the index.
        """
        return tuple(
            (topology.id, f"{component.id}[{index}]")
            for topology in self.topologies
            for component in topology.placed_components
            for index in range(component.parallelism)
        )

    def task_of(self, written: str) -> tuple[str, str]:
        """Split a task written ``topology/component[index]``, or bare with a single topology."""
        for topology in self.topologies:
            if written.startswith(f"{topology.id}/"):
                return topology.id, written[len(topology.id) + 1 :]
        return (self.topologies[0].id if len(self.topologies) == 1 else ""), written


def _check_task_count(instance: Instance) -> None:
    total = 0
    for i, topology in enumerate(instance.topologies):
        for j, component in enumerate(topology.placed_components):
            total += component.parallelism
            if total > MAX_TASKS:
                own = j < len(topology.components)
                where = f"components[{j}].parallelism" if own else "ackers.count"
                raise InputError(
                    f"makes more than {MAX_TASKS} tasks in all",
                    field=f"topologies[{i}].{where}",
                    value=component.parallelism,
                )


def _check_rates(instance: Instance) -> None:
    if instance.flow != "rates":
        return
    for i, topology in enumerate(instance.topologies):
        for j, stream in enumerate(topology.streams):
            if stream.rate is None and stream.source != stream.target:
                raise InputError(
                    "is needed where the flow is 'rates'",
                    field=f"topologies[{i}].streams[{j}].rate",
                    value=None,
                )


def _check_soft(instance: Instance) -> None:
    offered = {key for node in instance.cluster.nodes for key in node.resources}
    for key in instance.objective.soft:
        if key not in offered:
            raise InputError(
                "must be a resource that some node offers", field="objective.soft", value=key
            )


def _check_running(instance: Instance) -> None:
    if instance.running is None:
        if "moved" in instance.objective.parts:
            raise InputError("'moved' needs `running`", field="objective.terms", value="moved")
        if "moved" in instance.objective.limits:
            raise InputError("'moved' needs `running`", field="objective.limits", value="moved")
        return
    tasks = set(instance.task_names())
    nodes = {node.id for node in instance.cluster.nodes}
    tenant: dict[Place, str] = {}
    for topology, places in instance.running.items():
        for task, place in places.items():
            where = f"running.{topology}.{task}"
            if (topology, task) not in tasks:
                raise InputError("must be a task of the instance", field=where, has_value=False)
            if place.node not in nodes:
                raise InputError("must be a node", field=f"{where}.node", value=place.node)
            if tenant.setdefault(place, topology) != topology:
                raise InputError(
                    f"holds tasks of {tenant[place]!r} too: a worker has one topology",
                    field=f"{where}.worker",
                    value=place.worker,
                )


def _check_linear(instance: Instance) -> None:
    if not instance.linear:
        return
    tasks = set(instance.task_names())
    nodes = {node.id for node in instance.cluster.nodes}
    seen: set[tuple[tuple[str, str], str]] = set()
    for index, row in enumerate(instance.linear):
        task = instance.task_of(row.task)
        if task not in tasks:
            raise InputError(
                "must be a task, written topology/component[index]",
                field=f"linear[{index}][0]",
                value=row.task,
            )
        if row.node not in nodes:
            raise InputError("must be a node", field=f"linear[{index}][1]", value=row.node)
        if (task, row.node) in seen:
            raise InputError(
                "stands twice for this task and node", field=f"linear[{index}]", value=row.task
            )
        seen.add((task, row.node))
