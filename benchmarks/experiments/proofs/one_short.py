"""Instances with just enough room, and the same one short: contradictions of ten kinds.

Each is built around a placement. Of the kind's own limit there is exactly what the placement needs
(`short` = 0, so that the placement is valid) or one unit, slot, task or move less than any
placement needs (`short` = 1); of everything else there is plenty. Other topologies fill it up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations

import numpy as np

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.placement import Placement, from_places
from slotwise.models.instance.topology import Component, Constraints, Topology

Rng = np.random.Generator
MAIN = "main"
"""The topology that the contradiction is about; others only fill the cluster."""

Spot = tuple[int, int]
"""Index of a node, and a worker's label."""


@dataclass(frozen=True, slots=True)
class Case:
    """One instance.

    Parameters
    ----------
    kind, rule
        A name of `KINDS`, and the rule that is at fault where it is one short.
    instance
        What to place.
    placement
        A valid placement where there is just enough room; ``None`` where it is one short.
    """

    kind: str
    rule: str
    instance: Instance
    placement: Placement | None


@dataclass(slots=True)
class _Plan:
    """A placement in the making: where tasks are, what they need, and what changes at the end."""

    nodes: int
    where: dict[tuple[str, str], list[Spot]] = field(default_factory=dict)
    needs: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    more: Counter[tuple[str, str]] = field(default_factory=Counter)
    constraints: Constraints = field(default_factory=Constraints)
    one_task: bool = False
    heap: int | None = None
    tight_slots: bool = False
    fewer_slots: int = 0
    exact: dict[str, list[int]] = field(default_factory=dict)
    homes: dict[tuple[str, str], list[Spot]] = field(default_factory=dict)
    most_moved: int | None = None

    def put(
        self, component: str, spots: Iterable[Spot], topology: str = MAIN, **needs: int
    ) -> None:
        """Place tasks of a component; `needs` are those of one."""
        self.where.setdefault((topology, component), []).extend(spots)
        self.needs[topology, component] = needs

    def load(self, resource: str) -> list[int]:
        """Return what each node holds of a resource."""
        load = [0] * self.nodes
        for key, spots in self.where.items():
            for node, _ in spots:
                load[node] += self.needs[key].get(resource, 0)
        return load

    def slots(self) -> list[int]:
        """Return how many workers each node holds."""
        used = {spot for spots in self.where.values() for spot in spots}
        return [sum(node == n for node, _ in used) for n in range(self.nodes)]


def _fill(rng: Rng, plan: _Plan, tasks: int, *, without: str = "") -> None:
    """Add topologies of one worker each until there are that many tasks."""
    left = tasks - sum(map(len, plan.where.values()))
    number = 0
    while left > 0:
        count = min(left, int(rng.integers(5, 60)))
        topology, node = f"other{number}", int(rng.integers(plan.nodes))
        sizes = (("cpu", 40), ("memory_mb", 400))
        for c, some in enumerate(np.array_split(np.arange(count), min(count, 3))):
            needs = {key: int(rng.integers(1, most)) for key, most in sizes if key != without}
            spots = [(node, 1000 + number)] * len(some)
            plan.put(f"x{c}", spots, topology, **needs)
        number, left = number + 1, left - count


def _name(key: str) -> str:
    return "offheap_mb" if key == "memory_mb" else key


