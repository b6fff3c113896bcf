"""Who runs where, at which cost: a placed topology as its logs see it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import ACKER, Component, Topology
from slotwise.models.values import known
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.traffic import Flow, flows, intake

FIRST_PORT = 6700
FIRST_TASK = 1
DIGITS = 6
"""Decimals of a latency in ms: whole nanoseconds."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A node: its clock rate, and by how many seconds its clock is ahead."""

    id: str
    ghz: float
    skew: int


@dataclass(frozen=True, slots=True)
class Part:
    """A component with tasks.

    Parameters
    ----------
    rate
        Tuples per second that its tasks handle together: take in, or emit without input.
    ghz_ms
        Computation cost of a tuple: GHz times milliseconds.
    onheap_mb, offheap_mb
        Memory of a task.
    """

    id: str
    is_source: bool
    tasks: int
    rate: float
    ghz_ms: float
    onheap_mb: float
    offheap_mb: float


@dataclass(frozen=True, slots=True)
class Task:
    """A task: `number` is Storm's, `index` counts within the component."""

    part: Part
    index: int
    number: int
    machine: Machine
    port: int

    @property
    def name(self) -> str:
        """The task as instances write it."""
        return f"{self.part.id}[{self.index}]"

    def ms(self, factor: float = 1.0) -> float:
        """Return the true milliseconds of a tuple on the task's node."""
        return round(self.part.ghz_ms * factor / self.machine.ghz, DIGITS)


@dataclass(frozen=True, slots=True)
class Scene:
    """A topology that runs: `tasks` by component, `id` as Storm names it."""

    name: str
    id: str
    parts: tuple[Part, ...]
    flows: tuple[Flow, ...]
    tasks: tuple[Task, ...]

    def names_of(self, part: Part) -> tuple[str, str]:
        """Return what a component is called: among all topologies, and in its own."""
        return f"{self.name}/{part.id}", part.id

    def of(self, component: str) -> list[int]:
        """Return the places of a component's tasks in `tasks`."""
        return [i for i, task in enumerate(self.tasks) if task.part.id == component]

    @property
    def workers(self) -> tuple[tuple[Machine, int], ...]:
        """The workers, in order of their first task."""
        return tuple(dict.fromkeys((task.machine, task.port) for task in self.tasks))


def factor_of(scene: Scene, part: Part, settings: LogSettings) -> float:
    """Return by what the load shift multiplies a component's cost per tuple."""
    factors = (settings.scale[name] for name in scene.names_of(part) if name in settings.scale)
    return next(factors, 1.0)


def scenes(
    instance: Instance, placement: Placement, machines: tuple[Machine, ...], settings: LogSettings
) -> tuple[Scene, ...]:
    """Return the placed topologies; those that are wholly left out are not there.

    Ackers are left out: they have no streams in an instance.

    Raises
    ------
    InputError
        When nothing is placed, or a topology only in part.
    """
    places = iter(zip(placement.nodes, placement.workers, strict=True))
    drawn = []
    for index, topology in enumerate(instance.topologies):
        where = {
            (component.id, i): next(places)
            for component in topology.placed_components
            for i in range(component.parallelism)
        }
        placed = [node != UNPLACED for node, _ in where.values()]
        if any(placed) and not all(placed):
            rule = "must place every task of a topology, or none"
            raise InputError(rule, field="placement", value=topology.id)
        if any(placed):
            drawn.append(_scene(topology, index, where, machines, settings))
    if not drawn:
        raise InputError("places no task", field="placement", has_value=False)
    _check_scale(drawn, settings)
    return tuple(drawn)


def _check_scale(scenes: list[Scene], settings: LogSettings) -> None:
    """Refuse a factor for a component that no topology has."""
    named = [name for scene in scenes for part in scene.parts for name in scene.names_of(part)]
    for name in settings.scale:
        known(name, dict.fromkeys(named), "scale")


def _scene(
    topology: Topology,
    index: int,
    where: dict[tuple[str, int], tuple[int, int]],
    machines: tuple[Machine, ...],
    settings: LogSettings,
) -> Scene:
    carried = flows(topology, settings.rate, settings.tuple_bytes)
    components = [one for one in topology.components if one.parallelism]
    parts = tuple(_part(one, carried, components, settings) for one in components)
    numbers = _numbers(topology)
    tasks = tuple(
        Task(
            part, i, numbers[part.id] + i, machines[where[part.id, i][0]], _port(where[part.id, i])
        )
        for part in parts
        for i in range(part.tasks)
    )
    return Scene(topology.id, _storm_id(topology.id, index, settings.start), parts, carried, tasks)


def _storm_id(name: str, index: int, start: int) -> str:
    """Return a topology's id as Storm makes them: its name, a number, its start."""
    if re.fullmatch(r"[\w-]+-\d+-\d+", name):
        return name
    plain = re.sub(r"[^\w-]", "_", name)
    return f"{plain}-{index + 1}-{start}"


def _port(place: tuple[int, int]) -> int:
    return place[1] if place[1] >= FIRST_PORT else FIRST_PORT + place[1]


def _numbers(topology: Topology) -> dict[str, int]:
    """Return the number of each component's first task: Storm counts in the order of names."""
    numbers = {}
    number = FIRST_TASK
    for component in sorted(topology.placed_components, key=lambda one: one.id):
        numbers[component.id] = number
        number += component.parallelism
    return numbers


def _part(
    component: Component,
    carried: tuple[Flow, ...],
    components: list[Component],
    settings: LogSettings,
) -> Part:
    assert component.id != ACKER
    tasks = {one.id: one.parallelism for one in components}
    is_source = not any(flow.target == component.id for flow in carried)
    if is_source:
        emitted = {one.stream: one.rate for one in carried if one.source == component.id}
        rate = sum(emitted.values()) or settings.rate
    else:
        rate = intake(carried, tasks, component.id)
    demand = {key: float(value) for key, value in component.resources.items()}
    per_task = rate / component.parallelism
    ghz_ms = demand.get("cpu", 0.0) * 10 * settings.ghz[0] / per_task if per_task else 0.0
    return Part(
        component.id,
        is_source,
        component.parallelism,
        rate,
        ghz_ms,
        demand.get("onheap_mb", 0.0),
        demand.get("offheap_mb", 0.0),
    )
