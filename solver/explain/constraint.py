"""The constraints of an instance by name, each of which can be left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from slotwise.models.display import counted
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import ACKER, Topology
from slotwise.models.judge.rules import RULES, is_set, without_field
from slotwise.models.problem.scaling import dimension
from slotwise.models.values import exact_text

OWN_WORDS = (
    "heap",
    "capacity",
    "max_per_node",
    "slots",
    "max_moved",
    "one_task_per_worker",
    "one_component_per_worker",
    "incompatible",
    "worker_min_cpu",
    "shared_memory",
)
OTHERS = {
    name: rule.field
    for name, rule in RULES.items()
    if rule.field is not None and name not in OWN_WORDS
}
"""Rules of a topology without words of their own here -> the field that sets them."""

LIMITS = (*OWN_WORDS, *OTHERS)
"""Rules that limit where tasks may go, in the order in which a conflict prefers to name them."""

TASKS = "tasks"
"""The rule that the tasks of a component must be placed."""

MOST_NAMES = 4
"""Most names of nodes in a text; the others are counted."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """One named constraint of an instance.

    Parameters
    ----------
    rule
        One of `LIMITS`, or `TASKS`.
    nodes
        Ids of the nodes whose capacity or slots it limits, all with the same limits; otherwise
        empty.
    is_everywhere
        Whether `nodes` are all nodes of the cluster.
    topology
        Id of its topology; empty for nodes, ``max_moved`` and ``worker_min_cpu``.
    subject
        Resource, component or shared region; empty where it has none.
    other
        Second component of an incompatible pair.
    amount
        The limit in the user's unit (of ``tasks``: how many there are); ``None`` where the rule
        has none.
    """

    rule: str
    nodes: tuple[str, ...] = ()
    is_everywhere: bool = False
    topology: str = ""
    subject: str = ""
    other: str = ""
    amount: Decimal | None = None

    @property
    def is_limit(self) -> bool:
        """Whether it limits where tasks may go; otherwise it requires tasks to be placed."""
        return self.rule != TASKS

    @property
    def group(self) -> tuple[str, str, str]:
        """The group that a first, coarse search drops together.

        Tasks are grouped by topology, capacities by resource, slots all together; others are alone.
        """
        if self.nodes:
            return (self.rule, self.subject, "")
        if self.rule == TASKS:
            return (self.rule, self.topology, "")
        return (self.rule, self.topology, f"{self.subject} {self.other}")

    @property
    def name(self) -> str:
        """Readable name, for example ``memory_mb of node n3``."""
        return _NAMES[self.rule](self)

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def listed(names: tuple[str, ...]) -> str:
    """Return names as in a sentence: ``n1, n2 and n3``; the rest of a long list is counted."""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[: MOST_NAMES - 1])} and {len(names) - MOST_NAMES + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def nodes_text(nodes: tuple[str, ...], is_everywhere: bool) -> str:
    """Return ``node n1``, ``nodes n1 and n2`` or ``each of the 5 nodes``."""
    if len(nodes) == 1:
        return f"node {nodes[0]}"
    if is_everywhere:
        return f"each of the {len(nodes)} nodes"
    return f"each of the nodes {listed(nodes)}"


def tasks_text(count: Decimal | int) -> str:
    """Return ``1 task`` or ``3 tasks``."""
    return counted(int(count), "task")


def most_moved_text(count: Decimal | int) -> str:
    """Return ``no task may move`` or ``at most 3 tasks may move``."""
    return f"at most {tasks_text(count)} may move" if count else "no task may move"


def _rule_text(constraint: Constraint) -> str:
    return f"{constraint.rule.replace('_', ' ')} ({constraint.topology})"


def _amount(constraint: Constraint) -> str:
    assert constraint.amount is not None, constraint.rule
    return exact_text(constraint.amount)


def _incompatible(constraint: Constraint) -> str:
    if constraint.subject == constraint.other:
        return f"at most one task of {constraint.subject} in a worker ({constraint.topology})"
    return (
        f"{constraint.subject} and {constraint.other} never in one worker ({constraint.topology})"
    )


def _tasks(constraint: Constraint) -> str:
    if constraint.amount == 1:
        return f"the task of {constraint.subject} must be placed ({constraint.topology})"
    every = "both" if constraint.amount == 2 else f"all {_amount(constraint)}"
    return f"{every} tasks of {constraint.subject} must be placed ({constraint.topology})"


_NAMES: dict[str, Callable[[Constraint], str]] = {
    "heap": lambda c: f"at most {_amount(c)} MB of heap in a worker ({c.topology})",
    "capacity": lambda c: f"{c.subject} of {nodes_text(c.nodes, c.is_everywhere)}",
    "max_per_node": lambda c: (
        f"at most {tasks_text(c.amount or 0)} of {c.subject} on a node ({c.topology})"
    ),
    "slots": lambda c: f"slots of {nodes_text(c.nodes, c.is_everywhere)}",
    "max_moved": lambda c: most_moved_text(c.amount or 0),
    "one_task_per_worker": lambda c: f"one task per worker ({c.topology})",
    "one_component_per_worker": lambda c: f"one component per worker ({c.topology})",
    "incompatible": _incompatible,
    "worker_min_cpu": lambda c: f"each worker is charged at least {_amount(c)} cpu",
    "shared_memory": lambda c: f"shared memory {c.subject} of {_amount(c)} MB ({c.topology})",
    TASKS: _tasks,
    **dict.fromkeys(OTHERS, _rule_text),
}


def constraints_of(instance: Instance) -> tuple[Constraint, ...]:
    """Return every constraint of the instance that can bind, limits first.

    Nodes with the same slots and capacities share one constraint. Constraints that cannot bind are
    left out: capacities of soft resources or of those that no task needs, rules of components
    without tasks.
    """
    constraints = [*_of_nodes(instance)]
    for topology in instance.topologies:
        constraints += _of_topology(topology)
    least = instance.scheduler.worker_min_cpu
    if least > 0:
        constraints.append(Constraint("worker_min_cpu", amount=least))
    if "moved" in instance.objective.limits:
        constraints.append(
            Constraint("max_moved", amount=Decimal(instance.objective.limits["moved"]))
        )
    constraints.sort(key=lambda one: (LIMITS.index(one.rule), one.subject if one.nodes else ""))
    return (*constraints, *_of_tasks(instance))


def nodes_alike(instance: Instance) -> list[list[Node]]:
    """Return the nodes in sets that have the same slots and hard capacities, in cluster order.

    Where moves are limited, a node on which tasks run is alone.
    """
    occupied = set()
    if "moved" in instance.objective.limits:
        running = instance.still_running or {}
        occupied = {place.node for tasks in running.values() for place in tasks.values()}
    soft = instance.objective.soft
    kinds: dict[object, list[Node]] = {}
    for node in instance.cluster.nodes:
        hard = frozenset(
            (key, value) for key, value in node.resources.items() if key not in soft and value != 0
        )
        key = node.id if node.id in occupied else (node.slots, hard)
        kinds.setdefault(key, []).append(node)
    return list(kinds.values())


def demanded(instance: Instance) -> set[str]:
    """Return the hard resources that some task, shared region or worker loads."""
    resources = {
        dimension(key)
        for topology in instance.topologies
        for component in topology.placed_components
        if component.parallelism
        for key, value in component.resources.items()
        if value > 0
    }
    if any(region.mb > 0 for topology in instance.topologies for region in topology.shared_memory):
        resources.add("memory_mb")
    if instance.scheduler.worker_min_cpu > 0:
        resources.add("cpu")
    return resources - set(instance.objective.soft)


def _of_nodes(instance: Instance) -> Iterator[Constraint]:
    count = len(instance.cluster.nodes)
    resources = sorted(demanded(instance))
    for kind in nodes_alike(instance):
        nodes = tuple(node.id for node in kind)
        everywhere = len(nodes) == count
        for resource in resources:
            amount = kind[0].resources.get(resource, Decimal(0))
            if amount is not None:
                yield Constraint("capacity", nodes, everywhere, subject=resource, amount=amount)
        if kind[0].slots is not None:
            yield Constraint("slots", nodes, everywhere, amount=Decimal(kind[0].slots))


def _of_topology(topology: Topology) -> Iterator[Constraint]:
    where = topology.id
    components = {component.id for component in topology.placed_components if component.parallelism}
    if topology.worker_max_heap_mb is not None and components:
        yield Constraint("heap", topology=where, amount=topology.worker_max_heap_mb)
    if topology.one_task_per_worker and components:
        yield Constraint("one_task_per_worker", topology=where)
    if topology.one_component_per_worker and components:
        yield Constraint("one_component_per_worker", topology=where)
    for rule, key in OTHERS.items():
        if components and is_set(topology, key):
            yield Constraint(rule, topology=where)
    pairs = dict.fromkeys((min(pair), max(pair)) for pair in topology.constraints.incompatible)
    for a, b in pairs:
        if {a, b} <= components:
            yield Constraint("incompatible", topology=where, subject=a, other=b)
    for component, most in topology.constraints.max_per_node.items():
        if component in components:
            yield Constraint(
                "max_per_node", topology=where, subject=component, amount=Decimal(most)
            )
    for region in topology.shared_memory:
        if region.mb > 0 and components & set(region.components):
            yield Constraint("shared_memory", topology=where, subject=region.id, amount=region.mb)


def _of_tasks(instance: Instance) -> Iterator[Constraint]:
    for topology in instance.topologies:
        for component in topology.placed_components:
            if component.parallelism:
                yield Constraint(
                    TASKS,
                    topology=topology.id,
                    subject=component.id,
                    amount=Decimal(component.parallelism),
                )


# Instances with fewer tasks, or without some of their constraints.

Counts = Mapping[tuple[str, str], int]
"""(topology id, component id) -> number of tasks."""


def with_counts(instance: Instance, counts: Counts) -> Instance:
    """Return the instance with these numbers of tasks, each at most the present one.

    The tasks with the highest indices are removed, also from `running` and `linear`.
    """
    return with_topologies(
        instance, tuple(_with_counts(one, counts) for one in instance.topologies)
    )


def without_topologies(instance: Instance, evicted: Collection[str]) -> Instance:
    """Return the instance without these topologies."""
    return with_topologies(
        instance, tuple(one for one in instance.topologies if one.id not in evicted)
    )


def _with_counts(topology: Topology, counts: Counts) -> Topology:
    if all(key != topology.id for key, _ in counts):
        return topology
    components = tuple(
        replace(
            component, parallelism=counts.get((topology.id, component.id), component.parallelism)
        )
        for component in topology.components
    )
    ackers, acked = topology.ackers, topology.acked
    if ackers is not None:
        ackers = replace(ackers, count=counts.get((topology.id, ACKER), ackers.count))
        acked = acked if ackers.count else None
    return replace(topology, components=components, ackers=ackers, acked=acked)


def with_topologies(instance: Instance, topologies: tuple[Topology, ...]) -> Instance:
    """Return the instance with these topologies only, and without references to other tasks."""
    remaining = {
        (topology.id, f"{component.id}[{index}]")
        for topology in topologies
        for component in topology.placed_components
        for index in range(component.parallelism)
    }
    running = None
    if instance.running is not None:
        running = {
            topology: places
            for topology, tasks in instance.running.items()
            if (
                places := {
                    key: place for key, place in tasks.items() if (topology, key) in remaining
                }
            )
        }
    rows = [(row, instance.task_of(row.task)) for row in instance.linear]
    linear = tuple(replace(row, task="/".join(task)) for row, task in rows if task in remaining)
    return replace(instance, topologies=topologies, running=running, linear=linear)


def relax(instance: Instance, dropped: Collection[Constraint]) -> Instance:
    """Return the instance without these constraints; every placement of it stays valid.

    Capacities, slots and heap limits become unlimited, rules and shared regions are removed, and a
    component whose tasks need not be placed gets no tasks.
    """
    if not dropped:
        return instance
    by_node = _by_node(dropped)
    nodes = tuple(
        _node(node, by_node[node.id]) if node.id in by_node else node
        for node in instance.cluster.nodes
    )
    rules = {constraint.rule for constraint in dropped}
    scheduler, objective = instance.scheduler, instance.objective
    if "worker_min_cpu" in rules:
        scheduler = replace(scheduler, worker_min_cpu=type(scheduler.worker_min_cpu)(0))
    if "max_moved" in rules:
        objective = replace(objective, limits={})
    looser = replace(
        instance,
        cluster=replace(instance.cluster, nodes=nodes),
        topologies=tuple(
            _topology(topology, [one for one in dropped if one.topology == topology.id])
            for topology in instance.topologies
        ),
        scheduler=scheduler,
        objective=objective,
    )
    no_tasks = {(one.topology, one.subject): 0 for one in dropped if one.rule == TASKS}
    return with_counts(looser, no_tasks) if no_tasks else looser


def _by_node(dropped: Collection[Constraint]) -> dict[str, list[Constraint]]:
    by_node: dict[str, list[Constraint]] = {}
    for constraint in dropped:
        for node in constraint.nodes:
            by_node.setdefault(node, []).append(constraint)
    return by_node


def _node(node: Node, dropped: Collection[Constraint]) -> Node:
    unlimited = {one.subject: None for one in dropped if one.rule == "capacity"}
    slots = None if any(one.rule == "slots" for one in dropped) else node.slots
    return replace(node, slots=slots, resources={**node.resources, **unlimited})


def _topology(topology: Topology, dropped: Collection[Constraint]) -> Topology:
    rules = {one.rule for one in dropped}
    for rule in rules & OTHERS.keys():
        topology = without_field(topology, OTHERS[rule])
    pairs = {(one.subject, one.other) for one in dropped if one.rule == "incompatible"}
    spread = {one.subject for one in dropped if one.rule == "max_per_node"}
    regions = {one.subject for one in dropped if one.rule == "shared_memory"}
    constraints = replace(
        topology.constraints,
        incompatible=tuple(
            (a, b)
            for a, b in topology.constraints.incompatible
            if (min(a, b), max(a, b)) not in pairs
        ),
        max_per_node={
            key: most
            for key, most in topology.constraints.max_per_node.items()
            if key not in spread
        },
    )
    isolated = topology.one_task_per_worker and "one_task_per_worker" not in rules
    apart = topology.one_component_per_worker and "one_component_per_worker" not in rules
    return replace(
        topology,
        worker_max_heap_mb=None if "heap" in rules else topology.worker_max_heap_mb,
        constraints=constraints,
        one_task_per_worker=isolated,
        one_component_per_worker=apart,
        shared_memory=tuple(one for one in topology.shared_memory if one.id not in regions),
    )
