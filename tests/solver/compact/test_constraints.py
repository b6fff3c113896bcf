"""Each hard rule of the compact model by itself, in both back ends.

Per rule a case in which it costs nothing, one in which it forces a worse optimum, and one in which
it leaves nothing. In the last two the rule is what decides, not the upper bounds of counts:
every task fits every node alone. Expected values are by hand; exhaustive search and the judge,
which share no code with the model, must say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective, Place, Scheduler
from slotwise.models.instance.topology import (
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.compact.milp.engine import MILP
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.exhaustive import EXHAUSTIVE

LIMITS = Limits(time_s=60.0, workers=1, seed=0)

Expected = tuple[int, ...] | None
"""Optimum per term; ``None`` = there is no placement."""

NOTHING: Expected = None


def task(name: str, count: int = 1, **resources: int) -> Component:
    return Component(name, "bolt", count, {r: Decimal(mb) for r, mb in resources.items()})


def pair(
    *,
    each: dict[str, int] | None = None,
    heap_mb: int | None = None,
    one_task_per_worker: bool = False,
    shared: SharedMemory | None = None,
) -> Topology:
    """One task a, which sends to one task b."""
    each = each or {}
    return Topology(
        "t",
        (Component("a", "spout", 1, task("a", **each).resources), task("b", **each)),
        (Stream("a", "b"),),
        worker_max_heap_mb=None if heap_mb is None else Decimal(heap_mb),
        one_task_per_worker=one_task_per_worker,
        shared_memory=() if shared is None else (shared,),
    )


def instance(
    *topologies: Topology,
    nodes: int = 2,
    slots: int | None = None,
    terms: tuple[str, ...] = ("network",),
    worker_min_cpu: int = 0,
    soft: dict[str, int] | None = None,
    linear: tuple[LinearCost, ...] = (),
    **resources: int,
) -> Instance:
    """Place topologies on equal nodes n0, n1, ... of one rack: apart 2, in two workers 1."""
    offered = {r: Decimal(much) for r, much in resources.items()}
    cluster = Cluster(tuple(Node(f"n{n}", "r", "", slots, offered) for n in range(nodes)))
    return Instance(
        "rule",
        cluster,
        topologies,
        scheduler=Scheduler(worker_min_cpu=Decimal(worker_min_cpu)),
        objective=Objective(terms, soft or {}),
        linear=linear,
    )


def capacity(gpu: int, nodes: int) -> Instance:
    return instance(pair(each={"gpu": 1}), gpu=gpu, nodes=nodes)


def slots(count: int, nodes: int) -> Instance:
    alone = [Topology(t, (task("a"),)) for t in ("t", "u")]
    return instance(*alone, slots=count, nodes=nodes, terms=("nodes",))


def heap(onheap_mb: int, slot_count: int | None) -> Instance:
    topology = pair(each={"onheap_mb": onheap_mb}, heap_mb=100)
    return instance(topology, nodes=1, slots=slot_count, memory_mb=1000)


def shared_heap(mb: int, slot_count: int | None) -> Instance:
    region = SharedMemory("cache", "onheap", Decimal(mb), ("a", "b"))
    topology = pair(each={"onheap_mb": 40}, heap_mb=100, shared=region)
    return instance(topology, nodes=1, slots=slot_count, memory_mb=1000)


def one_task(tasks: int, slot_count: int | None) -> Instance:
    topology = Topology("t", (task("a", tasks),), one_task_per_worker=True)
    return instance(topology, nodes=1, slots=slot_count, terms=("workers",))


def one_component(components: int, slot_count: int | None) -> Instance:
    parts = tuple(task(name, 2) for name in "ab"[:components])
    topology = Topology("t", parts, one_component_per_worker=True)
    return instance(topology, nodes=1, slots=slot_count, terms=("workers",))


def incompatible(with_b: str, slot_count: int | None) -> Instance:
    plain = pair()
    topology = replace(
        plain,
        components=(*plain.components, task("c")),
        constraints=Constraints(((with_b, "b"),)),
    )
    return instance(topology, nodes=1, slots=slot_count)


def incompatible_with_itself(tasks: int, slot_count: int | None) -> Instance:
    rule = Constraints((("a", "a"),))
    topology = Topology("t", (task("a", tasks),), constraints=rule)
    return instance(topology, nodes=1, slots=slot_count, terms=("workers",))


def max_per_node(most: int, nodes: int) -> Instance:
    """The two tasks of a differ by their linear cost, so that no class alone exceeds the limit."""
    topology = Topology("t", (task("a", 2),), constraints=Constraints((), {"a": most}))
    costs = (LinearCost("a[0]", "n0", Decimal(1)),)
    return instance(topology, nodes=nodes, terms=("nodes", "linear"), linear=costs)


def region_per_node(memory_mb: int, nodes: int) -> Instance:
    region = SharedMemory("cache", "offheap_node", Decimal(40), ("a", "b"))
    topology = pair(each={"offheap_mb": 30}, shared=region, one_task_per_worker=True)
    return instance(topology, nodes=nodes, memory_mb=memory_mb)


def region_per_worker(memory_mb: int, nodes: int) -> Instance:
    region = SharedMemory("cache", "offheap_worker", Decimal(40), ("a", "b"))
    topology = pair(each={"offheap_mb": 30}, shared=region, one_task_per_worker=True)
    return instance(topology, nodes=nodes, memory_mb=memory_mb)


def worker_min_cpu(cpu: int, nodes: int, each: int = 10) -> Instance:
    topology = pair(each={"cpu": each}, one_task_per_worker=True)
    return instance(topology, nodes=nodes, cpu=cpu, worker_min_cpu=50)


def move_limit(most: int, homes: tuple[int, int], gpu: int = 2) -> Instance:
    """a and b run on the nodes `homes`; together they are cheaper."""
    running = {"t": {f"{c}[0]": Place(f"n{n}", 0) for c, n in zip("ab", homes, strict=True)}}
    return replace(
        instance(pair(each={"gpu": 1}), gpu=gpu),
        running=running,
        objective=Objective(("network", "moved"), {}, {"moved": most}),
    )


def overload(cpu: int, nodes: int) -> Instance:
    topology = pair(each={"cpu": 10})
    return instance(topology, nodes=nodes, cpu=cpu, terms=("overload", "network"), soft={"cpu": 1})


def whole_topologies(gpu: int) -> Instance:
    """Topology t needs 2 gpu, u needs 1; each is placed whole or not at all."""
    alone = Topology("u", (task("a", 1, gpu=1),))
    both = pair(each={"gpu": 1})
    return instance(both, alone, nodes=1, gpu=gpu, terms=("rejected", "network"))


CASES: dict[str, tuple[tuple[Callable[[], Instance], Expected], ...]] = {
    "capacity": (
        (lambda: capacity(2, 2), (0,)),
        (lambda: capacity(1, 2), (2,)),
        (lambda: capacity(1, 1), NOTHING),
    ),
    "slots": (
        (lambda: slots(2, 2), (1,)),
        (lambda: slots(1, 2), (2,)),
        (lambda: slots(1, 1), NOTHING),
    ),
    "heap": (
        (lambda: heap(50, 1), (0,)),
        (lambda: heap(60, None), (1,)),
        (lambda: heap(60, 1), NOTHING),
    ),
    "shared heap": (
        (lambda: shared_heap(20, 1), (0,)),
        (lambda: shared_heap(30, None), (1,)),
        (lambda: shared_heap(30, 1), NOTHING),
    ),
    "one task per worker": (
        (lambda: one_task(1, 1), (1,)),
        (lambda: one_task(2, 2), (2,)),
        (lambda: one_task(2, 1), NOTHING),
    ),
    "one component per worker": (
        (lambda: one_component(1, 1), (1,)),
        (lambda: one_component(2, 2), (2,)),
        (lambda: one_component(2, 1), NOTHING),
    ),
    "incompatible components": (
        (lambda: incompatible("c", 2), (0,)),
        (lambda: incompatible("a", 2), (1,)),
        (lambda: incompatible("a", 1), NOTHING),
    ),
    "incompatible with itself": (
        (lambda: incompatible_with_itself(1, 1), (1,)),
        (lambda: incompatible_with_itself(2, 2), (2,)),
        (lambda: incompatible_with_itself(2, 1), NOTHING),
    ),
    "tasks of a component per node": (
        (lambda: max_per_node(2, 2), (1, 0)),
        (lambda: max_per_node(1, 2), (2, 0)),
        (lambda: max_per_node(1, 1), NOTHING),
    ),
    "shared memory per node": (
        (lambda: region_per_node(100, 2), (1,)),
        (lambda: region_per_node(99, 2), (2,)),
        (lambda: region_per_node(99, 1), NOTHING),
    ),
    "shared memory per worker": (
        (lambda: region_per_worker(140, 2), (1,)),
        (lambda: region_per_worker(139, 2), (2,)),
        (lambda: region_per_worker(139, 1), NOTHING),
    ),
    "minimum cpu of a worker": (
        (lambda: worker_min_cpu(100, 2), (1,)),
        (lambda: worker_min_cpu(99, 2), (2,)),
        (lambda: worker_min_cpu(99, 1), NOTHING),
    ),
    "cpu of a worker above the minimum": (
        (lambda: worker_min_cpu(120, 2, each=60), (1,)),
        (lambda: worker_min_cpu(119, 2, each=60), (2,)),
        (lambda: worker_min_cpu(119, 1, each=60), NOTHING),
    ),
    "moves": (
        (lambda: move_limit(2, (0, 1)), (0, 1)),
        (lambda: move_limit(0, (0, 1)), (2, 0)),
        (lambda: move_limit(0, (0, 0), gpu=1), NOTHING),
    ),
    "overload": (
        (lambda: overload(20, 2), (0, 0)),
        (lambda: overload(10, 2), (0, 2)),
        (lambda: overload(10, 1), (10, 0)),
    ),
    "whole topologies": (
        (lambda: whole_topologies(3), (0, 0)),
        (lambda: whole_topologies(2), (1, 0)),
        (lambda: whole_topologies(0), (2, 0)),
    ),
}
"""Rule -> case in which it costs nothing, forces a worse optimum, leaves nothing.

Soft resources and topologies that may be left out always leave something: the worst.
"""

KINDS = ("trivial", "forced", "infeasible")


@pytest.mark.parametrize("engine", [CP_SAT, MILP], ids=lambda engine: engine.name)
@pytest.mark.parametrize("kind", range(3), ids=KINDS)
@pytest.mark.parametrize("rule", CASES)
def test_rule(rule: str, kind: int, engine: Engine) -> None:
    make, expected = CASES[rule][kind]
    problem = compile_problem(make())
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    assert truth.values == expected
    answer = engine.run(problem, LIMITS, None)
    if expected is None:
        assert answer.status is truth.status is Status.INFEASIBLE
        return
    assert answer.status is truth.status is Status.OPTIMAL
    assert answer.values == answer.bounds == expected
    assert answer.placement is not None
    assert judge(problem, answer.placement).violations == ()
