"""Compiling: from an instance in the user's units to a `Problem` in integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction

import numpy as np

from slotwise.models.instance.instance import TERM_PARTS, Instance, Objective, parts_of
from slotwise.models.instance.topology import Stream, Topology
from slotwise.models.problem.magnitudes import check_resolution, check_sizes
from slotwise.models.problem.problem import (
    BoolArray,
    Components,
    Flow,
    IntArray,
    Problem,
    Region,
    Scales,
    TaskClass,
    Term,
    topology_rules,
)
from slotwise.models.problem.scaling import (
    CPU,
    MEMORY,
    Scale,
    dimension,
    power_of_ten,
    resource_numbers,
)
from slotwise.models.problem.workload import compile_workload
from slotwise.models.values import MAX_DECIMALS, NO_LIMIT, as_decimal, decimals


@dataclass(frozen=True, slots=True)
class _PartScales:
    """Integer scale of each part: 1 of it is 1/scale in the user's unit."""

    flow: int
    distance: int
    linear: int
    overload: int
    bottleneck: int | Fraction = 1

    def __getitem__(self, part: str) -> int | Fraction:
        """Return the scale of `part`; a part that is not listed here is a `KeyError`."""
        counted = dict.fromkeys(("rejected", "nodes", "workers", "moved"), 1)
        scales = counted | {
            "network": self.flow * self.distance,
            "linear": self.linear,
            "overload": self.overload,
            "bottleneck": self.bottleneck,
        }
        return scales[part]


def compiled(given: Instance | Problem) -> Problem:
    """Return a compiled problem as it is, and the problem of an instance."""
    return compile_problem(given) if isinstance(given, Instance) else given


def compile_problem(instance: Instance) -> Problem:
    """Return the integer form of `instance`, which all functions take in its place.

    Parameters
    ----------
    instance
        What is to be placed. Compile it once where it is used many times.

    Raises
    ------
    InputError
        When a sum could reach 2^62 or a term 2^53 at the resolution of the instance's decimals.

    Examples
    --------
    >>> import slotwise
    >>> instance = slotwise.read_instance("docs/examples/word-count.json")
    >>> slotwise.compile_problem(instance).task_count
    9
    """
    numbers = resource_numbers(instance)
    dims = tuple(sorted(numbers))
    scales = {key: Scale.fitting(numbers[key]) for key in dims}
    pair_flows = tuple(pair_flow(t, instance.flow) for t in instance.topologies)
    components = tuple(
        (index, component.id)
        for index, topology in enumerate(instance.topologies)
        for component in topology.placed_components
    )
    parts = _PartScales(
        flow=power_of_ten(weight for flows in pair_flows for weight in flows.values()),
        distance=power_of_ten(_distances(instance)),
        linear=power_of_ten(row.cost for row in instance.linear),
        overload=max((_power(scales[d]) for d in instance.objective.soft), default=1),
    )
    _check_resolution(instance, numbers, scales, pair_flows, parts)
    rows = linear_rows(instance, parts.linear)
    rack_index = {rack: index for index, rack in enumerate(instance.cluster.racks)}
    classes = task_classes(instance, pair_flows, rows)
    workload = None
    if "bottleneck" in instance.objective.parts:
        members = [(one.component, one.tasks) for one in classes]
        workload = compile_workload(instance, components, members)
        parts = replace(parts, bottleneck=1 / workload.unit)
    demand, heap = _demands(instance, components, classes, dims, scales)
    soft = instance.objective.soft
    problem = Problem(
        instance=instance,
        dims=dims,
        units=tuple(scales[d].unit for d in dims),
        capacity=_capacity(instance, dims, scales),
        soft_weight=int_array(
            [int(soft.get(d, 0) * scales[d].unit * parts.overload) for d in dims]
        ),
        hard=bool_array([d not in soft for d in dims]),
        slots=int_array(
            [NO_LIMIT if node.slots is None else node.slots for node in instance.cluster.nodes]
        ),
        node_rack=int_array([rack_index[node.rack] for node in instance.cluster.nodes]),
        racks=tuple(rack_index),
        components=components,
        classes=classes,
        demand=demand,
        heap=heap,
        task_class=_task_class(classes),
        flows=class_flows(components, classes, pair_flows, parts.flow),
        distance=int_array([int(d * parts.distance) for d in instance.cluster.distance.levels]),
        matrix=_matrix(instance, parts.distance),
        linear=_linear(instance, classes, rows),
        rules=topology_rules(instance, components, classes, scales),
        regions=shared_regions(instance, components, classes, scales),
        min_worker_cpu=scales[CPU](instance.scheduler.worker_min_cpu) if CPU in scales else 0,
        cpu=dims.index(CPU) if CPU in dims else None,
        memory=dims.index(MEMORY) if MEMORY in dims else None,
        move_limit=move_limit(instance.objective, classes),
        terms=_terms(instance.objective, parts),
        part_units={part: Fraction(1, parts[part]) for part in TERM_PARTS},
        flow_unit=Fraction(1, parts.flow),
        workload=workload,
    )
    check_sizes(problem)
    return problem


