"""Random graphs of the literature on streaming partitioning, as instances.

By index in turn: Watts-Strogatz small worlds, Barabasi-Albert graphs, planted partitions and grids,
of 16 to 32 vertices. A vertex is a component of one task and 10 points of cpu, an edge a stream
from its lower end with a rate of 1 to 9; 2 to 5 equal nodes have room for 10 % more tasks than
their share, rounded up. A unit of flow between two nodes costs 1: the network cost is the weighted
edge cut.
"""

from __future__ import annotations

from decimal import Decimal

import networkx as nx
from numpy.random import Generator

from slotwise.models.families.family import Family, check_index, child_rng, draw
from slotwise.models.graph_partition import EDGE_CUT
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology

NAME = "partition"
CPU = 10
LEAST, MOST = 16, 32
"""Vertices of a graph."""
SLACK_PERCENT = 10
KINDS = ("watts-strogatz", "barabasi-albert", "planted", "grid")


def graph(kind: str, rng: Generator) -> nx.Graph[int]:
    """Return a random graph of `kind`, its vertices numbered from 0."""
    count, seed = draw(rng, LEAST, MOST), draw(rng, 0, 2**31 - 1)
    drawn: nx.Graph[int]
    if kind == "watts-strogatz":
        drawn = nx.watts_strogatz_graph(count, 4, 0.1, seed=seed)
    elif kind == "barabasi-albert":
        drawn = nx.barabasi_albert_graph(count, 2, seed=seed)
    elif kind == "planted":
        groups = draw(rng, 2, 4)
        drawn = nx.planted_partition_graph(groups, count // groups, 0.6, 0.05, seed=seed)
    else:
        rows = draw(rng, 3, 5)
        drawn = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, -(-count // rows)))
    return drawn


def make(index: int, seed: int) -> Instance:
    """Return the instance of this index."""
    check_index(NAME, index)
    rng = child_rng(NAME, seed, index)
    kind = KINDS[index % len(KINDS)]
    one = graph(kind, rng)
    nodes = draw(rng, 2, 5)
    room = -(-len(one) * (100 + SLACK_PERCENT) // (100 * nodes))
    name = f"{NAME}-{seed}-{index:04d}-{kind}"
    # Streams lead from lower to higher numbers: no cycles, and those without inputs are spouts.
    pairs = sorted((min(a, b), max(a, b)) for a, b in one.edges)
    fed = {b for _, b in pairs}
    topology = Topology(
        "graph",
        tuple(
            Component(f"v{v}", "bolt" if v in fed else "spout", 1, {"cpu": Decimal(CPU)})
            for v in range(len(one))
        ),
        tuple(Stream(f"v{a}", f"v{b}", rate=Decimal(draw(rng, 1, 9))) for a, b in pairs),
    )
    machines = tuple(
        Node(f"node-{n}", "rack", resources={"cpu": Decimal(CPU * room)}) for n in range(nodes)
    )
    cluster, objective = Cluster(machines, EDGE_CUT), Objective(("network",))
    return Instance(name, cluster, (topology,), objective=objective, flow="rates")


def label(index: int, seed: int) -> str | None:
    """Return ``feasible``: equal tasks, and room for more than there are."""
    return "feasible"


PARTITION = Family(
    name=NAME,
    description="Watts-Strogatz, Barabasi-Albert, planted partitions and grids on equal nodes",
    count=200,
    make=make,
    parameters={"least_tasks": LEAST, "most_tasks": MOST, "slack_percent": SLACK_PERCENT},
    label=label,
)
