"""A limit of moves that cannot bind does not keep a problem from becoming one of its workers."""

from __future__ import annotations

from decimal import Decimal

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Status
from slotwise.solver.presolve.single_node import as_one_node
from slotwise.solver.solve import solve


def test_a_limit_of_moves_that_never_binds_is_left_out() -> None:
    heap = {"onheap_mb": Decimal(400)}
    parts = (Component("a", "spout", 2, heap), Component("b", "bolt", 2, heap))
    instance = Instance(
        "moves",
        Cluster((Node("n1", "r1", slots=4, resources={"memory_mb": Decimal(4000)}),)),
        (Topology("t", parts, (Stream("a", "b"),), worker_max_heap_mb=Decimal(800)),),
        running={"t": {"a[0]": Place("n1", 0)}},
        objective=Objective(("network",), limits={"moved": 1}),
    )
    problem = compile_problem(instance)
    assert problem.move_limit == NO_LIMIT
    assert as_one_node(problem, RunToken()) is not None
    assert solve(instance, time_limit_s=20).status is Status.OPTIMAL
