"""Random instances with a workload, each with a random placement: what predictions are tried on.

One to three topologies of 10 to 60 tasks together, each an acyclic graph of a spout and one to five
bolts with any grouping, on 3 to 8 nodes in two racks. Tasks are placed at random, on few workers or
many. With windows (*closed*), spouts emit as fast as these let them; without (*open*), all rates
are such that the busiest resource is in use to a drawn share between 30 and 95 %.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.random import Generator

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data
from slotwise.models.prediction.prediction import predict

GROUPINGS = ("shuffle", "fields", "local_or_shuffle", "none", "global", "all")
OFTEN = (0.35, 0.3, 0.15, 0.1, 0.05, 0.05)
SCVS = (0, 0.25, 1, 2)
WINDOWS = (1, 2, 5, 10, 20, 50)
MOST_TUPLES = 40
"""Tuples that follow from one of a spout, acks left out: a tree of more is drawn again."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An instance and its placement; whether its spouts have windows."""

    instance: Instance
    placement: Placement
    closed: bool


def drawn(number: int, seed: int) -> Drawn:
    """Return one by its number: even ones are open, odd ones closed."""
    random = np.random.default_rng((seed, number))
    closed = number % 2 == 1
    count = int(random.integers(1, 4))
    tasks = int(random.integers(10, 61))
    topologies = [_topology(random, f"t{i}", max(4, tasks // count), closed) for i in range(count)]
    instance = instance_from_data(
        {
            "format": "slotwise.instance/1",
            "name": f"workload-{number}",
            "cluster": _cluster(random),
            "topologies": topologies,
        }
    )
    placement = _placement(random, instance)
    if not closed:
        instance = _at_load(instance, placement, float(random.uniform(0.3, 0.95)))
    return Drawn(instance, placement, closed)


def _cluster(random: Generator) -> dict[str, Any]:
    cores, fast = int(random.integers(2, 7)), int(random.choice((100, 100, 150)))
    mbit_s = int(random.choice((100, 300, 1000)))
    nodes = [
        {
            "id": f"n{n}",
            "rack": f"r{n % 2}",
            "resources": {"cpu": cores * fast},
            "cores": cores,
            "bandwidth_in_mbit_s": mbit_s,
            "bandwidth_out_mbit_s": mbit_s,
        }
        for n in range(int(random.integers(3, 9)))
    ]
    return {
        "nodes": nodes,
        "delay_ms": {"worker": 0.01, "node": 0.05, "rack": 0.3, "cluster": 1},
        "serialise_ms": {"worker": 0, "node": 0.02, "rack": 0.03, "cluster": 0.03},
        "uplink_mbit_s": {"r0": 2 * mbit_s, "r1": 2 * mbit_s},
    }


def _topology(random: Generator, name: str, tasks: int, closed: bool) -> dict[str, Any]:
    while True:
        topology, tuples = _drawn_topology(random, name, tasks, closed)
        if tuples <= MOST_TUPLES:
            return topology


def _drawn_topology(
    random: Generator, name: str, tasks: int, closed: bool
) -> tuple[dict[str, Any], float]:
    """Return a topology, and how many tuples follow from one of its spout."""
    count = int(random.integers(2, 7))
    sizes = random.multinomial(max(0, tasks - count), np.ones(count) / count) + 1
    components = [
        {
            "id": f"c{c}",
            "kind": "bolt" if c else "spout",
            "parallelism": int(size),
            "service_ms": round(float(random.uniform(0.05, 0.2 if c == 0 else 1.5)), 3),
            "service_scv": random.choice(SCVS).item(),
        }
        for c, size in enumerate(sizes)
    ]
    if not closed:
        components[0]["rate"] = 1
    streams: list[dict[str, Any]] = []
    received = [1.0, *[0.0] * (count - 1)]
    for target in range(1, count):
        senders = random.choice(target, size=min(target, int(random.integers(1, 3))), replace=False)
        for source in sorted(senders.tolist()):
            grouping = str(random.choice(GROUPINGS, p=OFTEN))
            selectivity = round(float(random.choice((1, random.uniform(0.2, 2)))), 2)
            copies = int(sizes[target]) if grouping == "all" else 1
            received[target] += received[source] * selectivity * copies
            streams.append(
                {
                    "from": f"c{source}",
                    "to": f"c{target}",
                    "grouping": grouping,
                    "selectivity": selectivity,
                    "tuple_bytes": int(random.integers(50, 2000)),
                }
            )
    topology: dict[str, Any] = {"id": name, "components": components, "streams": streams}
    if closed:
        topology["window"] = int(random.choice(WINDOWS))
    if random.random() < 0.5:
        topology["ackers"] = {
            "count": int(random.integers(1, 4)),
            "service_ms": 0.02,
            "service_scv": 1,
            "message_bytes": 20,
        }
    return topology, sum(received)


def _placement(random: Generator, instance: Instance) -> Placement:
    """Return a placement on a random part of the nodes, with one or two workers on each."""
    every = len(instance.cluster.nodes)
    some = random.choice(every, size=int(random.integers(2, every + 1)), replace=False)
    tasks = len(instance.task_names())
    nodes = random.choice(some, size=tasks).tolist()
    workers = random.integers(0, int(random.integers(1, 3)), size=tasks).tolist()
    return Placement(tuple(nodes), tuple(workers))


def _at_load(instance: Instance, placement: Placement, share: float) -> Instance:
    """Return the instance with rates at which the busiest resource is in use to `share`."""
    sustainable = predict(instance, placement).sustainable
    assert sustainable is not None, "every spout has a rate"
    rate = Decimal(f"{float(sustainable.multiple) * share:.6g}")
    topologies = []
    for topology in instance.topologies:
        spout, *bolts = topology.components
        components = (replace(spout, rate=rate), *bolts)
        topologies.append(replace(topology, components=components))
    return replace(instance, topologies=tuple(topologies))
