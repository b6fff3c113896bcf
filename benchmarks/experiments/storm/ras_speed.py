"""How long Storm's default RAS strategy takes here: experiment ``ras_speed``.

Prints seconds against executors and nodes for one topology on an empty cluster, and with
``--clusters DIR`` the seconds for the two decoded clusters of Storm's own test in that folder (all
topologies, one user, in the scheduler's order, without the outer loop's bookkeeping). The least
of three runs each, in seconds of one core; reading and checking the file, done once, is a figure of
its own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from slotwise.benchmarks.experiments.table import say
from slotwise.heuristics.ras.model import ras_model
from slotwise.heuristics.ras.scheduler import priority_order
from slotwise.heuristics.ras.state import RasState
from slotwise.heuristics.ras.strategies.strategy import schedule_topology
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, RasSettings, Stream, Topology
from slotwise.models.instance_file import read_instance

EXECUTORS = (100, 400, 1600, 6400, 25_000)
NODES = (10, 50, 250, 1000, 2000)
RACK = 40
COMPONENTS = 10
CLUSTERS = ("largeCluster03", "largeCluster01")
REPEATS = 3


def chain(executors: int, nodes: int) -> Instance:
    """Return a chain of ten components on nodes that all together are filled to four fifths."""
    share = executors // COMPONENTS
    need = {"cpu": Decimal(50), "onheap_mb": Decimal(500), "offheap_mb": Decimal(50)}
    components = tuple(
        Component(f"c{i}", "bolt" if i else "spout", share, need) for i in range(COMPONENTS)
    )
    streams = tuple(Stream(f"c{i}", f"c{i + 1}") for i in range(COMPONENTS - 1))
    most = -(-executors * 5 // (4 * nodes)) + 1
    offered = {"cpu": Decimal(50 * most), "memory_mb": Decimal(600 * most)}
    topology = Topology(
        "chain",
        components,
        streams,
        worker_max_heap_mb=Decimal(4000),
        ras=RasSettings(max_states=executors + 1),
    )
    cluster = Cluster(
        tuple(Node(f"n{i}", f"r{i // RACK}", slots=most, resources=offered) for i in range(nodes))
    )
    return Instance(f"chain-{executors}-{nodes}", cluster, (topology,))


def seconds(instance: Instance) -> tuple[float, int, int]:
    """Return the least seconds to place all topologies, how many are placed, and steps back."""
    best, placed, backtracked = float("inf"), 0, 0
    for _ in range(REPEATS):
        start = time.process_time()
        state = RasState(ras_model(instance))
        results = [
            schedule_topology(state, entry.topology, "ras-default")
            for entry in priority_order(instance)
        ]
        best = min(best, time.process_time() - start)
        placed = sum(not state.unassigned(t) for t in range(len(instance.topologies)))
        backtracked = sum(result.backtracked for result in results)
    return best, placed, backtracked


def lines(clusters: Path | None) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "executors " + "".join(f"{f'{nodes} nodes':>12}" for nodes in NODES)
    for executors in EXECUTORS:
        row = (seconds(chain(executors, nodes))[0] for nodes in NODES if nodes <= executors)
        yield f"{executors:>9} " + "".join(f"{value:>10.3f} s" for value in row)
    for name in CLUSTERS if clusters is not None else ():
        assert clusters is not None
        start = time.process_time()
        instance = read_instance(clusters / f"{name}.json")
        reading = time.process_time() - start
        spent, placed, backtracked = seconds(instance)
        count = len(instance.topologies)
        yield (
            f"{name}: read in {reading:.3f} s, placed in {spent:.3f} s, "
            f"{placed} of {count} placed, backtracked {backtracked} times"
        )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument(
        "--clusters", type=Path, help="folder of largeCluster01.json and ...03.json"
    )


def run(options: argparse.Namespace) -> None:
    """Print the report line by line."""
    for line in lines(options.clusters):
        say(line)
