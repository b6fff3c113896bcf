"""The instance: a cluster, the topologies to place on it, running tasks, and the objective."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

from slotwise.models.display import block, counted, html_line, html_table, listed
from slotwise.models.errors import InputError
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.topology import Topology
from slotwise.models.nouns import SPARSE, FromFile, Name, Noun, Number, Whole, check_fields, choice
from slotwise.models.values import distinct, one_of

TERM_PARTS = (
    "overload",
    "network",
    "rejected",
    "nodes",
    "workers",
    "moved",
    "linear",
    "bottleneck",
)
ALONE = ("bottleneck",)
"""Parts that cannot be summed with others."""
FLOWS = ("pairs", "rates")
PRIORITY_STRATEGIES = ("default", "fifo", "generic")
LIMITED_PARTS = ("moved",)
"""Parts of the objective that can be limited by a hard rule."""
LimitedPart = Annotated[str, choice(LIMITED_PARTS)]

MAX_TASKS = 1_000_000
"""Most tasks of an instance; the largest published topology has 9,389."""

Task = tuple[str, str]
"""Topology id and ``component[index]``."""


def _limits(limits: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the limits of a file without those that are null; unknown ones are kept, and fail."""
    return {
        part: most
        for part, most in (limits or {}).items()
        if most is not None or part not in LIMITED_PARTS
    }


@dataclass(frozen=True, slots=True)
class Objective(Noun):
    """Terms in lexicographic order, the soft resources' weights, limits of parts.

    Parameters
    ----------
    terms
        The terms to minimise, in this order: ``overload``, ``network``, ``rejected``, ``nodes``,
        ``workers``, ``moved``, ``linear``, ``bottleneck``, or sums such as ``network+linear``
        (without ``bottleneck``). A later term counts only among placements that are best in the
        earlier ones.
    soft
        Resource that may be exceeded -> weight of one unit of overload; all others are hard.
    limits
        Part -> its largest value, a hard rule, whether or not the part is a term: ``{"moved": 3}``
        = at most 3 tasks are elsewhere than in ``running``; ``None`` in a file = no limit.
    """

    terms: tuple[str, ...] = ("overload", "network")
    soft: Mapping[str, Whole] = field(default_factory=dict)
    limits: Annotated[
        Mapping[LimitedPart, Whole],
        FromFile(Mapping[LimitedPart, Whole | None] | None, _limits),
    ] = field(default_factory=dict, metadata=SPARSE)

    def __post_init__(self) -> None:
        """Check that every part is known and occurs once."""
        check_fields(self)
        terms = tuple("+".join(parts_of(term)) for term in self.terms)
        object.__setattr__(self, "terms", terms)
        if not self.terms:
            raise InputError("must name at least one term", field="terms", value="[]")
        for index, term in enumerate(self.terms):
            for part in parts_of(term):
                one_of(part, TERM_PARTS, f"terms[{index}]")
                if part in ALONE and part != term:
                    rule = f"{part!r} cannot be summed with others; make it a term of its own"
                    raise InputError(rule, field=f"terms[{index}]", value=term)
        distinct((part for term in self.terms for part in parts_of(term)), "terms")

    @property
    def parts(self) -> frozenset[str]:
        """Every part that occurs in some term."""
        return frozenset(part for term in self.terms for part in parts_of(term))


def parts_of(term: str) -> tuple[str, ...]:
    """Return the parts of a term: ``network+linear`` -> ``("network", "linear")``."""
    return tuple(part.strip() for part in term.split("+"))