def _check_resolution(
    instance: Instance,
    numbers: Mapping[str, list[Decimal]],
    scales: Scales,
    pair_flows: tuple[PairFlow, ...],
    parts: _PartScales,
) -> None:
    """Refuse, by name, numbers that no 64-bit integer holds at their finest resolution."""
    for key, scale in scales.items():
        check_resolution(f"resource {key}", numbers[key], scale.unit)
    weights = [weight for flows in pair_flows for weight in flows.values()]
    check_resolution("flow", weights, Fraction(1, parts.flow))
    check_resolution("distance", _distances(instance), Fraction(1, parts.distance))
    costs = [row.cost for row in instance.linear]
    check_resolution("linear", costs, Fraction(1, parts.linear))
    for key, weight in instance.objective.soft.items():
        unit = 1 / (scales[key].unit * parts.overload)
        check_resolution(f"objective.soft.{key}", [Decimal(weight)], unit)


def _power(scale: Scale) -> int:
    """Return the least power of ten that makes the scale's unit whole."""
    power = 1
    while (scale.unit * power).denominator != 1:
        power *= 10
    return power


def _distances(instance: Instance) -> set[Decimal]:
    """Return every distance once: a matrix of millions has far fewer values."""
    if instance.cluster.matrix is None:
        return set(instance.cluster.distance.levels)
    return set().union(*instance.cluster.matrix)


def _task_class(classes: tuple[TaskClass, ...]) -> IntArray:
    of_task = {task: index for index, one in enumerate(classes) for task in one.tasks}
    return int_array([of_task[task] for task in range(len(of_task))])


def _demands(
    instance: Instance,
    components: Components,
    classes: tuple[TaskClass, ...],
    dims: tuple[str, ...],
    scales: Scales,
) -> tuple[IntArray, IntArray]:
    """Return [C, D] demand of a task of each class, and its on-heap memory [C]."""
    by_id = {
        (t, component.id): component
        for t, topology in enumerate(instance.topologies)
        for component in topology.placed_components
    }
    demand = [[0] * len(dims) for _ in classes]
    heap = [0] * len(classes)
    for c, one in enumerate(classes):
        for key, value in by_id[components[one.component]].resources.items():
            amount = scales[dimension(key)](value)
            demand[c][dims.index(dimension(key))] += amount
            if key == "onheap_mb":
                heap[c] = amount
    shape = (len(classes), len(dims))
    return int_array(int_array(demand).reshape(shape)), int_array(heap)


def _capacity(instance: Instance, dims: tuple[str, ...], scales: Scales) -> IntArray:
    """Return [N, D]: absent = 0, ``None`` = `NO_LIMIT`."""
    rows = []
    for node in instance.cluster.nodes:
        offered = [node.resources.get(d, Decimal(0)) for d in dims]
        rows.append(
            [
                NO_LIMIT if value is None else scales[d](value)
                for d, value in zip(dims, offered, strict=True)
            ]
        )
    return int_array(int_array(rows).reshape(len(rows), len(dims)))


def _matrix(instance: Instance, scale: int) -> IntArray | None:
    if instance.cluster.matrix is None:
        return None
    scaled = {value: int(value * scale) for value in _distances(instance)}
    return int_array([[scaled[value] for value in row] for row in instance.cluster.matrix])


def _linear(
    instance: Instance,
    classes: tuple[TaskClass, ...],
    rows: dict[tuple[str, str], LinearRow],
) -> IntArray | None:
    if not rows:
        return None
    names = instance.task_names()
    costs = [[0] * len(instance.cluster.nodes) for _ in classes]
    for c, one in enumerate(classes):
        for node, cost in rows.get(names[one.tasks[0]], ()):
            costs[c][node] = cost
    return int_array(costs)


