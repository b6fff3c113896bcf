"""The compiled problem: an instance as integer arrays, with interchangeable tasks in classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from slotwise.models.instance.instance import Instance
from slotwise.models.problem.scaling import MEMORY, Scale
from slotwise.models.problem.workload import Workload
from slotwise.models.values import NO_LIMIT

# The rules that one topology sets for its workers and nodes, compiled.


@dataclass(frozen=True, slots=True)
class Rules:
    """What one topology asks of its workers and nodes.

    Parameters
    ----------
    id
        The topology's id.
    classes
        Its classes.
    heap_limit
        Most on-heap memory of a worker in memory units; `NO_LIMIT` = none.
    one_task_per_worker, one_component_per_worker
        Worker isolation; when the first holds, the second follows.
    incompatible
        Pairs of component indices that share no worker; (c, c) = at most one task of c in one.
    conflicts
        `incompatible` compiled: each pair in both orders.
    max_per_node
        (component index, most tasks of it on a node).
    reject_weight
        What leaving the topology out costs in the term ``rejected``: 1 for the lowest priority
        of the instance, one more per step of priority above it.
    """

    id: str
    classes: tuple[int, ...]
    heap_limit: int
    one_task_per_worker: bool
    one_component_per_worker: bool
    incompatible: tuple[tuple[int, int], ...]
    max_per_node: tuple[tuple[int, int], ...]
    reject_weight: int
    conflicts: frozenset[tuple[int, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the incompatible pairs, in both orders."""
        pairs = frozenset(p for a, b in self.incompatible for p in ((a, b), (b, a)))
        object.__setattr__(self, "conflicts", pairs)

    @property
    def isolates(self) -> bool:
        """Whether any rule but the heap limit keeps tasks from sharing a worker."""
        return self.one_task_per_worker or self.one_component_per_worker or bool(self.conflicts)

    def keeps_apart(self, a: int, b: int) -> bool:
        """Return whether a task of component `a` and another of `b` never share a worker.

        By isolation or incompatibility; `a` may be `b`. Heap limits play no part.
        """
        return (
            self.one_task_per_worker
            or (self.one_component_per_worker and a != b)
            or (a, b) in self.conflicts
        )


IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

WORKER, NODE, RACK, CLUSTER = range(4)
"""Levels of places; indices into `Problem.distance`."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term of the lexicographic objective.

    Parameters
    ----------
    name
        As in the instance, for example ``network+linear``.
    parts
        Part and whole multiplier: value = sum of multiplier * (part in its integer unit).
    unit
        One integer step of the term in the user's unit.
    """

    name: str
    parts: tuple[tuple[str, int], ...]
    unit: Fraction


@dataclass(frozen=True, slots=True)
class TaskClass:
    """A set of interchangeable tasks of one component: same demand, flows, costs and home.

    Parameters
    ----------
    topology, component
        Indices into `Problem.topologies` and `Problem.components`.
    tasks
        Indices of its tasks in canonical order, ascending.
    home
        (node, worker label) where all of them run now; ``None`` = nowhere known.
    """

    topology: int
    component: int
    tasks: tuple[int, ...]
    home: tuple[int, int] | None

    @property
    def size(self) -> int:
        """Number of tasks."""
        return len(self.tasks)


@dataclass(frozen=True, slots=True)
class Flow:
    """Flow weight from every task of class `source` to every task of class `target`.

    Never inside one class: self-streams are ignored. `weight` in integer flow units.
    """

    source: int
    target: int
    weight: int


