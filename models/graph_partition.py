"""Balanced graph partition: what is to be partitioned, and the judge of a partition.

The vertices of a graph with whole weights go to parts that each hold a limited weight; what counts
is the weight of the edges between parts. `PartitionProblem` states it and defines balance;
`judge_partition` recomputes cut and loads of a partition in whole numbers, without a solver.
`as_instance` says the same as an instance of placement (a vertex is a task, a part a node), so that
every engine, certificate and explanation serves partitions, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

import numpy as np

from slotwise.models.errors import InputError
from slotwise.models.graph_files.vertex_stream import CsrGraph, WeightArray
from slotwise.models.instance.cluster import Cluster, Distance, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.values import Number, exact, whole

# A graph to partition, in whole numbers, and how much a part may weigh.

Edge = tuple[int, int, int]
"""Both ends, the lower one first, and the weight."""

MOST_PARTS = 2**20
MOST_WEIGHT = 2**53
"""Sums of weights up to here are exact in files, too."""


@dataclass(frozen=True, slots=True)
class PartitionProblem:
    """A graph whose vertices go to parts such that the edges between parts weigh least.

    Every vertex is in one part, no part holds more than its capacity; parts may stay empty.

    Parameters
    ----------
    weights
        Of the vertices, whole, 0 or more; at least one vertex.
    edges
        Each pair of vertices once, no loops; weights are whole, 0 or more.
    capacities
        Most weight of each part; at least one part.
    sizes
        Relative sizes of the parts, which only their balance depends on; empty = equal.

    Raises
    ------
    InputError
        When a number breaks these rules, or all weights add up to more than `MOST_WEIGHT`.
    """

    weights: tuple[int, ...]
    edges: tuple[Edge, ...]
    capacities: tuple[int, ...]
    sizes: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        """Check every number."""
        for field, numbers in (("weights", self.weights), ("capacities", self.capacities)):
            if not numbers:
                raise InputError("must not be empty", field=field, has_value=False)
            for index, number in enumerate(numbers):
                whole(number, f"{field}[{index}]")
        if len(self.capacities) > MOST_PARTS:
            rule = f"must be at most {MOST_PARTS}"
            raise InputError(rule, field="parts", value=len(self.capacities))
        if self.sizes and len(self.sizes) != len(self.capacities):
            rule = f"must be {len(self.capacities)} numbers above 0, one a part"
            raise InputError(rule, field="sizes", value=list(self.sizes))
        seen: set[tuple[int, int]] = set()
        for index, (low, high, weight) in enumerate(self.edges):
            whole(weight, f"edges[{index}].weight")
            if not 0 <= low < high < len(self.weights) or (low, high) in seen:
                rule = "must be two vertices, the lower one first, and each pair once"
                raise InputError(rule, field=f"edges[{index}]", value=(low, high))
            seen.add((low, high))
        for field, total in (("weights", self.vertex_weight), ("edges", self.edge_weight)):
            if total > MOST_WEIGHT:
                raise InputError(f"must add up to at most {MOST_WEIGHT}", field=field, value=total)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """What each part weighs in perfect balance."""
        return shares_of(self.vertex_weight, self.sizes or (1,) * len(self.capacities))

    @property
    def vertex_weight(self) -> int:
        """Sum of the vertices' weights."""
        return sum(self.weights)

    @property
    def edge_weight(self) -> int:
        """Sum of the edges' weights."""
        return sum(weight for _, _, weight in self.edges)


def balanced_capacities(total: int, balance: Number, sizes: Sequence[Number]) -> tuple[int, ...]:
    """Return the most weight of each part.

    A part of relative size s has the share ``s / sum(sizes) * total``, and may hold
    ``max(floor(balance * share), ceil(share))``. That is METIS's definition of balance [1] (a part
    over its share is at most ``1 + eps``), save that a share is rounded up where vertices of weight
    1 could not be in better balance; with ``balance = 1`` and equal sizes it is KaHIP's
    ``(1 + eps) ceil(total / k)`` [2], and never above that. The partitioners keep the same
    capacities, so that their cuts are never below the least one.

    Parameters
    ----------
    total
        Weight of all vertices.
    balance
        ``1 + eps``, 1 or more; a float counts as its shortest decimal text (1.1 is 11/10).
    sizes
        Relative sizes of the parts, above 0; equal numbers for equal parts.

    Raises
    ------
    InputError
        When a number is out of range.

    Examples
    --------
    >>> balanced_capacities(10, 1, [1, 1, 1]), balanced_capacities(100, 1.15, [3, 1])
    ((4, 4, 4), (86, 28))

    [1] G. Karypis, METIS 5.1.0, A software package for partitioning unstructured graphs, 2013,
        option ``ufactor``.
    [2] P. Sanders, C. Schulz, KaHIP, Karlsruhe high quality partitioning, user guide, section 2.
    """
    factor = Fraction(exact(balance, "balance"))
    if factor < 1:
        raise InputError("must be 1 or more", field="balance", value=balance)
    shares = shares_of(total, sizes)
    capacity = {share: max(int(factor * share), ceil(share)) for share in set(shares)}
    return tuple(capacity[share] for share in shares)


