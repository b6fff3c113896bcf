"""Compiling: from an instance in the user's units to a `Problem` in integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from slotwise.models.instance.instance import TERM_PARTS, Instance, Objective, parts_of
from slotwise.models.problem.classes import LinearRow, class_flows, linear_rows, task_classes
from slotwise.models.problem.flows import PairFlow, pair_flow
from slotwise.models.problem.magnitudes import check_resolution, check_sizes
from slotwise.models.problem.problem import BoolArray, IntArray, Problem, TaskClass, Term
from slotwise.models.problem.scaling import (
    CPU,
    MEMORY,
    Scale,
    dimension,
    power_of_ten,
    resource_numbers,
)
from slotwise.models.problem.topology_rules import (
    Components,
    Scales,
    move_limit,
    shared_regions,
    topology_rules,
)
from slotwise.models.values import NO_LIMIT


@dataclass(frozen=True, slots=True)
class _PartScales:
    """Integer scale of each part: 1 of it is 1/scale in the user's unit."""

    flow: int
    distance: int
    linear: int
    overload: int

    def __getitem__(self, part: str) -> int:
        """Return the scale of `part`; a part that is not listed here is a `KeyError`."""
        counted = dict.fromkeys(("rejected", "nodes", "workers", "moved"), 1)
        scales = counted | {
            "network": self.flow * self.distance,
            "linear": self.linear,
            "overload": self.overload,
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
        multipliers = tuple((part, scale // parts[part]) for part in names)
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