def _finish(rng: Rng, plan: _Plan, kind: str, rule: str, short: int) -> Case:
    keys = sorted({key for needs in plan.needs.values() for key in needs} | set(plan.exact))
    resources = {
        key: plan.exact.get(key)
        or [int(load + rng.integers(500, 5000)) for load in plan.load(_dimension(key))]
        for key in {_dimension(key) for key in keys}
    }
    if "memory_mb" not in plan.exact and "memory_mb" in resources:
        loads = [a + b for a, b in zip(plan.load("memory_mb"), plan.load("onheap_mb"), strict=True)]
        resources["memory_mb"] = [int(load + rng.integers(500, 5000)) for load in loads]
    slots = [n + (0 if plan.tight_slots else int(rng.integers(5, 50))) for n in plan.slots()]
    slots[slots.index(max(slots))] -= plan.fewer_slots
    nodes = tuple(
        Node(
            f"n{n}",
            f"r{n % 3}",
            slots=slots[n],
            resources={key: Decimal(values[n]) for key, values in resources.items()},
        )
        for n in range(plan.nodes)
    )
    topologies = tuple(_topology(plan, name) for name in dict.fromkeys(t for t, _ in plan.where))
    running, objective = None, Objective()
    if plan.most_moved is not None:
        running = _places(nodes, {**plan.where, **plan.homes})
        objective = Objective(limits={"moved": plan.most_moved})
    instance = Instance(
        f"{kind}-{short}", Cluster(nodes), topologies, running=running, objective=objective
    )
    placement = None if short else from_places(instance, _places(nodes, plan.where))
    return Case(kind, rule, instance, placement)


def _dimension(key: str) -> str:
    return "memory_mb" if key == "onheap_mb" else key


def _topology(plan: _Plan, name: str) -> Topology:
    components = tuple(
        Component(
            component,
            "bolt" if number else "spout",
            len(spots) + plan.more[topology, component],
            {_name(key): Decimal(v) for key, v in plan.needs[topology, component].items()},
        )
        for number, ((topology, component), spots) in enumerate(
            item for item in plan.where.items() if item[0][0] == name
        )
    )
    if name != MAIN:
        return Topology(name, components)
    return Topology(
        name,
        components,
        constraints=plan.constraints,
        one_task_per_worker=plan.one_task,
        worker_max_heap_mb=None if plan.heap is None else Decimal(plan.heap),
    )


def _places(
    nodes: tuple[Node, ...], where: dict[tuple[str, str], list[Spot]]
) -> dict[str, dict[str, Place]]:
    places: dict[str, dict[str, Place]] = {}
    for (topology, component), spots in where.items():
        tasks = places.setdefault(topology, {})
        for index, (node, label) in enumerate(spots):
            tasks[f"{component}[{index}]"] = Place(nodes[node].id, label)
    return places


def _max_per_node(rng: Rng, plan: _Plan, short: int) -> str:
    most = int(rng.integers(1, 4))
    plan.put("a", [(n, 0) for n in range(plan.nodes) for _ in range(most)], cpu=7)
    plan.constraints = Constraints(max_per_node={"a": most})
    plan.more[MAIN, "a"] = short
    return "max_per_node"


def _incompatible(rng: Rng, plan: _Plan, short: int) -> str:
    spots = [(n, k) for n in range(plan.nodes) for k in range(int(rng.integers(1, 4)))]
    plan.put("a", spots, cpu=7)
    plan.put("b", [spots[0]] * int(rng.integers(1, 9)), cpu=3)
    plan.constraints = Constraints(incompatible=(("a", "a"),))
    plan.tight_slots, plan.more[MAIN, "a"] = True, short
    return "incompatible"


def _clique(rng: Rng, plan: _Plan, short: int) -> str:
    plan.nodes = min(plan.nodes, 6)
    spots = [(n, k) for n in range(plan.nodes) for k in range(int(rng.integers(1, 3)))]
    for c, spot in enumerate(spots):
        plan.put(f"c{c}", [spot] * int(rng.integers(1, 20)), cpu=int(rng.integers(1, 30)))
    pairs = tuple(combinations([f"c{c}" for c in range(len(spots))], 2))
    plan.constraints = Constraints(incompatible=pairs)
    plan.tight_slots, plan.fewer_slots = True, short
    return "incompatible"


def _one_task(rng: Rng, plan: _Plan, short: int) -> str:
    for n in range(plan.nodes):
        for k in range(int(rng.integers(1, 4))):
            plan.put("ab"[(n + k) % 2], [(n, k)], cpu=7)
    plan.one_task, plan.tight_slots, plan.fewer_slots = True, True, short
    return "one_task_per_worker"