@dataclass(frozen=True, slots=True)
class Region:
    """A shared memory region: `kind` as in `SharedMemory`, `size` in memory units."""

    id: str
    topology: int
    kind: str
    size: int
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Everything the judge, the heuristics and the engines need, in integers.

    T tasks, C classes, N nodes, D dimensions, P topologies. Arrays are read-only int64.

    Parameters
    ----------
    instance
        What it was compiled from.
    dims
        Names of the D dimensions; on-heap and off-heap memory are both in ``memory_mb``.
    units
        Value of one integer step of each dimension in the user's unit.
    capacity
        [N, D]; `NO_LIMIT` = none.
    soft_weight
        [D] weight of one integer step of overload in units of the part ``overload``; 0 and
        `hard` true for hard dimensions.
    hard
        [D] true where the capacity may never be exceeded.
    slots
        [N] most workers; `NO_LIMIT` = none.
    node_rack, racks
        [N] rack index of each node; the racks' names.
    components
        (topology index, component id) of each component with or without tasks.
    classes, demand, heap
        The classes; [C, D] demand of one task; [C] its on-heap memory.
    task_class
        [T] class of each task.
    flows
        Ordered flows between classes, each pair of classes at most once per direction.
    distance
        [4] distance by level `WORKER`..`CLUSTER`; used where `matrix` is ``None``.
    matrix
        [N, N] distances, or ``None``.
    linear
        [C, N] cost of a task of a class on a node, or ``None`` where all are 0.
    rules, regions
        One `Rules` per topology; shared memory of all topologies.
    min_worker_cpu
        Least cpu a worker counts, in units of dimension `cpu`.
    cpu, memory
        Index of the dimension ``cpu`` / ``memory_mb``, or ``None`` where neither nodes nor tasks
        have it.
    move_limit
        Most tasks that may be elsewhere than their home; `NO_LIMIT` = none that could bind.
    terms
        The objective.
    part_units
        Value of one integer step of each part of the objective in the user's unit.
    flow_unit
        Value of one integer step of a flow weight in the user's unit.
    workload
        What tuples ask of resources; ``None`` where the objective does not count it.
    """

    instance: Instance
    dims: tuple[str, ...]
    units: tuple[Fraction, ...]
    capacity: IntArray
    soft_weight: IntArray
    hard: BoolArray
    slots: IntArray
    node_rack: IntArray
    racks: tuple[str, ...]
    components: tuple[tuple[int, str], ...]
    classes: tuple[TaskClass, ...]
    demand: IntArray
    heap: IntArray
    task_class: IntArray
    flows: tuple[Flow, ...]
    distance: IntArray
    matrix: IntArray | None
    linear: IntArray | None
    rules: tuple[Rules, ...]
    regions: tuple[Region, ...]
    min_worker_cpu: int
    cpu: int | None
    memory: int | None
    move_limit: int
    terms: tuple[Term, ...]
    part_units: Mapping[str, Fraction]
    flow_unit: Fraction
    workload: Workload | None = None

    def __repr__(self) -> str:
        """At most five lines: as the instance's, with the number of classes."""
        head, *lines = repr(self.instance).splitlines()
        return "\n".join((f"Problem of {head}, {len(self.classes)} classes", *lines))

    @property
    def task_count(self) -> int:
        """Number of tasks."""
        return len(self.task_class)

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.slots)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of tasks of each class."""
        return tuple(c.size for c in self.classes)

    @property
    def may_reject(self) -> bool:
        """Whether a topology may be left out (the objective counts ``rejected``)."""
        return "rejected" in self.instance.objective.parts

    @property
    def counts_moves(self) -> bool:
        """Whether it matters where tasks run now: ``moved`` is a term, or limited."""
        return "moved" in self.instance.objective.parts or self.move_limit != NO_LIMIT

    def pair_flows(self) -> dict[tuple[int, int], int]:
        """Return flow weight of each unordered pair of classes (a < b), both directions added."""
        total: dict[tuple[int, int], int] = {}
        for flow in self.flows:
            pair = (min(flow.source, flow.target), max(flow.source, flow.target))
            total[pair] = total.get(pair, 0) + flow.weight
        return total

    def total_flow(self) -> int:
        """Return the flow of all pairs of tasks, wherever they are."""
        return sum(
            weight * self.sizes[a] * self.sizes[b] for (a, b), weight in self.pair_flows().items()
        )


Components = tuple[tuple[int, str], ...]
"""(topology index, component id) of each component."""

Scales = Mapping[str, Scale]
"""Dimension -> its scale."""


def topology_rules(
    instance: Instance, components: Components, classes: tuple[TaskClass, ...], scales: Scales
) -> tuple[Rules, ...]:
    """Return the rules of each topology."""
    index = {key: number for number, key in enumerate(components)}
    lowest = max((topology.priority for topology in instance.topologies), default=0)
    rules = []
    for t, topology in enumerate(instance.topologies):
        heap = topology.worker_max_heap_mb
        pairs = {
            (min(index[t, a], index[t, b]), max(index[t, a], index[t, b]))
            for a, b in topology.constraints.incompatible
        }
        rules.append(
            Rules(
                id=topology.id,
                classes=tuple(c for c, one in enumerate(classes) if one.topology == t),
                heap_limit=NO_LIMIT if heap is None else scales[MEMORY](heap),
                one_task_per_worker=topology.one_task_per_worker,
                one_component_per_worker=topology.one_component_per_worker,
                incompatible=tuple(sorted(pairs)),
                max_per_node=tuple(
                    sorted((index[t, c], m) for c, m in topology.constraints.max_per_node.items())
                ),
                reject_weight=lowest - topology.priority + 1,
            )
        )
    return tuple(rules)
