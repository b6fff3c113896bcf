"""Seeded random instances for the comparison with Storm's own schedulers, of 2.x and of 1.0.6.

They are made to differ, not to be nice: names of any hash, several supervisors on a host, shared
memory, ackers, generic resources, constraints, favoured hosts, pools, demands from far below to
above what the cluster has. `Story` is a sequence of rounds: topologies arrive, some workers are
lost in between, and what was placed runs on. `storm_1_story` is one without what 1.0.6 lacks;
`tight_story` is made to be filled to the last digit: few nodes, demands in tenths, capacities that
are sums of demands, guarantees and priorities that evict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from numpy.random import Generator

from slotwise.heuristics.ras.strategies.strategy import STRATEGIES
from slotwise.models.families.family import child_rng, draw
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import (
    PRIORITY_STRATEGIES,
    Instance,
    Place,
    Running,
    Scheduler,
)
from slotwise.models.instance.topology import (
    GROUPINGS,
    SHARED_KINDS,
    Ackers,
    Component,
    Constraints,
    RasSettings,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.testing.choices import FromRng, pick

T = TypeVar("T")
GENERICS = ("gpu.count", "network.resource.units", "fpga")


@dataclass(frozen=True, slots=True)
class Story:
    """A cluster and the topologies that arrive in each round.

    Parameters
    ----------
    first
        The instance of the first round.
    arrivals
        Of the rounds after it; may be empty.
    lost_percent
        So many of a hundred running workers are lost before each of these rounds.
    """

    first: Instance
    arrivals: tuple[tuple[Topology, ...], ...]
    lost_percent: int

    def next_round(self, before: Instance, running: Running, number: int, seed: int) -> Instance:
        """Return round `number` (1 = the one after the first), after `before` left `running`."""
        rng = child_rng(f"{before.name}-lost-{number}", seed, number)
        lost = {place for place in _workers(running) if draw(rng, 1, 100) <= self.lost_percent}
        left = {
            topology: kept
            for topology, tasks in running.items()
            if (kept := {task: place for task, place in tasks.items() if place not in lost})
        }
        return replace(
            before,
            topologies=(*before.topologies, *self.arrivals[number - 1]),
            running=left,
        )


def _workers(running: Running) -> list[Place]:
    return list(dict.fromkeys(place for tasks in running.values() for place in tasks.values()))


def story(seed: int, index: int, strategy: str | None = None) -> Story:
    """Return story `index` of `seed`; all topologies of `strategy`, or each of any."""
    return _Maker(child_rng("storm-peer", seed, index)).story(f"storm-{seed}-{index}", strategy)


class _Maker:
    """Draws the parts of one story, all from one generator."""

    def __init__(self, rng: Generator) -> None:
        self.rng = rng
        self.large = self.chance(15)
        self.decimals = self.large or self.chance(30)
        self.generics = GENERICS[: draw(rng, 0, len(GENERICS))] if self.chance(50) else ()

    def chance(self, percent: int) -> bool:
        return draw(self.rng, 1, 100) <= percent

    def one_of(self, values: Sequence[T]) -> T:
        return values[draw(self.rng, 0, len(values) - 1)]

    def amount(self, least: int, most: int) -> Decimal:
        whole = Decimal(draw(self.rng, least, most))
        return whole + Decimal(draw(self.rng, 0, 99)) / 100 if self.decimals else whole

    def word(self, letter: str) -> str:
        return f"{letter}{draw(self.rng, 0, 10**6)}"

    def words(self, letter: str, count: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[self.word(letter)] = None
        return list(found)

    def story(self, name: str, strategy: str | None) -> Story:
        cluster = self.cluster()
        hosts = tuple(dict.fromkeys(node.host for node in cluster.nodes))
        owners = ("",) if self.chance(30) else tuple(self.words("u", draw(self.rng, 1, 3)))
        rounds = 1 if self.chance(40) else draw(self.rng, 2, 3)
        groups = [draw(self.rng, 1, 3) for _ in range(rounds)]
        ids = iter(self.words("t", sum(groups)))
        made = [
            tuple(self.topology(next(ids), hosts, owners, strategy) for _ in range(count))
            for count in groups
        ]
        first = Instance(name, cluster, made[0], self.scheduler(owners))
        return Story(first, tuple(made[1:]), self.one_of((0, 20, 50)))

    def cluster(self) -> Cluster:
        alike = self.chance(50)
        kinds = [self.capacity() for _ in range(1 if alike else 3)]
        shared_hosts = self.chance(50)
        nodes = []
        racks = self.words("rack", draw(self.rng, 1, 3))
        ids = iter(self.words("n", 27))
        for host in self.words("h", draw(self.rng, 1, 9)):
            rack = self.one_of(racks)
            for _ in range(draw(self.rng, 1, 3) if shared_hosts else 1):
                few = self.one_of((0, 1, 2, 3, 4, 4, 6, None))
                slots = draw(self.rng, 1, 40) if self.large else few
                nodes.append(Node(next(ids), rack, host, slots, self.one_of(kinds)))
        return Cluster(tuple(nodes))

    def capacity(self) -> dict[str, Decimal]:
        found = {"cpu": self.amount(100, 1000), "memory_mb": self.amount(800, 8000)}
        for key in self.generics:
            if self.chance(50):
                found[key] = self.amount(1, 8)
        return found

    def scheduler(self, owners: tuple[str, ...]) -> Scheduler:
        pools = {
            owner: {
                "cpu": self.amount(0, 800),
                "memory_mb": self.amount(0, 8000),
                **{key: self.amount(0, 8) for key in self.generics if self.chance(50)},
            }
            for owner in owners
            if self.chance(60)
        }
        least = self.amount(10, 120) if self.chance(30) else Decimal(0)
        return Scheduler(least, self.one_of(PRIORITY_STRATEGIES), pools)

    def topology(
        self, name: str, hosts: tuple[str, ...], owners: tuple[str, ...], strategy: str | None
    ) -> Topology:
        components = self.components()
        ids = tuple(one.id for one in components)
        shared = draw(self.rng, 1, 20 if self.large else 3) if self.chance(40) else 0
        return Topology(
            id=name,
            components=components,
            streams=self.streams(ids),
            owner=self.one_of(owners),
            priority=self.one_of((0, 10, 10, 20, 29, 29)),
            launch_time=draw(self.rng, 0, 300),
            strategy=self.one_of(tuple(STRATEGIES)) if strategy is None else strategy,
            worker_max_heap_mb=None if self.chance(20) else self.amount(500, 2000),
            favored_nodes=self.hosts(hosts),
            unfavored_nodes=self.hosts(hosts),
            constraints=self.constraints(ids) if self.chance(40) else Constraints(),
            one_task_per_worker=self.chance(8),
            one_component_per_worker=self.chance(12),
            shared_memory=tuple(self.region(f"m{i}", ids) for i in range(shared)),
            ackers=self.ackers() if self.chance(45) else None,
            ras=self.settings(),
        )

    def settings(self) -> RasSettings:
        return RasSettings(
            order_by_proximity=self.chance(25),
            isolated_machines=draw(self.rng, 1, 4) if self.chance(15) else None,
        )

    def components(self) -> tuple[Component, ...]:
        count = draw(self.rng, 1, 6)
        most = 14 if self.chance(20) else 5
        times = draw(self.rng, 1, 9) if self.large else 1
        return tuple(
            Component(
                name,
                "spout" if index == 0 or self.chance(20) else "bolt",
                draw(self.rng, 0 if index else 1, most) * times,
                self.demand(),
            )
            for index, name in enumerate(self.words("c", count))
        )

    def demand(self) -> dict[str, Decimal]:
        share = 8 if self.large else 1
        found = {"cpu": self.amount(1, 60 // share), "onheap_mb": self.amount(10, 300 // share)}
        if self.chance(50):
            found["offheap_mb"] = self.amount(0, 200 // share)
        for key in self.generics:
            if self.chance(10):
                found[key] = self.amount(0, 2)
        return found

    def streams(self, ids: tuple[str, ...]) -> tuple[Stream, ...]:
        found = []
        for index, target in enumerate(ids):
            for _ in range(draw(self.rng, 0, 2)):
                cyclic = self.chance(10)
                source = self.one_of(ids if cyclic or index == 0 else ids[:index])
                found.append(Stream(source, target, self.one_of(GROUPINGS)))
        return tuple(found)

    def hosts(self, hosts: tuple[str, ...]) -> tuple[str, ...]:
        if not self.chance(20):
            return ()
        return tuple(self.one_of((*hosts, "nowhere")) for _ in range(draw(self.rng, 1, 2)))

    def constraints(self, ids: tuple[str, ...]) -> Constraints:
        pairs = tuple((self.one_of(ids), self.one_of(ids)) for _ in range(draw(self.rng, 0, 3)))
        most = {key: draw(self.rng, 1, 3) for key in ids if self.chance(30)}
        return Constraints(pairs, most)

    def region(self, name: str, ids: tuple[str, ...]) -> SharedMemory:
        users = tuple(key for key in ids if self.chance(50))
        return SharedMemory(name, self.one_of(SHARED_KINDS), self.amount(10, 250), users)

    def ackers(self) -> Ackers:
        return Ackers(draw(self.rng, 0, 6), draw(self.rng, 1, 3), self.demand())


KNOWN = ("cpu", "memory_mb", "onheap_mb", "offheap_mb")
"""The resources of Storm 1.0.6."""


def storm_1_story(seed: int, index: int) -> Story:
    """Return story `index` of `seed`."""
    one = story(seed, index)
    arrivals = tuple(tuple(stripped(topology) for topology in group) for group in one.arrivals)
    return replace(one, first=for_storm_1(one.first), arrivals=arrivals)


def for_storm_1(instance: Instance) -> Instance:
    """Return `instance` without rules, resources and priorities that Storm 1.0.6 lacks."""
    return replace(
        instance,
        topologies=tuple(stripped(topology) for topology in instance.topologies),
        scheduler=Scheduler(pools=instance.scheduler.pools),
    )


def stripped(topology: Topology) -> Topology:
    """Return `topology` with cpu and memory only, without rules and shared memory."""
    ackers = topology.ackers
    return replace(
        topology,
        components=tuple(
            replace(one, resources=_known(one.resources)) for one in topology.components
        ),
        ackers=replace(ackers, resources=_known(ackers.resources)) if ackers else None,
        constraints=Constraints(),
        one_task_per_worker=False,
        one_component_per_worker=False,
        shared_memory=(),
    )


def _known(resources: Mapping[str, Decimal]) -> dict[str, Decimal]:
    return {key: amount for key, amount in resources.items() if key in KNOWN}


def tight_story(seed: int, index: int) -> Story:
    """Return tight story `index` of `seed`."""
    rng = child_rng("storm-1-tight", seed, index)
    names = [f"t{draw(rng, 0, 10**6)}-{number}" for number in range(draw(rng, 3, 6))]
    owners = [f"u{draw(rng, 0, 10**6)}" for _ in range(draw(rng, 1, 2))]
    topologies = [_topology(rng, name, pick(FromRng(rng), owners)) for name in names]
    early = draw(rng, 1, len(topologies) - 1)
    pools = {
        owner: {"cpu": Decimal(draw(rng, 1, 40)), "memory_mb": Decimal(draw(rng, 1, 40))}
        for owner in owners
    }
    cluster = _cluster(rng, topologies)
    first = Instance(
        f"tight-{seed}-{index}", cluster, tuple(topologies[:early]), Scheduler(pools=pools)
    )
    return Story(first, (tuple(topologies[early:]),), pick(FromRng(rng), (0, 0, 50)))


def _cluster(rng: Generator, topologies: Sequence[Topology]) -> Cluster:
    """Return nodes each of which some of the tasks fill exactly."""
    tasks = [
        component.resources
        for topology in topologies
        for component in topology.placed_components
        for _ in range(component.parallelism)
    ]
    nodes = []
    for number in range(draw(rng, 1, 4)):
        chosen = [pick(FromRng(rng), tasks) for _ in range(draw(rng, 2, 12))]
        capacity = {
            "cpu": sum((one["cpu"] for one in chosen), Decimal(0)),
            "memory_mb": sum((one["onheap_mb"] for one in chosen), Decimal(0)),
        }
        name = f"n{draw(rng, 0, 10**6)}-{number}"
        rack = f"r{draw(rng, 0, 1)}"
        nodes.append(Node(name, rack, slots=draw(rng, 1, 6), resources=capacity))
    return Cluster(tuple(nodes))


def _topology(rng: Generator, name: str, owner: str) -> Topology:
    components = tuple(
        Component(f"c{number}", "bolt" if number else "spout", draw(rng, 1, 4), _demand(rng))
        for number in range(draw(rng, 1, 3))
    )
    heap = pick(FromRng(rng), (None, Decimal("2.1"), Decimal(4)))
    return Topology(
        id=name,
        components=components,
        streams=tuple(Stream(f"c{n}", f"c{n + 1}") for n in range(len(components) - 1)),
        owner=owner,
        priority=pick(FromRng(rng), (0, 10, 20, 29)),
        launch_time=draw(rng, 0, 3),
        worker_max_heap_mb=heap,
        ackers=Ackers(draw(rng, 0, 2), 1, _demand(rng)) if draw(rng, 0, 1) else None,
    )


def _demand(rng: Generator) -> dict[str, Decimal]:
    return {key: Decimal(draw(rng, 1, 20)) / 10 for key in ("cpu", "onheap_mb")}
