"""A graph to partition as an instance of placement, and placements as partitions.

A vertex is a component of one task that needs its weight in cpu, an edge a stream from its lower
end whose rate is its weight, a part a node with its capacity in cpu. A tuple between two nodes
costs 1, on a node nothing: the network cost is the cut. Of more parts than vertices only the
largest are nodes, as many as there are vertices: a partition that uses another can use one of
these instead, for it fits there and one of them is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from slotwise.models.graph_partition.problem import PartitionProblem
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import Component, Stream, Topology

EDGE_CUT = Distance(Decimal(0), Decimal(0), Decimal(1), Decimal(1))
TOPOLOGY = "graph"


def parts_in_use(problem: PartitionProblem) -> tuple[int, ...]:
    """Return the parts that are nodes, in ascending order: the largest, at most one a vertex."""
    sizes = problem.capacities
    by_size = sorted(range(len(sizes)), key=lambda p: (-sizes[p], p))
    return tuple(sorted(by_size[: len(problem.weights)]))


def instance_of(problem: PartitionProblem, name: str = "partition") -> Instance:
    """Return the instance of placement whose network cost is the cut.

    Parameters
    ----------
    name
        Of the instance, for people.
    """
    # Streams lead from lower to higher vertices: no cycles, and those without inputs are spouts.
    edges = [edge for edge in problem.edges if edge[2]]
    fed = {high for _, high, _ in edges}
    components = tuple(
        Component(f"v{v}", "bolt" if v in fed else "spout", 1, {"cpu": Decimal(weight)})
        for v, weight in enumerate(problem.weights)
    )
    streams = tuple(Stream(f"v{a}", f"v{b}", rate=Decimal(weight)) for a, b, weight in edges)
    nodes = tuple(
        Node(f"part-{p}", "rack", resources={"cpu": Decimal(problem.capacities[p])})
        for p in parts_in_use(problem)
    )
    return Instance(
        name,
        Cluster(nodes, EDGE_CUT),
        (Topology(TOPOLOGY, components, streams),),
        objective=Objective(("network",)),
        flow="rates",
    )


def part_of(problem: PartitionProblem, placement: Placement) -> tuple[int, ...]:
    """Return the part of each vertex in a placement of `instance_of` the problem."""
    parts = parts_in_use(problem)
    return tuple(parts[node] for node in placement.nodes)


def placement_of(problem: PartitionProblem, part: Sequence[int]) -> Placement:
    """Return the placement of a partition, which need not be valid.

    A part that is not a node gives way to a free one, which is as large or larger.
    """
    nodes = parts_in_use(problem)
    node = {p: n for n, p in enumerate(nodes)}
    used = set(part) & set(range(len(problem.capacities)))
    free = (n for p, n in node.items() if p not in used)
    node |= {p: next(free) for p in sorted(used - set(nodes))}
    return Placement(
        tuple(node.get(own, UNPLACED) for own in part),
        tuple(0 if own in node else UNPLACED for own in part),
    )