def shares_of(total: int, sizes: Sequence[Number]) -> tuple[Fraction, ...]:
    """Return what each part of these relative sizes weighs in perfect balance.

    Raises
    ------
    InputError
        When there is no size, or one is not above 0.
    """
    counts = Counter(sizes)
    fraction = {size: Fraction(exact(size, "sizes")) for size in counts}
    if not counts or min(fraction.values()) <= 0:
        raise InputError("must be numbers above 0", field="sizes", value=list(sizes))
    whole_size = sum((fraction[size] * count for size, count in counts.items()), Fraction(0))
    share = {size: total * number / whole_size for size, number in fraction.items()}
    return tuple(share[size] for size in sizes)


def partition_problem(
    graph: CsrGraph, balance: Number, sizes: Sequence[Number]
) -> PartitionProblem:
    """Return the problem of a graph with whole weights; the other arguments as above.

    Raises
    ------
    InputError
        When a weight is not whole, or a number is out of range.
    """
    weights = _whole_weights(graph.weights, "vertex")
    sources = np.repeat(np.arange(len(weights), dtype=np.int32), np.diff(graph.offsets))
    once = sources < graph.neighbours
    edge_weights = _whole_weights(graph.edge_weights[once], "edge")
    ends = (sources[once].tolist(), graph.neighbours[once].tolist())
    return PartitionProblem(
        weights,
        tuple(zip(*ends, edge_weights, strict=True)),
        balanced_capacities(sum(weights), balance, sizes),
        tuple(sizes),
    )


def _whole_weights(weights: WeightArray, of: str) -> tuple[int, ...]:
    broken = weights[weights != np.floor(weights)]
    if len(broken):
        rule = f"is the weight of a{'n' * (of == 'edge')} {of}; weights must be whole for a proof"
        raise InputError(rule, value=float(broken[0]))
    return tuple(int(weight) for weight in weights.tolist())


# A graph to partition as an instance of placement, and placements as partitions.
#
# A vertex is a component of one task that needs its weight in cpu, an edge a stream from its
# lower end whose rate is its weight, a part a node with its capacity in cpu. A tuple between two
# nodes costs 1, on a node nothing: the network cost is the cut. Of more parts than vertices only
# the largest are nodes, as many as there are vertices: a partition that uses another can use one
# of these instead, for it fits there and one of them is free.

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


# The judge of partitions: cut, loads and broken rules, in whole numbers and without a solver.


@dataclass(frozen=True, slots=True)
class PartitionVerdict:
    """What a partition costs, and which rules it breaks.

    Parameters
    ----------
    cut
        Weight of the edges between different parts, each counted once.
    loads
        Vertex weight of each part.
    balance
        The largest load over its share in perfect balance: 1 is perfect, 0 where nothing weighs
        anything. For parts of equal size that is METIS's balance.
    violations
        One line for each broken rule; empty where the partition is valid.
    """

    cut: int
    loads: tuple[int, ...]
    balance: Fraction
    violations: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether every vertex is in one of the parts, and none of these is over its capacity."""
        return not self.violations


def judge_partition(problem: PartitionProblem, part: Sequence[int]) -> PartitionVerdict:
    """Recompute the cut and the loads of a partition, and check every rule.

    Parameters
    ----------
    part
        Of each vertex, the index of its part.

    Raises
    ------
    InputError
        When it has more or fewer entries than the graph has vertices.

    Examples
    --------
    >>> path = PartitionProblem((1, 1, 2), ((0, 1, 5), (1, 2, 3)), (2, 2))
    >>> judge_partition(path, [0, 0, 1])
    PartitionVerdict(cut=3, loads=(2, 2), balance=Fraction(1, 1), violations=())
    >>> judge_partition(path, [0, 1, 1]).violations
    ('part 1 weighs 3, more than 2',)
    """
    count, parts = len(problem.weights), len(problem.capacities)
    if len(part) != count:
        rule = f"must have an entry for each of the {count} vertices"
        raise InputError(rule, field="part", value=f"{len(part)} entries")
    loads = [0] * parts
    violations = []
    for vertex, (own, weight) in enumerate(zip(part, problem.weights, strict=True)):
        if 0 <= own < parts:
            loads[own] += weight
        else:
            violations.append(f"vertex {vertex} is in part {own}, not in 0 to {parts - 1}")
    for own, (load, capacity) in enumerate(zip(loads, problem.capacities, strict=True)):
        if load > capacity:
            violations.append(f"part {own} weighs {load}, more than {capacity}")
    cut = sum(weight for low, high, weight in problem.edges if part[low] != part[high])
    shares = zip(loads, problem.shares, strict=True)
    balance = max(Fraction(load) / share if share else Fraction(0) for load, share in shares)
    return PartitionVerdict(cut, tuple(loads), balance, tuple(violations))
