"""A plain shortage on many nodes: found by counting, repaired by nodes that are added."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import slotwise
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.judge.judge import judge
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.explain.change import ADD_NODES
from slotwise.solver.explain.constraint import constraints_of
from slotwise.solver.explain.elastic import ElasticModel
from slotwise.solver.explain.explanation import Cause, Repair
from slotwise.solver.explain.levers import Lever, levers


def short_of_cpu() -> Instance:
    """Return 60 tasks that need 1510 points of cpu on ten nodes with 1300."""
    cpu = [100, 100, 150, 100, 150, 150, 100, 150, 150, 150]
    nodes = tuple(
        Node(
            f"n{n}", f"r{n % 3}", slots=4,
            resources={"cpu": Decimal(have), "memory_mb": Decimal(4000)},
        )
        for n, have in enumerate(cpu)
    )  # fmt: skip

    def topology(name: str, first: int) -> Topology:
        sizes = {"a": {"cpu": Decimal(first)}, "b": {"cpu": Decimal(22)}}
        parts = (
            Component("a", "spout", 10, {**sizes["a"], "onheap_mb": Decimal(100)}),
            Component("b", "bolt", 10, {**sizes["b"], "onheap_mb": Decimal(150)}),
        )
        return Topology(name, parts)

    topologies = (topology("t0", 30), topology("t1", 30), topology("t2", 25))
    return Instance("ten", Cluster(nodes), topologies)


def more_nodes(instance: Instance, like: str) -> Lever:
    """Return the lever that adds nodes like one."""
    every = levers(instance, constraints_of(instance))
    return next(one for one in every if one.base.kind == ADD_NODES and one.base.nodes == (like,))


def least_of(instance: Instance, lever: Lever) -> Repair:
    """Return the least amount of a lever that suffices, by the elastic model."""
    model = ElasticModel(instance, [lever], lambda change: Fraction(change.amount), RunToken())
    answer = model.cheapest(Limits(time_s=60.0))
    assert answer.repair is not None
    return answer.repair


def test_a_shortage_is_explained_without_a_search_for_a_placement() -> None:
    answer = slotwise.explain(short_of_cpu(), time_limit_s=10)
    assert answer.result is None
    assert answer.status is Status.INFEASIBLE
    assert answer.infeasible.conflicts[0].cause is Cause.SHORTAGE
    assert answer.infeasible.repairs


def test_the_least_number_of_nodes_to_add() -> None:
    instance = short_of_cpu()
    for like, least in (("n2", 2), ("n0", 3)):
        found = least_of(instance, more_nodes(instance, like))
        assert found.least
        assert found.changes[0].amount == least, "one less is short by counting"
        assert judge(found.instance, found.placement).valid