@dataclass(frozen=True, slots=True)
class Scheduler(Noun):
    """Settings of the cluster's scheduler.

    Parameters
    ----------
    worker_min_cpu
        Least cpu that a worker counts, in points; ``None`` in a file = 0 (Storm's
        ``storm.worker.min.cpu.pcore.percent``).
    priority_strategy
        Order of topologies in a round of ``schedule``; no rule.
    pools
        Owner -> resource -> amount that is guaranteed in a round; no rule.
    """

    worker_min_cpu: Annotated[
        Number, FromFile(Number | None, lambda least: Decimal(0) if least is None else least)
    ] = Decimal(0)
    priority_strategy: Annotated[str, choice(PRIORITY_STRATEGIES)] = "default"
    pools: Mapping[str, Mapping[str, Number]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place(Noun):
    """Where one task runs.

    Parameters
    ----------
    node
        Id of a node.
    worker
        Label of the worker, 0 or more: distinguishes workers of a node, for example a port.
    """

    node: Name
    worker: Whole


@dataclass(frozen=True, slots=True)
class LinearCost(Noun):
    """Cost of one task on one node; absent rows cost 0.

    `task` is ``topology/component[index]``, or ``component[index]`` where the instance has a
    single topology.
    """

    ROW = True

    task: str
    node: str
    cost: Number


Running = Mapping[str, Mapping[str, Place]]
"""Topology id -> ``component[index]`` -> place."""


@dataclass(frozen=True, slots=True)
class Instance(Noun):
    """One placement problem, in the user's own units.

    Parameters
    ----------
    name
        For readers; not part of the instance's hash.
    cluster
        The machines and the distances between them.
    topologies
        The topologies to place.
    scheduler
        Scheduler settings of the cluster.
    running
        Where tasks run now: topology -> ``component[index]`` -> place; ``None`` = not known. A node
        in it that the cluster lacks is lost: its tasks are orphans, which run nowhere.
    objective
        What is minimised.
    linear
        Costs for the term ``linear``: task (``topology/component[index]``, or without the topology
        if there is one only), node, cost; absent = 0.
    flow
        ``pairs``: flow 1 for each ordered pair of tasks of two joined components; ``rates``: rate
        times bytes of a tuple, divided over the pairs by grouping.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.read_instance("docs/examples/word-count.json").task_names()[0]
    ('wc', 'lines[0]')
    """

    FORMAT = "slotwise.instance/1"

    name: Name
    cluster: Cluster
    topologies: tuple[Topology, ...]
    scheduler: Scheduler = field(default_factory=Scheduler)
    running: Running | None = None
    objective: Objective = field(default_factory=Objective)
    linear: tuple[
        Annotated[LinearCost, FromFile(tuple[str, str, Number], lambda row: LinearCost(*row))],
        ...,
    ] = ()
    flow: Annotated[str, choice(FLOWS)] = "pairs"

    def __post_init__(self) -> None:
        """Check the references between the parts."""
        check_fields(self)
        if self.running is not None:
            known = {topology: tasks for topology, tasks in self.running.items() if tasks}
            object.__setattr__(self, "running", known)
        distinct((topology.id for topology in self.topologies), "topologies[].id")
        self._check_task_count()
        if self.flow == "rates":
            self._check_rates()
        offered = {key for node in self.cluster.nodes for key in node.resources}
        for key in self.objective.soft:
            if key not in offered:
                rule = "must be a resource that some node offers"
                raise InputError(rule, field="objective.soft", value=key)
        if self.running is None:
            for where in ("terms", "limits"):
                parts = self.objective.parts if where == "terms" else self.objective.limits
                if "moved" in parts:
                    rule = "'moved' needs `running`"
                    raise InputError(rule, field=f"objective.{where}", value="moved")
        if self.running is not None or self.linear:
            tasks = set(self.task_names())
            self._check_running(tasks)
            self._check_linear(tasks)

    def _check_task_count(self) -> None:
        total = 0
        for i, topology in enumerate(self.topologies):
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

    def _check_rates(self) -> None:
        for i, topology in enumerate(self.topologies):
            for j, stream in enumerate(topology.streams):
                if stream.rate is None and stream.source != stream.target:
                    raise InputError(
                        "is needed where the flow is 'rates'",
                        field=f"topologies[{i}].streams[{j}].rate",
                        value=None,
                    )

    def _check_running(self, tasks: Collection[Task]) -> None:
        """Raise `InputError` for unknown tasks, and for two topologies in one worker.

        A node that the cluster lacks is not an error: it was lost, and its tasks are orphans.
        """
        tenant: dict[Place, str] = {}
        for topology, places in (self.running or {}).items():
            for task, place in places.items():
                where = f"running.{topology}.{task}"
                if (topology, task) not in tasks:
                    raise InputError("must be a task of the instance", field=where, has_value=False)
                if (other := tenant.setdefault(place, topology)) != topology:
                    raise InputError(
                        f"holds tasks of {other!r} too: a worker has one topology",
                        field=f"{where}.worker",
                        value=place.worker,
                    )

    def _check_linear(self, tasks: Collection[Task]) -> None:
        """Raise `InputError` for unknown tasks and nodes, and for duplicate rows."""
        nodes = {node.id for node in self.cluster.nodes}
        seen: set[tuple[Task, str]] = set()
        for i, row in enumerate(self.linear):
            task = self.task_of(row.task)
            if task not in tasks:
                rule = "must be a task, written topology/component[index]"
                raise InputError(rule, field=f"linear[{i}][0]", value=row.task)
            if row.node not in nodes:
                raise InputError("must be a node", field=f"linear[{i}][1]", value=row.node)
            if (task, row.node) in seen:
                rule = "occurs twice for this task and node; keep one row"
                raise InputError(rule, field=f"linear[{i}]", value=row.task)
            seen.add((task, row.node))

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
        lost: dict[str, tuple[Task, ...]] = {}
        for topology, places in (self.running or {}).items():
            for task, place in places.items():
                if place.node not in known:
                    lost[place.node] = (*lost.get(place.node, ()), (topology, task))
        return lost

    def __repr__(self) -> str:
        """At most five lines: its size, and the first topologies."""
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
