"""Each rule by itself, for every engine that takes it.

Per rule a case in which it costs nothing, one in which it forces a worse optimum (or, where it
costs no flow, another placement), and one in which it leaves nothing. In the last two the rule is
what decides, not the upper bounds of counts: every task fits every node alone. Expected values are
by hand; exhaustive search and the judge, which share no code with the engines, must say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective, Place, Scheduler
from slotwise.models.instance.topology import (
    Ackers,
    Component,
    Constraints,
    SharedMemory,
    Stream,
    Topology,
)

Expected = tuple[int, ...] | None
"""Optimum per term; ``None`` = there is no placement."""

NOTHING: Expected = None

NO_CONSTRAINTS = Constraints()
APART = Constraints((("a", "b"),))


def task(name: str, count: int = 1, **resources: int) -> Component:
    return Component(name, "bolt", count, {r: Decimal(mb) for r, mb in resources.items()})


def pair(
    name: str = "t",
    *,
    spouts: int = 1,
    each: dict[str, int] | None = None,
    heap_mb: int | None = None,
    one_task_per_worker: bool = False,
    shared: SharedMemory | None = None,
    constraints: Constraints = NO_CONSTRAINTS,
) -> Topology:
    """One task a, or more, which sends to one task b."""
    each = each or {}
    return Topology(
        name,
        (Component("a", "spout", spouts, task("a", **each).resources), task("b", **each)),
        (Stream("a", "b"),),
        worker_max_heap_mb=None if heap_mb is None else Decimal(heap_mb),
        one_task_per_worker=one_task_per_worker,
        shared_memory=() if shared is None else (shared,),
        constraints=constraints,
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


def slots_of_kept_apart(count: int, nodes: int) -> Instance:
    return instance(pair(constraints=APART), slots=count, nodes=nodes)


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


def isolated(rule: str, spouts: int, slot_count: int, gpu: int = 3, nodes: int = 1) -> Instance:
    """Return tasks of a and b that share no worker by a rule of their topology."""
    topology = replace(pair(spouts=spouts, each={"gpu": 1}), **{rule: True})
    return instance(topology, nodes=nodes, slots=slot_count, gpu=gpu)


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


def spouts_apart(spouts: int, slot_count: int) -> Instance:
    rule = Constraints((("a", "a"),))
    return instance(pair(spouts=spouts, constraints=rule), nodes=1, slots=slot_count)


def max_per_node(most: int, nodes: int) -> Instance:
    """The two tasks of a differ by their linear cost, so that no class alone exceeds the limit."""
    topology = Topology("t", (task("a", 2),), constraints=Constraints((), {"a": most}))
    costs = (LinearCost("a[0]", "n0", Decimal(1)),)
    return instance(topology, nodes=nodes, terms=("nodes", "linear"), linear=costs)


def spouts_per_node(most: int, nodes: int) -> Instance:
    return instance(pair(spouts=2, constraints=Constraints((), {"a": most})), nodes=nodes)


def region(kind: str, memory_mb: int, nodes: int, **rules: Any) -> Instance:
    shared = SharedMemory("cache", kind, Decimal(40), ("a", "b"))
    topology = pair(each={"offheap_mb": 30}, shared=shared, **rules)
    return instance(topology, nodes=nodes, memory_mb=memory_mb)


region_per_node = partial(region, "offheap_node")
region_per_worker = partial(region, "offheap_worker")


def worker_min_cpu(cpu: int, nodes: int, each: int = 10, **rules: Any) -> Instance:
    topology = replace(pair(each={"cpu": each}), **(rules or {"one_task_per_worker": True}))
    return instance(topology, nodes=nodes, cpu=cpu, worker_min_cpu=50)


def worker_min_cpu_by_heap(cpu: int, nodes: int) -> Instance:
    """The heap of a worker holds one task."""
    topology = pair(each={"cpu": 10, "onheap_mb": 60}, heap_mb=100)
    return instance(topology, nodes=nodes, cpu=cpu, memory_mb=1000, worker_min_cpu=50)


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


def ackers(gpu: int, nodes: int, count: int = 1, each: int = 1) -> Instance:
    acked = replace(pair(each={"gpu": 1}), ackers=Ackers(count, resources={"gpu": Decimal(each)}))
    return instance(acked, gpu=gpu, nodes=nodes)


def two_topologies(slot_count: int, nodes: int) -> Instance:
    return instance(pair("t"), pair("u"), slots=slot_count, nodes=nodes)


def two_heap_limits(of_u: int, slot_count: int) -> Instance:
    t, u = (pair(t, each={"onheap_mb": 60}, heap_mb=mb) for t, mb in (("t", 120), ("u", of_u)))
    return instance(t, u, nodes=1, slots=slot_count, memory_mb=1000)


def one_task_beside(other: Topology, slot_count: int) -> Instance:
    """Return topology t and another with one task per worker."""
    return instance(pair(), replace(other, one_task_per_worker=True), nodes=1, slots=slot_count)


def worker_min_cpu_of_two(cpu: int, nodes: int) -> Instance:
    topologies = (pair(name, each={"cpu": 10}) for name in "tu")
    return instance(*topologies, nodes=nodes, cpu=cpu, worker_min_cpu=50)


def competition(gpu: int) -> Instance:
    """Two nodes for three topologies, which need 2 gpu each."""
    return instance(*(pair(name, each={"gpu": 1}) for name in "tuv"), gpu=gpu)


def whole_topologies(gpu: int) -> Instance:
    """Topology t needs 2 gpu, u needs 1; each is placed whole or not at all."""
    alone = Topology("u", (task("a", 1, gpu=1),))
    both = pair(each={"gpu": 1})
    return instance(both, alone, nodes=1, gpu=gpu, terms=("rejected", "network"))


Case = tuple[Callable[[], Instance], Expected]


@dataclass(frozen=True, slots=True)
class Row:
    """Three cases of a rule.

    Soft resources and topologies that may be left out always leave something: the worst.

    Parameters
    ----------
    rule
        Its name in `slotwise.testing.checks.scope`.
    trivial, forced, infeasible
        It costs nothing, forces another optimum, leaves nothing.
    """

    rule: str
    trivial: Case
    forced: Case
    infeasible: Case


CASES: dict[str, Row] = {
    "capacity": Row(
        "capacity",
        (lambda: capacity(2, 2), (0,)),
        (lambda: capacity(1, 2), (2,)),
        (lambda: capacity(1, 1), NOTHING),
    ),
    "slots": Row(
        "slots",
        (lambda: slots(2, 2), (1,)),
        (lambda: slots(1, 2), (2,)),
        (lambda: slots(1, 1), NOTHING),
    ),
    "slots of workers kept apart": Row(
        "slots",
        (lambda: slots_of_kept_apart(2, 2), (1,)),
        (lambda: slots_of_kept_apart(1, 2), (2,)),
        (lambda: slots_of_kept_apart(1, 1), NOTHING),
    ),
    "heap": Row(
        "heap",
        (lambda: heap(50, 1), (0,)),
        (lambda: heap(60, None), (1,)),
        (lambda: heap(60, 1), NOTHING),
    ),
    "shared heap": Row(
        "shared_memory",
        (lambda: shared_heap(20, 1), (0,)),
        (lambda: shared_heap(30, None), (1,)),
        (lambda: shared_heap(30, 1), NOTHING),
    ),
    "one task per worker": Row(
        "one_task_per_worker",
        (lambda: one_task(1, 1), (1,)),
        (lambda: one_task(2, 2), (2,)),
        (lambda: one_task(2, 1), NOTHING),
    ),
    "one component per worker": Row(
        "one_component_per_worker",
        (lambda: one_component(1, 1), (1,)),
        (lambda: one_component(2, 2), (2,)),
        (lambda: one_component(2, 1), NOTHING),
    ),
    "one task per worker, with flow": Row(
        "one_task_per_worker",
        (lambda: isolated("one_task_per_worker", 1, 1, gpu=1, nodes=2), (2,)),
        (lambda: isolated("one_task_per_worker", 2, 3), (2,)),
        (lambda: isolated("one_task_per_worker", 2, 2), NOTHING),
    ),
    "one component per worker, with flow": Row(
        "one_component_per_worker",
        (lambda: isolated("one_component_per_worker", 1, 1, gpu=1, nodes=2), (2,)),
        (lambda: isolated("one_component_per_worker", 2, 2), (2,)),
        (lambda: isolated("one_component_per_worker", 2, 1), NOTHING),
    ),
    "incompatible components": Row(
        "incompatible",
        (lambda: incompatible("c", 2), (0,)),
        (lambda: incompatible("a", 2), (1,)),
        (lambda: incompatible("a", 1), NOTHING),
    ),
    "incompatible with itself": Row(
        "incompatible",
        (lambda: incompatible_with_itself(1, 1), (1,)),
        (lambda: incompatible_with_itself(2, 2), (2,)),
        (lambda: incompatible_with_itself(2, 1), NOTHING),
    ),
    "spouts incompatible with each other": Row(
        "incompatible",
        (lambda: spouts_apart(1, 1), (0,)),
        (lambda: spouts_apart(2, 2), (1,)),
        (lambda: spouts_apart(2, 1), NOTHING),
    ),
    "tasks of a component per node": Row(
        "max_per_node",
        (lambda: max_per_node(2, 2), (1, 0)),
        (lambda: max_per_node(1, 2), (2, 0)),
        (lambda: max_per_node(1, 1), NOTHING),
    ),
    "spouts per node": Row(
        "max_per_node",
        (lambda: spouts_per_node(2, 2), (0,)),
        (lambda: spouts_per_node(1, 2), (2,)),
        (lambda: spouts_per_node(1, 1), NOTHING),
    ),
    "shared memory per node": Row(
        "shared_memory",
        (lambda: region_per_node(100, 2, one_task_per_worker=True), (1,)),
        (lambda: region_per_node(99, 2, one_task_per_worker=True), (2,)),
        (lambda: region_per_node(99, 1, one_task_per_worker=True), NOTHING),
    ),
    "shared memory per node, tasks together": Row(
        "shared_memory",
        (lambda: region_per_node(100, 2), (0,)),
        (lambda: region_per_node(99, 2), (2,)),
        (lambda: region_per_node(99, 1), NOTHING),
    ),
    "shared memory per worker": Row(
        "shared_memory",
        (lambda: region_per_worker(140, 2, one_task_per_worker=True), (1,)),
        (lambda: region_per_worker(139, 2, one_task_per_worker=True), (2,)),
        (lambda: region_per_worker(139, 1, one_task_per_worker=True), NOTHING),
    ),
    "shared memory per worker kept apart": Row(
        "shared_memory",
        (lambda: region_per_worker(140, 2, constraints=APART), (1,)),
        (lambda: region_per_worker(139, 2, constraints=APART), (2,)),
        (lambda: region_per_worker(139, 1, constraints=APART), NOTHING),
    ),
    "shared memory per worker, tasks together": Row(
        "shared_memory",
        (lambda: region_per_worker(100, 2), (0,)),
        (lambda: region_per_worker(99, 2), (2,)),
        (lambda: region_per_worker(99, 1), NOTHING),
    ),
    "minimum cpu of a worker": Row(
        "worker_min_cpu",
        (lambda: worker_min_cpu(100, 2), (1,)),
        (lambda: worker_min_cpu(99, 2), (2,)),
        (lambda: worker_min_cpu(99, 1), NOTHING),
    ),
    "cpu of a worker above the minimum": Row(
        "capacity",
        (lambda: worker_min_cpu(120, 2, each=60), (1,)),
        (lambda: worker_min_cpu(119, 2, each=60), (2,)),
        (lambda: worker_min_cpu(119, 1, each=60), NOTHING),
    ),
    "minimum cpu of a worker kept apart": Row(
        "worker_min_cpu",
        (lambda: worker_min_cpu(100, 2, constraints=APART), (1,)),
        (lambda: worker_min_cpu(99, 2, constraints=APART), (2,)),
        (lambda: worker_min_cpu(99, 1, constraints=APART), NOTHING),
    ),
    "minimum cpu of a worker split by heap": Row(
        "worker_min_cpu",
        (lambda: worker_min_cpu_by_heap(100, 2), (1,)),
        (lambda: worker_min_cpu_by_heap(99, 2), (2,)),
        (lambda: worker_min_cpu_by_heap(99, 1), NOTHING),
    ),
    "ackers": Row(
        "ackers",
        (lambda: ackers(3, 1), (0,)),
        (lambda: ackers(2, 2), (0,)),
        (lambda: ackers(2, 1), NOTHING),
    ),
    "ackers that part a topology": Row(
        "ackers",
        (lambda: ackers(3, 2, count=1, each=2), (0,)),
        (lambda: ackers(3, 2, count=2, each=2), (2,)),
        (lambda: ackers(3, 2, count=3, each=2), NOTHING),
    ),
    "one topology per worker": Row(
        "one_topology_per_worker",
        (lambda: two_topologies(2, 1), (0,)),
        (lambda: two_topologies(1, 2), (0,)),
        (lambda: two_topologies(1, 1), NOTHING),
    ),
    "one topology with a task per worker": Row(
        "one_task_per_worker",
        (lambda: one_task_beside(Topology("u", (task("a"),)), 2), (0,)),
        (lambda: one_task_beside(pair("u"), 3), (1,)),
        (lambda: one_task_beside(pair("u"), 2), NOTHING),
    ),
    "heap of each topology": Row(
        "heap",
        (lambda: two_heap_limits(120, 2), (0,)),
        (lambda: two_heap_limits(100, 3), (1,)),
        (lambda: two_heap_limits(100, 2), NOTHING),
    ),
    "minimum cpu of each topology": Row(
        "worker_min_cpu",
        (lambda: worker_min_cpu_of_two(100, 1), (0,)),
        (lambda: worker_min_cpu_of_two(99, 2), (0,)),
        (lambda: worker_min_cpu_of_two(99, 1), NOTHING),
    ),
    "topologies that compete": Row(
        "one_topology_per_worker",
        (lambda: competition(4), (0,)),
        (lambda: competition(3), (2,)),
        (lambda: competition(2), NOTHING),
    ),
    "moves": Row(
        "max_moved",
        (lambda: move_limit(2, (0, 1)), (0, 1)),
        (lambda: move_limit(0, (0, 1)), (2, 0)),
        (lambda: move_limit(0, (0, 0), gpu=1), NOTHING),
    ),
    "overload": Row(
        "soft",
        (lambda: overload(20, 2), (0, 0)),
        (lambda: overload(10, 2), (0, 2)),
        (lambda: overload(10, 1), (10, 0)),
    ),
    "whole topologies": Row(
        "rejected",
        (lambda: whole_topologies(3), (0, 0)),
        (lambda: whole_topologies(2), (1, 0)),
        (lambda: whole_topologies(0), (2, 0)),
    ),
}
"""What each is about -> its cases."""

KINDS = ("trivial", "forced", "infeasible")
