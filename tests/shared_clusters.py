"""Small clusters that several topologies share."""

from __future__ import annotations

from dataclasses import replace

from numpy.random import Generator

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=60.0)
TERMS = (("network",), ("rejected", "network"), ("overload", "network"))


def with_terms(instance: Instance, terms: tuple[str, ...]) -> Instance:
    """Return the instance with other terms: nothing runs, all capacities are hard."""
    cluster = replace(instance.cluster, matrix=None)
    objective = Objective(terms)
    return replace(instance, cluster=cluster, running=None, linear=(), objective=objective)


def tiny_shared(rng: Generator, terms: tuple[str, ...]) -> Instance:
    """Return a tiny instance with two or more topologies, any rule of theirs, and these terms."""
    while True:
        instance = with_terms(tiny_instance(rng), terms)
        problem = compile_problem(instance)
        used = sum(bool(rules.classes) for rules in problem.rules)
        if used > 1 and EXHAUSTIVE.supports(problem) is None:
            return instance


def tight_shared(rng: Generator, terms: tuple[str, ...]) -> Instance:
    """Return two or three chains of tasks on two to four nodes with about as much cpu as needed."""
    topologies = []
    for t in range(int(rng.integers(2, 4))):
        sizes = [int(rng.integers(1, 3)) for _ in range(2)]
        components = tuple(
            Component(f"c{i}", "bolt" if i else "spout", size, {"cpu": int(rng.integers(5, 40))})
            for i, size in enumerate(sizes)
        )
        priority = int(rng.integers(0, 3))
        topologies.append(Topology(f"t{t}", components, (Stream("c0", "c1"),), priority=priority))
    needed = sum(
        int(one.resources["cpu"]) * one.parallelism for t in topologies for one in t.components
    )
    count = int(rng.integers(2, 5))
    each = int(needed * rng.uniform(0.7, 1.4) / count) + 1
    racks = int(rng.integers(1, 3))
    nodes = tuple(
        Node(f"n{i}", f"r{i % racks}", "", int(rng.integers(1, 4)), {"cpu": each})
        for i in range(count)
    )
    return Instance("tight", Cluster(nodes), tuple(topologies), objective=Objective(terms))


def planted(rng: Generator, nodes_in_rack: int = 4) -> Instance:
    """Return topologies cut from two racks of full nodes, so that all fit at their own optimum.

    Every node is cut into two tasks that exchange flow, or holds one task of a pair whose other
    is on another node of the rack.
    """
    topologies: list[Topology] = []

    def pair(first: int, second: int) -> None:
        one = Component("a", "spout", 1, {"cpu": first})
        two = Component("b", "bolt", 1, {"cpu": second})
        name = f"t{len(topologies)}"
        topologies.append(Topology(name, (one, two), (Stream("a", "b"),)))

    for _ in range(2):
        pair(100, 100)
        for _ in range(nodes_in_rack - 2):
            shares = sorted(rng.choice(range(1, 100), size=3, replace=False).tolist())
            pair(shares[0], shares[1] - shares[0])
            pair(shares[2] - shares[1], 100 - shares[2])
    order = rng.permutation(len(topologies)).tolist()
    nodes = tuple(Node(f"n{i}", f"r{i % 2}", "", 4, {"cpu": 100}) for i in range(2 * nodes_in_rack))
    chosen = tuple(topologies[i] for i in order)
    return Instance("planted", Cluster(nodes), chosen, objective=Objective(("rejected", "network")))
