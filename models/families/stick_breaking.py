"""The random topologies and clusters of Storm's scheduler test framework.

Source: jerrypeng/storm-scheduler-test-framework @017c591, ``performance/random``
(GenRandomTopology, GenRandomCluster). Budgets are broken like a stick: each component or node
draws uniformly from what is left, so the first ones are large and the last ones tiny.

A topology: budgets of executors, cpu and memory are drawn; while all last, the next component
(spout and bolt in turn) draws its executors and what one executor needs, and takes one executor
and the drawn cpu and memory from the budgets. Each spout then feeds a random bolt, each bolt a
random other bolt.

Where we differ: draws come from a seeded NumPy generator (upstream's are not reproducible);
U[a, b] is read as whole numbers with both ends; the cluster's budgets are drawn from 1, not 0, so
that there is a node; memory is on-heap and no worker heap limit is set; where two bolts draw each
other, both streams stand. Some instances are infeasible, and nobody knows which before solving.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal

from numpy.random import Generator

from slotwise.models.families.family import Family, check_index, child_rng, draw
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Stream, Topology

NAME = "stick-breaking"


@dataclass(frozen=True, slots=True)
class StickBreaking:
    """Most of everything; cpu in points, memory in MB."""

    max_executors: int = 8
    max_cpu: int = 100
    max_memory: int = 1024
    max_racks: int = 3
    max_nodes: int = 8
    max_slots: int = 24
    max_node_cpu: int = 4000
    max_node_memory: int = 40000


def stick_breaking(parameters: StickBreaking) -> Family[Instance]:
    """Return the family with these parameters."""

    def make(index: int, seed: int) -> Instance:
        check_index(NAME, index)
        rng = child_rng(NAME, seed, index)
        return Instance(
            name=f"{NAME}-{seed}-{index:04d}",
            cluster=_cluster(rng, parameters),
            topologies=(_topology(rng, parameters),),
        )

    return Family(
        name=NAME,
        description="Random topologies and clusters of Storm's scheduler test framework",
        count=50,
        make=make,
        parameters=asdict(parameters),
    )


def _topology(rng: Generator, most: StickBreaking) -> Topology:
    executors, cpu, memory = (
        draw(rng, 1, top) for top in (most.max_executors, most.max_cpu, most.max_memory)
    )
    components: list[Component] = []
    while executors > 0 and cpu > 0 and memory > 0:
        kind = "bolt" if len(components) % 2 else "spout"
        needs = draw(rng, 1, cpu), draw(rng, 1, memory)
        parallelism = draw(rng, 1, executors)
        resources = {"cpu": Decimal(needs[0]), "onheap_mb": Decimal(needs[1])}
        components.append(Component(f"{kind}-{len(components) // 2}", kind, parallelism, resources))
        executors, cpu, memory = executors - 1, cpu - needs[0], memory - needs[1]
    return Topology(id="random", components=tuple(components), streams=_streams(rng, components))


def _streams(rng: Generator, components: list[Component]) -> tuple[Stream, ...]:
    bolts = [c.id for c in components if c.kind == "bolt"]
    streams = []
    for kind in ("spout", "bolt"):
        for component in components:
            others = [bolt for bolt in bolts if bolt != component.id]
            if component.kind == kind and others:
                streams.append(Stream(component.id, others[draw(rng, 0, len(others) - 1)]))
    return tuple(streams)


def _cluster(rng: Generator, most: StickBreaking) -> Cluster:
    racks = draw(rng, 1, most.max_racks)
    left = draw(rng, 1, most.max_nodes)
    budgets = [
        draw(rng, 1, top) for top in (most.max_slots, most.max_node_cpu, most.max_node_memory)
    ]
    nodes: list[Node] = []
    while left > 0 and min(budgets) > 0:
        slots, cpu, memory = (draw(rng, 0, budget) for budget in budgets)
        nodes.append(
            Node(
                id=f"node-{len(nodes)}",
                rack=f"rack-{draw(rng, 0, racks - 1)}",
                slots=slots,
                resources={"cpu": Decimal(cpu), "memory_mb": Decimal(memory)},
            )
        )
        left -= 1
        budgets = [b - x for b, x in zip(budgets, (slots, cpu, memory), strict=True)]
    return Cluster(tuple(nodes))


STICK_BREAKING = stick_breaking(StickBreaking())