def _terms(objective: Objective, parts: _PartScales) -> tuple[Term, ...]:
    terms = []
    for name in objective.terms:
        names = parts_of(name)
        scale = max(parts[part] for part in names)
        multipliers = tuple((part, int(scale // parts[part])) for part in names)
        terms.append(Term(name, multipliers, Fraction(1, scale)))
    return tuple(terms)


def int_array(values: Sequence[int] | Sequence[Sequence[int]] | IntArray) -> IntArray:
    """Return `values` as a read-only int64 array."""
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array


def bool_array(values: Sequence[bool]) -> BoolArray:
    """Return `values` as a read-only boolean array."""
    array = np.array(values, dtype=np.bool_)
    array.setflags(write=False)
    return array


# Classes of interchangeable tasks, and the flows between them.

LinearRow = tuple[tuple[int, int], ...]
"""(node index, integer cost) of one task, ascending by node."""


@dataclass(frozen=True, slots=True)
class _Key:
    """What tasks of one class have in common."""

    topology: int
    component: int
    first: bool
    costs: LinearRow
    home: tuple[int, int] | None


def linear_rows(instance: Instance, scale: int) -> dict[tuple[str, str], LinearRow]:
    """Return the linear costs by task; tasks without any cost are absent."""
    node_index = {node.id: index for index, node in enumerate(instance.cluster.nodes)}
    rows: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for row in instance.linear:
        if row.cost:
            entry = (node_index[row.node], int(row.cost * scale))
            rows.setdefault(instance.task_of(row.task), []).append(entry)
    return {task: tuple(sorted(entries)) for task, entries in rows.items()}


def task_classes(
    instance: Instance,
    pair_flows: tuple[PairFlow, ...],
    rows: dict[tuple[str, str], LinearRow],
) -> tuple[TaskClass, ...]:
    """Group the tasks of each component that differ in nothing; classes by first task.

    Tasks of a component differ when the first alone receives a ``global`` stream, when their
    linear costs differ or when they run on different workers now.
    """
    node_index = {node.id: index for index, node in enumerate(instance.cluster.nodes)}
    members: dict[_Key, list[int]] = {}
    homes = instance.still_running or {}
    counts_workload = "bottleneck" in instance.objective.parts
    task, component_index = 0, 0
    for t, topology in enumerate(instance.topologies):
        global_targets = {target for _, target, first_only in pair_flows[t] if first_only}
        if counts_workload:
            global_targets |= {one.target for one in topology.streams if one.grouping == "global"}
        running = homes.get(topology.id, {})
        for component in topology.placed_components:
            if not (rows or running or component.id in global_targets):  # nothing tells them apart
                if component.parallelism:
                    key = _Key(t, component_index, first=False, costs=(), home=None)
                    members[key] = list(range(task, task + component.parallelism))
                task += component.parallelism
                component_index += 1
                continue
            for index in range(component.parallelism):
                name = f"{component.id}[{index}]"
                place = running.get(name)
                key = _Key(
                    topology=t,
                    component=component_index,
                    first=index == 0 and component.id in global_targets,
                    costs=rows.get((topology.id, name), ()),
                    home=None if place is None else (node_index[place.node], place.worker),
                )
                members.setdefault(key, []).append(task)
                task += 1
            component_index += 1
    return tuple(TaskClass(k.topology, k.component, tuple(m), k.home) for k, m in members.items())


def class_flows(
    components: tuple[tuple[int, str], ...],
    classes: tuple[TaskClass, ...],
    pair_flows: tuple[PairFlow, ...],
    scale: int,
) -> tuple[Flow, ...]:
    """Return the flows between classes in integer units, ascending by (source, target)."""
    index = {key: number for number, key in enumerate(components)}
    of_component: dict[int, list[int]] = {}
    for number, one in enumerate(classes):
        of_component.setdefault(one.component, []).append(number)
    first_task: dict[int, int] = {}
    for one in classes:
        first_task[one.component] = min(one.tasks[0], first_task.get(one.component, one.tasks[0]))
    weights: dict[tuple[int, int], int] = {}
    for t, flows in enumerate(pair_flows):
        for (source, target, first_only), weight in flows.items():
            receivers = of_component.get(index[t, target], [])
            if first_only:
                first = first_task.get(index[t, target])
                receivers = [b for b in receivers if classes[b].tasks[0] == first]
            for a in of_component.get(index[t, source], []):
                for b in receivers:
                    weights[a, b] = weights.get((a, b), 0) + int(weight * scale)
    return tuple(Flow(a, b, weight) for (a, b), weight in sorted(weights.items()))


# Flow between components: how many units each ordered pair of tasks exchanges.

SIGNIFICANT_DIGITS = 6
"""A measured rate divided over pairs is rounded to this many digits, and to six decimals."""

FIRST_ONLY = True

PairFlow = dict[tuple[str, str, bool], Decimal]
"""(source, target, whether only the target's first task receives) -> weight of one pair."""


def pair_flow(topology: Topology, flow: str) -> PairFlow:
    """Return the weight of each ordered pair of tasks, by component.

    ``pairs``: 1 for two components joined by at least one stream (docs/design.md, 3; as Storm's
    SchedulingNetworkMetric counts). ``rates``: the sum over streams of rate * tuple size, spread
    by grouping: ``global`` goes to the first task of the target; ``all`` reaches each target
    task whole; the others are divided evenly over all pairs. Self-streams are ignored.
    """
    if flow == "pairs":
        return {
            (s.source, s.target, not FIRST_ONLY): Decimal(1)
            for s in topology.streams
            if s.source != s.target
        }
    parallelism = {c.id: c.parallelism for c in topology.placed_components}
    total: dict[tuple[str, str, bool], Fraction] = {}
    for stream in topology.streams:
        senders, receivers = parallelism[stream.source], parallelism[stream.target]
        if stream.source == stream.target or not senders or not receivers:
            continue
        key = (stream.source, stream.target, stream.grouping == "global")
        total[key] = total.get(key, Fraction(0)) + _share(stream, senders, receivers)
    rounded = {key: _rounded(weight) for key, weight in total.items() if weight}
    # Less than half a millionth of a tuple per second between two tasks is nothing.
    return {key: weight for key, weight in rounded.items() if weight}


def _share(stream: Stream, senders: int, receivers: int) -> Fraction:
    assert stream.rate is not None, "checked by the instance"
    volume = Fraction(stream.rate) * Fraction(
        Decimal(1) if stream.tuple_bytes is None else stream.tuple_bytes
    )
    if stream.grouping in ("all", "global"):
        return volume / senders
    return volume / (senders * receivers)


def _rounded(weight: Fraction) -> Decimal:
    """Return the weight itself if six decimals hold it, else rounded as a measured number is."""
    if 10**MAX_DECIMALS % weight.denominator == 0:
        exact = as_decimal(weight)
        if decimals(exact) <= MAX_DECIMALS:
            return exact
    approximate = Decimal(weight.numerator) / Decimal(weight.denominator)
    digits = SIGNIFICANT_DIGITS - 1 - approximate.adjusted()
    places = min(MAX_DECIMALS, digits)
    return approximate.quantize(Decimal(1).scaleb(-places))


def shared_regions(
    instance: Instance, components: Components, classes: tuple[TaskClass, ...], scales: Scales
) -> tuple[Region, ...]:
    """Return the shared memory regions of all topologies."""
    return tuple(
        Region(
            id=region.id,
            topology=t,
            kind=region.kind,
            size=scales[MEMORY](region.mb),
            classes=tuple(
                c
                for c, one in enumerate(classes)
                if one.topology == t and components[one.component][1] in region.components
            ),
        )
        for t, topology in enumerate(instance.topologies)
        for region in topology.shared_memory
    )


def move_limit(objective: Objective, classes: tuple[TaskClass, ...]) -> int:
    """Return the limit of ``moved``; `NO_LIMIT` also where there are no more tasks to move."""
    most = objective.limits.get("moved", NO_LIMIT)
    homed = sum(one.size for one in classes if one.home is not None)
    return most if most < homed else NO_LIMIT


# Resources that tasks need and no node offers: most often a name that is spelt in two ways.


def unoffered(instance: Instance) -> tuple[str, ...]:
    """Return a line for people for each resource that tasks need and no node has any of.

    It names a task that needs it, and the resource that nodes offer whose name is nearest (by
    `difflib`, ratio of 0.5 or more), or all of them. No lines where the cluster has no nodes.
    """
    nodes = instance.cluster.nodes
    offered = {
        key: None for node in nodes for key, value in node.resources.items() if value != Decimal(0)
    }
    needed: dict[str, str] = {}
    for topology in instance.topologies:
        for component in topology.placed_components:
            for key, value in component.resources.items():
                if value > 0 and component.parallelism:
                    needed.setdefault(dimension(key), f"{topology.id}/{component.id} ({key})")
    return tuple(
        f"resource {resource!r}: {user} needs it and no node offers it; "
        f"{_nearest(resource, offered)}"
        for resource, user in needed.items()
        if nodes and resource not in offered
    )


def _nearest(resource: str, offered: dict[str, None]) -> str:
    close = get_close_matches(resource, offered, n=1, cutoff=0.5)
    if close == [MEMORY]:
        return f"nodes offer {MEMORY!r}, and tasks need it as onheap_mb and offheap_mb"
    if close:
        return f"is {close[0]!r} of the nodes meant?"
    return f"nodes offer {', '.join(offered)}" if offered else "nodes offer nothing"
