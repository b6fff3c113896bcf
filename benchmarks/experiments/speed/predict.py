"""How long one prediction takes at scale: experiment ``predict_speed``.

Topologies of 10 components each on nodes of 8 cores, 10,000 tasks on 500 nodes as a whole, placed
at random; once with rates and once with windows. Prints wall-clock and processor seconds of a
prediction, the least of three.
"""

from __future__ import annotations

import argparse
import time
from decimal import Decimal

import numpy as np

from slotwise.benchmarks.experiments.table import say
from slotwise.models.instance.cluster import Cluster, LevelTimes, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.prediction.prediction import predict
from slotwise.models.problem.compile import compile_problem

COMPONENTS = 10
CORES = 8
NODES_OF_A_RACK = 25
MBIT_S = Decimal(1000)
RATE_OF_A_TASK = 200
WINDOW = 20
REPEATS = 3


def large_workload(
    tasks: int, nodes: int, topologies: int, *, closed: bool
) -> tuple[Instance, Placement]:
    """Return an instance with a workload, and a random placement of it.

    On a node, the tasks of a topology share a worker.
    """
    rng = np.random.default_rng(0)
    built = [
        _topology(f"t{t}", tasks // topologies // COMPONENTS, rng, closed=closed)
        for t in range(topologies)
    ]
    machines = tuple(
        Node(
            f"n{n}",
            f"r{n // NODES_OF_A_RACK}",
            resources={"cpu": Decimal(100 * CORES)},
            cores=CORES,
            bandwidth_in_mbit_s=MBIT_S,
            bandwidth_out_mbit_s=MBIT_S,
        )
        for n in range(nodes)
    )
    racks = dict.fromkeys(one.rack for one in machines)
    cluster = Cluster(
        machines,
        delay_ms=LevelTimes(*map(Decimal, ("0.01", "0.05", "0.2", "1"))),
        serialise_ms=LevelTimes(*map(Decimal, ("0", "0.02", "0.02", "0.02"))),
        uplink_mbit_s=dict.fromkeys(racks, 10 * MBIT_S),
    )
    instance = Instance("predict-speed", cluster, tuple(built))
    names = [topology for topology, _ in instance.task_names()]
    where = rng.integers(0, nodes, len(names)).tolist()
    return instance, Placement(tuple(where), tuple(int(name[1:]) for name in names))


def _topology(name: str, parallelism: int, rng: np.random.Generator, *, closed: bool) -> Topology:
    """Return a tree of components: each bolt hears one of those before it."""
    rate = None if closed else Decimal(RATE_OF_A_TASK * parallelism)
    components = [
        Component(
            "c0",
            "spout",
            parallelism,
            rate=rate,
            service_ms=Decimal("0.05"),
            service_scv=Decimal(1),
        )
    ]
    streams = []
    for index in range(1, COMPONENTS):
        service = Decimal(int(rng.integers(10, 100))) / 100
        components.append(
            Component(f"c{index}", "bolt", parallelism, service_ms=service, service_scv=Decimal(1))
        )
        streams.append(
            Stream(
                f"c{rng.integers(0, index)}",
                f"c{index}",
                tuple_bytes=Decimal(200),
                selectivity=Decimal(1),
            )
        )
    return Topology(name, tuple(components), tuple(streams), window=WINDOW if closed else None)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--topologies", type=int, default=20)


def run(options: argparse.Namespace) -> None:
    """Predict with rates and with windows, and print the least times."""
    for closed in (False, True):
        instance, placement = large_workload(
            options.tasks, options.nodes, options.topologies, closed=closed
        )
        problem = compile_problem(instance)
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter(), time.process_time()
            prediction = predict(problem, placement)
            times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        wall, work = (min(values) for values in zip(*times, strict=True))
        say(
            f"{len(placement.nodes)} tasks on {options.nodes} nodes, {options.topologies} "
            f"topologies, {'windows' if closed else 'rates'}: {wall:.2f} s, {work:.2f} s of the "
            f"processor ({prediction.rate:.6g} tuples/s, {prediction.analysis})"
        )
