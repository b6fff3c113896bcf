"""How long one judgement takes at scale: experiment ``judge_speed``.

One topology of 5,400 tasks and 6 million communicating pairs on 1,312 nodes, placed at random on
up to four workers a node. Prints the sizes and seconds per judgement, the least of five.
"""

from __future__ import annotations

import argparse
import time
from decimal import Decimal

import numpy as np

from slotwise.benchmarks.experiments.table import say
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem

COMPONENTS = 9
PARALLELISM = 600
STREAMS = 17
NODES = 1312
RACKS = 41
REPEATS = 5


def large_instance(parallelism: int) -> Instance:
    """Return 9 components with 17 streams: of 600 tasks each they have 6.12 million pairs."""
    demand = {"cpu": Decimal(10), "onheap_mb": Decimal(128)}
    components = tuple(
        Component(f"c{i}", "bolt" if i else "spout", parallelism, demand) for i in range(COMPONENTS)
    )
    hops = [(i, i + step) for step in (1, 2, 3) for i in range(COMPONENTS - step)]
    streams = tuple(Stream(f"c{a}", f"c{b}") for a, b in hops[:STREAMS])
    offered = {"cpu": Decimal(400), "memory_mb": Decimal(8192)}
    nodes = tuple(
        Node(f"n{i}", f"r{i % RACKS}", slots=None, resources=offered) for i in range(NODES)
    )
    return Instance("judge-speed", Cluster(nodes), (Topology("large", components, streams),))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--parallelism", type=int, default=PARALLELISM, help="of each component")


def run(options: argparse.Namespace) -> None:
    """Judge a random placement a few times and print the least time."""
    problem = compile_problem(large_instance(options.parallelism))
    rng = np.random.default_rng(0)
    tasks = problem.task_count
    nodes = rng.integers(0, problem.node_count, tasks)
    placement = Placement(tuple(nodes.tolist()), tuple(rng.integers(0, 4, tasks).tolist()))
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        verdict = judge(problem, placement)
        seconds.append(time.perf_counter() - start)
    pairs = int(sum(verdict.flow_by_level))
    say(
        f"{tasks} tasks, {pairs} pairs, {problem.node_count} nodes: "
        f"{min(seconds):.4f} s per judgement (network {verdict.parts['network']})"
    )
