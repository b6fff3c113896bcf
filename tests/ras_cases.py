"""Random clusters and topologies for the tests of Storm's RAS strategies."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import (
    GROUPINGS,
    Ackers,
    Component,
    Constraints,
    RasSettings,
    SharedMemory,
    Stream,
    Topology,
)


def pick(rng: Generator, *choices: str) -> Decimal:
    """Return one of the numbers."""
    return Decimal(str(rng.choice(choices)))


def ras_instance(seed: int, *, most_nodes: int = 14, coarse: bool | None = None) -> Instance:
    """Return an instance with racks, hosts of several nodes, favoured hosts and all rules.

    `coarse` numbers are exact in doubles; ``None`` = either.
    """
    rng = np.random.default_rng(seed)
    fine = bool(rng.integers(2)) if coarse is None else not coarse
    nodes = _nodes(rng, int(rng.integers(2, most_nodes + 1)), fine)
    count = int(rng.integers(1, 4))
    return Instance(
        f"ras-{seed}",
        Cluster(tuple(nodes)),
        tuple(_topology(rng, f"t{i}", nodes, fine) for i in range(count)),
        Scheduler(worker_min_cpu=pick(rng, "0", "0", "25", "50.5")),
    )


def _nodes(rng: Generator, count: int, fine: bool) -> list[Node]:
    crowded = bool(rng.integers(2))
    nodes = []
    for i in range(count):
        host = i // 3 if crowded and i % 4 else i + 100
        resources = {
            "cpu": pick(rng, "100", "200", "200", "400", "150.3" if fine else "150"),
            "memory_mb": pick(rng, "500", "1000", "1000", "2000", "700.7" if fine else "700"),
        }
        if rng.integers(3):
            resources["gpu"] = pick(rng, "0", "1", "2", "4")
        if rng.integers(2):
            resources["net"] = pick(rng, "10", "20")
        slots = None if not rng.integers(8) else int(rng.integers(0, 5))
        nodes.append(Node(f"n{i}", f"r{host % 4}", f"h{host}", slots, resources))
    return nodes


def _topology(rng: Generator, key: str, nodes: list[Node], fine: bool) -> Topology:
    ids = [f"{kind}-{i}" for i in range(3) for kind in ("s", "b")][: int(rng.integers(2, 7))]
    components = tuple(_component(rng, name, fine) for name in ids)
    ends = [(str(a), str(b)) for a, b in rng.choice(ids, size=(int(rng.integers(1, 7)), 2))]
    streams = tuple(Stream(a, b, str(rng.choice(GROUPINGS[:4]))) for a, b in ends)
    hosts = [node.host for node in nodes]
    ackers = Ackers(
        int(rng.integers(1, 5)),
        int(rng.integers(1, 3)),
        {"cpu": Decimal(10), "onheap_mb": pick(rng, "0", "64")},
    )
    return Topology(
        key,
        components,
        streams,
        owner=str(rng.choice(["ann", "bob"])),
        priority=int(rng.integers(0, 3)),
        worker_max_heap_mb=None if not rng.integers(4) else pick(rng, "200", "300", "500"),
        favored_nodes=tuple(rng.choice(hosts, 2)) if not rng.integers(4) else (),
        unfavored_nodes=tuple(rng.choice(hosts, 2)) if not rng.integers(4) else (),
        constraints=_constraints(rng, ids),
        one_task_per_worker=not rng.integers(8),
        one_component_per_worker=not rng.integers(6),
        shared_memory=_shared(rng, ids),
        ackers=ackers if rng.integers(2) else None,
        ras=RasSettings(
            order_by_proximity=bool(rng.integers(2)),
            isolated_machines=int(rng.integers(1, 5)) if not rng.integers(3) else None,
            max_states=int(rng.choice([30, 100, 400])),
        ),
    )


def _component(rng: Generator, key: str, fine: bool) -> Component:
    resources = {
        "cpu": pick(rng, "10", "20", "33.3" if fine else "33", "50"),
        "onheap_mb": pick(rng, "50", "100", "128", "60.1" if fine else "60"),
        "offheap_mb": pick(rng, "0", "0", "20"),
    }
    if not rng.integers(4):
        resources["gpu"] = pick(rng, "1", "2")
    return Component(key, "spout" if key[0] == "s" else "bolt", int(rng.integers(0, 6)), resources)


def _constraints(rng: Generator, ids: list[str]) -> Constraints:
    if rng.integers(2):
        return Constraints()
    pairs = [(str(a), str(b)) for a, b in rng.choice(ids, size=(2, 2))]
    return Constraints(tuple(pairs), {str(rng.choice(ids)): int(rng.integers(1, 4))})


def _shared(rng: Generator, ids: list[str]) -> tuple[SharedMemory, ...]:
    if rng.integers(2):
        return ()
    kinds = ("onheap", "offheap_worker", "offheap_node")
    return tuple(
        SharedMemory(f"m{i}", str(rng.choice(kinds)), Decimal(40), tuple({str(rng.choice(ids))}))
        for i in range(2)
    )
