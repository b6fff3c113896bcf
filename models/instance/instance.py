"""The instance: a cluster, the topologies to place on it, what runs already, and the objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slotwise.models.display import block, counted, html_line, html_table, listed
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance_checks import (
    Task,
    check_linear,
    check_moves_count,
    check_rates,
    check_running,
    check_soft,
    check_task_count,
)
from slotwise.models.instance.topology import Topology
from slotwise.models.values import distinct, exact, name, one_of, whole

TERM_PARTS = ("overload", "network", "rejected", "nodes", "workers", "moved", "linear")
FLOWS = ("pairs", "rates")
PRIORITY_STRATEGIES = ("default", "fifo", "generic")
LIMITED_PARTS = ("moved",)
"""Parts of the objective that can be limited by a hard rule."""


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
        """Check each field."""
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
        """Check each field."""
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
        """Check each field."""
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
        Where tasks run now, for the term ``moved``; ``None`` = nothing is known. Tasks in it must
        exist. A node in it that the cluster lacks is lost: its tasks are orphans, which run
        nowhere; see `still_running`, `lost`.
    linear
        Costs of tasks on nodes, for the term ``linear``.
    flow
        ``pairs``: weight 1 for each ordered pair of tasks of two components joined by a stream;
        ``rates``: rates times tuple size, divided over the pairs by grouping.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.read_instance("docs/examples/word-count.json").task_names()[0]
    ('wc', 'lines[0]')
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
        check_task_count(self.topologies)
        if self.flow == "rates":
            check_rates(self.topologies)
        check_soft(self.objective.soft, self.cluster)
        self._check_tasks()

    def _check_tasks(self) -> None:
        """Check what names tasks; their names are listed only where something does."""
        if self.running is None:
            check_moves_count(self.objective.parts, self.objective.limits)
        if self.running is None and not self.linear:
            return
        tasks = set(self.task_names())
        running = (
            (topology, task, place.node, place.worker)
            for topology, places in (self.running or {}).items()
            for task, place in places.items()
        )
        check_running(running, tasks)
        linear = ((row.task, self.task_of(row.task), row.node) for row in self.linear)
        check_linear(linear, tasks, self.cluster)

    @property
    def still_running(self) -> Running | None:
        """`running` without the tasks on nodes that the cluster lacks."""
        if self.running is None:
            return None
        known = {node.id for node in self.cluster.nodes}
        left = {
            topology: {task: place for task, place in places.items() if place.node in known}
            for topology, places in self.running.items()
        }
        return {topology: places for topology, places in left.items() if places}

    @property
    def lost(self) -> dict[str, tuple[Task, ...]]:
        """Nodes that `running` names and the cluster lacks -> (topology, task) of their orphans."""
        known = {node.id for node in self.cluster.nodes}
        found: dict[str, tuple[Task, ...]] = {}
        for topology, places in (self.running or {}).items():
            for task, place in places.items():
                if place.node not in known:
                    found[place.node] = (*found.get(place.node, ()), (topology, task))
        return found

    def __repr__(self) -> str:
        """At most five lines: how large it is, and the first topologies."""
        return block(self._head(), [repr(topology) for topology in self.topologies])

    def _repr_html_(self) -> str:
        rows = (
            (
                topology.id,
                listed([f"{one.id}[{one.parallelism}]" for one in topology.placed_components]),
                str(len(topology.streams)),
            )
            for topology in self.topologies
        )
        table = html_table(("topology", "tasks", "streams"), rows, len(self.topologies))
        return html_line(self._head()) + table

    def _head(self) -> str:
        tasks = sum(c.parallelism for t in self.topologies for c in t.placed_components)
        return (
            f"Instance {self.name}: {counted(len(self.cluster.nodes), 'node')} in "
            f"{counted(len(self.cluster.racks), 'rack')}, "
            f"{counted(len(self.topologies), 'topology', 'topologies')}, "
            f"{counted(tasks, 'task')}, objective {', '.join(self.objective.terms)}"
        )

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
        ids = [t.id for t in self.topologies if written.startswith(f"{t.id}/")]
        if ids:
            longest = max(ids, key=len)
            return longest, written[len(longest) + 1 :]
        return (self.topologies[0].id if len(self.topologies) == 1 else ""), written
