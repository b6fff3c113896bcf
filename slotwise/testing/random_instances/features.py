"""What a random instance must have: sizes, and rules that its first topology gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

from slotwise.models.instance.topology import (
    SHARED_KINDS,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.testing.choices import Chooser, pick


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a random instance must have; the default asks for nothing.

    Parameters
    ----------
    nodes
        Least number of nodes.
    topologies
        Least number of topologies, 1 or 2.
    tasks
        The first topology gets at least this many tasks, before any are left to ackers or
        components without tasks; with 1 or more, no topology is without tasks.
    memory
        Whether ``memory_mb`` is counted.
    running
        Whether at least one task is running.
    feature
        Changes the first topology; ``None`` = it stays as it is drawn.
    """

    nodes: int = 1
    topologies: int = 1
    tasks: int = 0
    memory: bool = False
    running: bool = False
    feature: Callable[[Chooser, Topology], Topology] | None = None

    @property
    def least_tasks(self) -> int:
        """Least number of tasks of all topologies together."""
        return max(self.tasks, 1) + self.topologies - 1


def with_cycle(choose: Chooser, topology: Topology) -> Topology:
    """Return the topology with streams both ways between its last two components with tasks."""
    topology = with_two_components(choose, topology)
    source, target = with_tasks_in(topology)[-2:]
    added = (Stream(source, target, rate=Decimal(10)), Stream(target, source, rate=Decimal(10)))
    known = {(stream.source, stream.target) for stream in topology.streams}
    new = tuple(stream for stream in added if (stream.source, stream.target) not in known)
    return replace(topology, streams=(*topology.streams, *new))


def with_shared_memory(choose: Chooser, topology: Topology) -> Topology:
    """Return the topology with a shared region, of all its components if none is drawn yet."""
    if topology.shared_memory:
        return topology
    kind, size = pick(choose, SHARED_KINDS), Decimal(pick(choose, ("10", "25", "30.5")))
    region = SharedMemory(f"{kind}-region", kind, size, with_tasks_in(topology))
    return replace(topology, shared_memory=(region,))


def with_constraint(choose: Chooser, topology: Topology) -> Topology:
    """Return the topology with a rule on who may share a worker or node, if it has none yet."""
    if is_constrained(topology):
        return topology
    first, last = with_tasks_in(topology)[0], with_tasks_in(topology)[-1]
    rule = choose.whole(0, 4)
    if rule == 0:
        return replace(topology, constraints=Constraints(((first, last),)))
    if rule == 1:
        return replace(topology, constraints=Constraints(max_per_node={first: 1}))
    if rule == 2:
        return replace(topology, one_task_per_worker=True)
    if rule == 3:
        return replace(topology, one_component_per_worker=True)
    return replace(topology, worker_max_heap_mb=Decimal(pick(choose, ("64", "40"))))


def is_constrained(topology: Topology) -> bool:
    """Whether the topology has a rule on who may share a worker or node, or a heap limit."""
    return bool(
        topology.constraints.incompatible
        or topology.constraints.max_per_node
        or topology.one_task_per_worker
        or topology.one_component_per_worker
        or topology.worker_max_heap_mb is not None
    )


def with_two_components(_: Chooser, topology: Topology) -> Topology:
    """Return the topology with tasks in two components, out of two tasks or more."""
    if len(with_tasks_in(topology)) > 1:
        return topology
    [only] = with_tasks_in(topology)
    total = sum(component.parallelism for component in topology.components)
    sizes = {only: max(1, total - 1)}
    components = list(topology.components)
    other = next((c.id for c in components if c.id != only), f"bolt-{len(components)}")
    if other not in {c.id for c in components}:
        components.append(Component(other, "bolt", 0, components[0].resources))
    sizes[other] = 1
    resized = tuple(replace(c, parallelism=sizes.get(c.id, 0)) for c in components)
    return replace(topology, components=resized, ackers=None if total < 2 else topology.ackers)


def with_two_alike(_: Chooser, topology: Topology) -> Topology:
    """Return the topology with two tasks in some component, out of two tasks or more."""
    if max(component.parallelism for component in topology.components) > 1:
        return topology
    first, *others = with_tasks_in(topology)
    sizes = {first: 2} | ({others[-1]: 0} if others else {})
    resized = (replace(c, parallelism=sizes.get(c.id, c.parallelism)) for c in topology.components)
    ackers = topology.ackers if others else None
    return replace(topology, components=tuple(resized), ackers=ackers)


def with_tasks_in(topology: Topology) -> tuple[str, ...]:
    """Return the ids of the components, without ackers, that have tasks."""
    return tuple(c.id for c in topology.components if c.parallelism)
