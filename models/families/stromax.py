"""StroMAX's six topologies on its cluster (section 5), and scaled-down ones.

40 worker nodes with 10 task slots each: a task needs 1 of the resource ``task_slots``, of which a
node offers 10. A tuple between two nodes costs 1, on a node nothing. Parallelism is that of section
5.2 for LP (10, 50, 30, 30) and TSSA (8, then 20 each) and of the experiment with several topologies
(section 5.3: 5 tasks a spout, 20 a bolt) for the others. The shapes are read from the text; where
it is silent (Figure 4 is a picture): SC has three communication bolts in a row, and the two
classifiers of TSSA both follow the cleaning. All tasks need equally much cpu, 10 points, with 100
a node.

Scaled down, two spout tasks and three tasks a bolt on nodes of four slots: small enough for proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from slotwise.models.families.family import Family, check_index
from slotwise.models.graph_partition import EDGE_CUT
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology

NAME = "stromax"
SLOTS = "task_slots"
CPU = 10
NODES, NODE_SLOTS = 40, 10
SPOUT_TASKS, BOLT_TASKS = 5, 20
SMALL_SPOUT, SMALL_BOLT, SMALL_SLOTS = 2, 3, 4


@dataclass(frozen=True, slots=True)
class Shape:
    """A topology: its spout first, and streams as (from, to); tasks where section 5.2 says."""

    id: str
    components: tuple[str, ...]
    streams: tuple[tuple[str, str], ...]
    tasks: tuple[int, ...] | None = None


def _chain(name: str, *components: str) -> Shape:
    return Shape(name, components, tuple(pairwise(components)))


SHAPES = (
    _chain("wc", "spout", "split", "count"),
    _chain("tt", "spout", "identity", "anchor"),
    _chain("twtt", "spout", "prepare", "rank", "merge"),
    Shape(
        "lp",
        ("spout", "rules", "index", "counter"),
        (("spout", "rules"), ("rules", "index"), ("rules", "counter")),
        (10, 50, 30, 30),
    ),
    Shape(
        "tssa",
        ("spout", "sensitize", "clean", "positive", "negative", "join", "score"),
        (
            ("spout", "sensitize"),
            ("sensitize", "clean"),
            ("clean", "positive"),
            ("clean", "negative"),
            ("positive", "join"),
            ("negative", "join"),
            ("join", "score"),
        ),
        (8, 20, 20, 20, 20, 20, 20),
    ),
    _chain("sc", "spout", "communication-1", "communication-2", "communication-3"),
)


def make(index: int, seed: int) -> Instance:
    """Return a topology of the article, then its scaled-down one; the seed plays no part."""
    check_index(NAME, index, 2 * len(SHAPES))
    shape = SHAPES[index % len(SHAPES)]
    bolts = len(shape.components) - 1
    if index < len(SHAPES):
        tasks = shape.tasks or (SPOUT_TASKS, *(BOLT_TASKS,) * bolts)
        return _instance(shape.id, shape, tasks, NODES, NODE_SLOTS)
    tasks = (SMALL_SPOUT, *(SMALL_BOLT,) * bolts)
    nodes = -(-sum(tasks) // SMALL_SLOTS) + 1
    return _instance(f"{shape.id}-small", shape, tasks, nodes, SMALL_SLOTS)


def _instance(
    name: str, shape: Shape, tasks: tuple[int, ...], nodes: int, node_slots: int
) -> Instance:
    need = {SLOTS: Decimal(1), "cpu": Decimal(CPU)}
    offer = {SLOTS: Decimal(node_slots), "cpu": Decimal(node_slots * CPU)}
    components = tuple(
        Component(key, "bolt" if c else "spout", count, need)
        for c, (key, count) in enumerate(zip(shape.components, tasks, strict=True))
    )
    topology = Topology(name, components, tuple(Stream(a, b) for a, b in shape.streams))
    machines = tuple(Node(f"worker-{n}", "rack", resources=offer) for n in range(nodes))
    objective = Objective(("network",))
    return Instance(name, Cluster(machines, EDGE_CUT), (topology,), objective=objective)


def label(index: int, seed: int) -> str | None:
    """Return ``feasible``: there are at least as many slots as tasks."""
    return "feasible"


STROMAX = Family(
    name=NAME,
    description="StroMAX's six topologies on 40 workers x 10 task slots, and scaled-down ones",
    count=2 * len(SHAPES),
    make=make,
    parameters={"nodes": NODES, SLOTS: NODE_SLOTS},
    label=label,
    limited=True,
    note=(
        "The cost is the edge cut over pairs of tasks; the article measures tuple processing times "
        "and bandwidth. Rates of streams are not published, so every pair of tasks counts 1."
    ),
)
