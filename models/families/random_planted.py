"""Seeded random instances with slots, heap limits and constraints, feasible and infeasible.

Feasible ones are built around a placement that is drawn first, so that one surely exists
(`planted`): tasks are dealt to nodes and workers; capacities, slots, heap limits and constraints
are then set so that this placement keeps every one of them. The others are such instances with one
rule broken so that no placement exists (`BREAKERS`): by counting, or by one task that fits nowhere.
The label stands in the instance's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.errors import InputError
from slotwise.models.families.family import Family, check_index, child_rng, draw
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Constraints, Stream, Topology
from slotwise.models.values import whole

BASE = {"cpu": 40, "onheap_mb": 256, "offheap_mb": 64}
"""Demand of a task without heterogeneity: points, MB, MB."""

GRID = {"cpu": 5, "onheap_mb": 32, "offheap_mb": 32, "memory_mb": 32}
"""Demands and capacities are multiples of these."""

GROUPINGS = ("shuffle", "fields", "local_or_shuffle", "all", "global")
WORKERS_PER_NODE = 2
"""Most workers of one topology on a node in the planted placement."""


@dataclass(frozen=True, slots=True)
class PlantedSizes:
    """Size of a random instance.

    Parameters
    ----------
    tasks, components, topologies
        In all; every component has a task, every topology a component.
    nodes, racks
        Nodes are dealt to racks in turn.
    tightness_percent
        Load of a node in the planted placement over its capacity, before rounding.
    heterogeneity_percent
        0: all demands and all capacities are equal; 100: demands vary by up to 90 % and each node
        is as large as its planted load requires.
    """

    tasks: int
    components: int
    topologies: int
    nodes: int
    racks: int
    tightness_percent: int
    heterogeneity_percent: int


@dataclass(frozen=True, slots=True)
class Seat:
    """Where one task is planted."""

    topology: int
    component: Component
    node: int
    worker: int


def planted(name: str, shape: PlantedSizes, rng: Generator) -> tuple[Instance, Placement]:
    """Return a random instance and a placement that breaks none of its rules."""
    components = _components(shape, rng)
    seats = tuple(
        Seat(
            topology=t,
            component=component,
            node=draw(rng, 0, shape.nodes - 1),
            worker=WORKERS_PER_NODE * t + draw(rng, 0, WORKERS_PER_NODE - 1),
        )
        for t, own in enumerate(components)
        for component in own
        for _ in range(component.parallelism)
    )
    instance = Instance(
        name=name,
        cluster=Cluster(_nodes(shape, seats, rng)),
        topologies=tuple(
            _topology(t, own, [seat for seat in seats if seat.topology == t], rng)
            for t, own in enumerate(components)
        ),
    )
    where = Placement(tuple(s.node for s in seats), tuple(s.worker for s in seats))
    return instance, where


def _components(shape: PlantedSizes, rng: Generator) -> list[list[Component]]:
    cuts = sorted(rng.choice(shape.tasks - 1, shape.components - 1, replace=False) + 1)
    ends = [0, *(int(cut) for cut in cuts), shape.tasks]
    topologies: list[list[Component]] = [[] for _ in range(shape.topologies)]
    for c in range(shape.components):
        own = topologies[c * shape.topologies // shape.components]
        resources = {key: _spread(key, base, shape, rng) for key, base in BASE.items()}
        kind = "bolt" if own else "spout"
        own.append(Component(f"c{len(own)}", kind, ends[c + 1] - ends[c], resources))
    return topologies


def _spread(key: str, base: int, shape: PlantedSizes, rng: Generator) -> Decimal:
    percent = 100 + shape.heterogeneity_percent * draw(rng, -90, 90) // 100
    return Decimal(max(GRID[key], _rounded_up(base * percent // 100, GRID[key])))


def _rounded_up(value: int, grid: int) -> int:
    return -(-value // grid) * grid


def _nodes(shape: PlantedSizes, seats: Sequence[Seat], rng: Generator) -> tuple[Node, ...]:
    capacity = {
        "cpu": _capacities("cpu", _loads(shape, seats, ("cpu",)), shape),
        "memory_mb": _capacities(
            "memory_mb", _loads(shape, seats, ("onheap_mb", "offheap_mb")), shape
        ),
    }
    workers = Counter(node for node, _ in {(seat.node, seat.worker) for seat in seats})
    return tuple(
        Node(
            id=f"node-{n}",
            rack=f"rack-{n % shape.racks}",
            slots=max(1, workers[n] + draw(rng, 0, 1)),
            resources={key: Decimal(values[n]) for key, values in capacity.items()},
        )
        for n in range(shape.nodes)
    )


def _loads(shape: PlantedSizes, seats: Sequence[Seat], keys: tuple[str, ...]) -> list[int]:
    loads = [0] * shape.nodes
    for seat in seats:
        loads[seat.node] += int(sum(seat.component.resources[key] for key in keys))
    return loads


def _capacities(key: str, loads: list[int], shape: PlantedSizes) -> list[int]:
    """Return capacities between the node's own need and the largest need of all nodes."""
    needs = [-(-load * 100 // shape.tightness_percent) for load in loads]
    largest = max(needs)
    return [
        _rounded_up(need + (largest - need) * (100 - shape.heterogeneity_percent) // 100, GRID[key])
        for need in needs
    ]


def _topology(
    index: int, components: list[Component], seats: list[Seat], rng: Generator
) -> Topology:
    heap: Counter[tuple[int, int]] = Counter()
    for seat in seats:
        heap[seat.node, seat.worker] += int(seat.component.resources["onheap_mb"])
    limit = _rounded_up(max(heap.values()) * draw(rng, 100, 150) // 100, GRID["onheap_mb"])
    return Topology(
        id=f"t{index}",
        components=tuple(components),
        streams=_streams(components, rng),
        worker_max_heap_mb=Decimal(limit) if draw(rng, 0, 3) else None,
        constraints=_constraints(components, seats, rng),
    )


def _streams(components: list[Component], rng: Generator) -> tuple[Stream, ...]:
    """Return a stream into each component but the first, and a few more, cycles included."""
    streams = []
    for c in range(1, len(components)):
        sources = [draw(rng, 0, c - 1)]
        if draw(rng, 0, 2) == 0:
            sources.append(draw(rng, 0, len(components) - 1))
        for source in sources:
            grouping = GROUPINGS[draw(rng, 0, len(GROUPINGS) - 1)]
            streams.append(Stream(components[source].id, components[c].id, grouping))
    return tuple(streams)


def _constraints(components: list[Component], seats: list[Seat], rng: Generator) -> Constraints:
    """Return at most one pair and one spread that the seats keep."""
    together: set[tuple[str, str]] = set()
    for i, one in enumerate(seats):
        for other in seats[:i]:
            if (one.node, one.worker) == (other.node, other.worker):
                together.add((other.component.id, one.component.id))
    pairs = [
        (a.id, b.id)
        for i, a in enumerate(components)
        for b in components[i:]
        if (a.id, b.id) not in together and (b.id, a.id) not in together
    ]
    incompatible = (pairs[draw(rng, 0, len(pairs) - 1)],) if pairs and draw(rng, 0, 1) else ()
    spread: dict[str, int] = {}
    if draw(rng, 0, 2) == 0:
        name = components[draw(rng, 0, len(components) - 1)].id
        spread[name] = max(Counter(s.node for s in seats if s.component.id == name).values())
    return Constraints(incompatible, spread)


def too_little_memory(instance: Instance) -> Instance:
    """Shrink memory: all nodes together offer less than all tasks need."""
    demand = sum(
        int(c.resources["onheap_mb"] + c.resources["offheap_mb"]) * c.parallelism
        for topology in instance.topologies
        for c in topology.components
    )
    offered = sum(int(_capacity(node, "memory_mb")) for node in instance.cluster.nodes)
    return _with_nodes(
        instance,
        tuple(
            _with_capacity(
                node, "memory_mb", int(_capacity(node, "memory_mb")) * (demand - 1) // offered
            )
            for node in instance.cluster.nodes
        ),
    )


def too_large_task(instance: Instance) -> Instance:
    """Shrink cpu: no node is large enough for the task that needs most."""
    largest = max(
        int(c.resources["cpu"]) for topology in instance.topologies for c in topology.components
    )
    return _with_nodes(
        instance,
        tuple(
            _with_capacity(node, "cpu", min(int(_capacity(node, "cpu")), largest - 1))
            for node in instance.cluster.nodes
        ),
    )


def too_small_heap(instance: Instance) -> Instance:
    """Limit the heap of the first topology's workers below what its largest task needs."""
    first = instance.topologies[0]
    largest = max(c.resources["onheap_mb"] for c in first.components)
    return _with_first(instance, replace(first, worker_max_heap_mb=largest - 1))


def too_few_slots(instance: Instance) -> Instance:
    """Require one worker per task of the first topology, and offer one slot less."""
    first = instance.topologies[0]
    left = sum(c.parallelism for c in first.components) - 1
    nodes = []
    for node in instance.cluster.nodes:
        slots = min(left, node.slots or 0)
        left -= slots
        nodes.append(replace(node, slots=slots))
    isolated = _with_first(instance, replace(first, one_task_per_worker=True))
    return _with_nodes(isolated, tuple(nodes))


BREAKERS: dict[str, Callable[[Instance], Instance]] = {
    "memory": too_little_memory,
    "task": too_large_task,
    "heap": too_small_heap,
    "slots": too_few_slots,
}


def _capacity(node: Node, key: str) -> Decimal:
    value = node.resources[key]
    assert value is not None, "generated nodes have limits"
    return value


def _with_capacity(node: Node, key: str, value: int) -> Node:
    return replace(node, resources={**node.resources, key: Decimal(value)})


def _with_nodes(instance: Instance, nodes: tuple[Node, ...]) -> Instance:
    return replace(instance, cluster=replace(instance.cluster, nodes=nodes))


def _with_first(instance: Instance, topology: Topology) -> Instance:
    return replace(instance, topologies=(topology, *instance.topologies[1:]))


NAME = "random"


@dataclass(frozen=True, slots=True)
class RandomParameters:
    """Sizes as in `PlantedSizes`; `infeasible_percent` of the instances have no placement."""

    tasks: int = 16
    components: int = 5
    topologies: int = 1
    nodes: int = 5
    racks: int = 2
    tightness_percent: int = 75
    heterogeneity_percent: int = 50
    infeasible_percent: int = 20

    def __post_init__(self) -> None:
        """Check each field, then their order of size."""
        for field in fields(self):
            least = 0 if field.name in ("heterogeneity_percent", "infeasible_percent") else 1
            value = whole(getattr(self, field.name), field.name, least=least)
            if field.name.endswith("_percent") and value > 100:
                raise InputError("must be at most 100", field=field.name, value=value)
        for small, large in (("components", "tasks"), ("topologies", "components")):
            if getattr(self, small) > getattr(self, large):
                value = getattr(self, small)
                raise InputError(
                    f"must be at most {large} ({getattr(self, large)})", field=small, value=value
                )


def random_family(parameters: RandomParameters) -> Family[Instance]:
    """Return the family with these parameters."""

    def make(index: int, seed: int) -> Instance:
        check_index(NAME, index)
        return random_instance(parameters, index, seed)[0]

    def label(index: int, seed: int) -> str:
        broken = _broken(parameters, child_rng(NAME, seed, index))
        return "feasible" if broken is None else "infeasible"

    return Family(
        name=NAME,
        description="Random topologies and clusters, feasible or infeasible by construction",
        count=50,
        make=make,
        parameters=asdict(parameters),
        label=label,
    )


def random_instance(
    parameters: RandomParameters, index: int, seed: int
) -> tuple[Instance, Placement | None]:
    """Return an instance with a placement that keeps all its rules; ``None`` = there is none."""
    rng = child_rng(NAME, seed, index)
    broken = _broken(parameters, rng)
    shape = PlantedSizes(
        **{field.name: getattr(parameters, field.name) for field in fields(PlantedSizes)},
    )
    name = f"{NAME}-{seed}-{index:04d}"
    instance, placement = planted(f"{name}-feasible", shape, rng)
    if broken is None:
        return instance, placement
    return replace(BREAKERS[broken](instance), name=f"{name}-infeasible-{broken}"), None


def _broken(parameters: RandomParameters, rng: Generator) -> str | None:
    """Draw the rule that no placement can keep; ``None`` = all can be kept. Drawn first."""
    infeasible = draw(rng, 1, 100) <= parameters.infeasible_percent
    rule = tuple(BREAKERS)[draw(rng, 0, len(BREAKERS) - 1)]
    return rule if infeasible else None


RANDOM = random_family(RandomParameters())