def _heap(rng: Rng, plan: _Plan, short: int) -> str:
    spots = [(n, k) for n in range(plan.nodes) for k in range(int(rng.integers(1, 4)))]
    plan.put("a", spots, onheap_mb=int(rng.integers(501, 700)))
    plan.put("b", spots[::2], onheap_mb=int(rng.integers(100, 300)))
    plan.heap, plan.tight_slots, plan.fewer_slots = 1000, True, short
    return "heap"


def _task(rng: Rng, plan: _Plan, short: int) -> str:
    size = int(rng.integers(200, 900))
    plan.put("a", [(n, 0) for n in range(0, plan.nodes, 2)], cpu=size)
    plan.exact["cpu"] = [size - short] * plan.nodes
    return "capacity"


def _total(rng: Rng, plan: _Plan, short: int) -> str:
    for c in range(4):
        some = [(int(n), 0) for n in rng.integers(0, plan.nodes, size=3 * plan.nodes)]
        plan.put(f"c{c}", some, cpu=int(rng.integers(10, 90)))
    plan.exact["cpu"] = plan.load("cpu")
    full = plan.exact["cpu"].index(max(plan.exact["cpu"]))
    plan.exact["cpu"][full] -= short
    return "capacity"


def _bins(rng: Rng, plan: _Plan, short: int) -> str:
    per_bin = int(rng.integers(1, 4))
    sizes = [int(rng.integers(1000 // (per_bin + 1) + 1, 1000 // per_bin + 1)) for _ in "ab"]
    for n in range(plan.nodes):
        for k in range(per_bin):
            plan.put("ab"[(n + k) % 2], [(n, 0)], cpu=sizes[(n + k) % 2])
    plan.exact["cpu"] = [1000] * plan.nodes
    plan.more[MAIN, "a"] = short
    return "capacity"


def _flow(rng: Rng, plan: _Plan, short: int) -> str:
    able, ports = max(1, plan.nodes // 3), int(rng.integers(2, 6))
    for n in range(able):
        for k in range(ports):
            plan.put("ab"[(n + k) % 2], [(n, 0)], tag=1, port=1)
    plan.put("c", [(n, 0) for n in range(able, plan.nodes)], port=1)
    plan.exact["tag"] = [100] * able + [0] * (plan.nodes - able)
    plan.exact["port"] = [ports] * able + [100] * (plan.nodes - able)
    plan.more[MAIN, "a"] = short
    return "capacity"


def _moves(rng: Rng, plan: _Plan, short: int) -> str:
    leave, stay = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    plan.put("a", [(0, 0)] * stay + [(1, 0)] * leave, gpu=2)
    plan.homes[MAIN, "a"] = [(0, 0)] * (stay + leave)
    plan.exact["gpu"] = [2 * stay, *[2 * leave] * (plan.nodes - 1)]
    plan.most_moved = leave - short
    return "max_moved"


KINDS: dict[str, Callable[[Rng, _Plan, int], str]] = {
    "max per node": _max_per_node,
    "one per worker": _incompatible,
    "exclusive components": _clique,
    "one task per worker": _one_task,
    "heap": _heap,
    "task too large": _task,
    "total": _total,
    "bins": _bins,
    "few able nodes": _flow,
    "moves": _moves,
}
"""What may be one short, by name."""

_OWN = frozenset({"task too large", "total", "bins"})
"""Kinds whose limit is one of cpu, which others then do without."""


def one_short(kind: str, seed: int, short: int, *, most_tasks: int = 500) -> Case:
    """Return the case of a kind and a seed: the same but for `short`, which is 0 or 1."""
    rng = np.random.default_rng((seed, list(KINDS).index(kind)))
    tasks = int(rng.integers(most_tasks // 10, most_tasks))
    plan = _Plan(int(rng.integers(4, max(5, min(41, most_tasks // 12)))))
    rule = KINDS[kind](rng, plan, short)
    if kind != "one task per worker":
        _fill(rng, plan, tasks - short, without="cpu" if kind in _OWN else "")
    return _finish(rng, plan, kind, rule, short)
