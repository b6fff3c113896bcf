"""Cases of ``capacity``: the load of a hard resource is at most the node's capacity."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Any

from hypothesis import strategies as st

from slotwise.models.instance.instance import Objective
from slotwise.models.instance.topology import Ackers, SharedMemory
from slotwise.testing.validators.case import (
    FINEST,
    INEXACT,
    LEFT_OUT,
    STEPS,
    Scene,
    SubCase,
    amount,
    amounts,
    component,
    components,
    labels,
    node,
    scene,
    topology,
)


def _offer(resource: str, amount: Decimal) -> dict[str, Any]:
    return {resource: amount}


def _limit(total: Decimal, step: Decimal, broken: bool) -> Decimal:
    """Return the capacity that a load of `total` just keeps, or breaks by one step."""
    return total - step if broken else total


def _several_tasks(draw: st.DrawFn, broken: bool, *, resource: str, key: str) -> Scene:
    # Tasks of one demand each, of `key`, on a node with a capacity of `resource`.
    step = draw(st.sampled_from(STEPS))
    needs = amounts(draw, step, draw(st.integers(1, 3)))
    here = node(**_offer(resource, _limit(sum(needs, Decimal(0)), step, broken)))
    own = topology(*components({key: need} for need in needs))
    return scene(draw, [here], [own], labels(draw, len(needs)))


def _parallelism(draw: st.DrawFn, broken: bool) -> Scene:
    step = draw(st.sampled_from(STEPS))
    need, count = amount(draw, step), draw(st.integers(2, 3))
    here = node(cpu=_limit(need * count, step, broken))
    return scene(draw, [here], [topology(component("a", count, cpu=need))], labels(draw, count))


def _decimals(draw: st.DrawFn, broken: bool) -> Scene:
    # Sums that doubles get wrong, and a millionth too much.
    needs = [Decimal(text) for text in draw(st.sampled_from(INEXACT))]
    key, resource = draw(st.sampled_from((("cpu", "cpu"), ("onheap_mb", "memory_mb"))))
    here = node(**_offer(resource, _limit(sum(needs, Decimal(0)), FINEST, broken)))
    own = topology(*components({key: need} for need in needs))
    return scene(draw, [here], [own], labels(draw, len(needs)))


def _each_node(draw: st.DrawFn, broken: bool) -> Scene:
    # Two full nodes; what one of them has too little, the other has too much.
    step = draw(st.sampled_from(STEPS))
    first, second = amounts(draw, step, 2)
    spare = step if broken else Decimal(0)
    nodes = [node("n0", cpu=first - spare), node("n1", cpu=second + spare)]
    own = topology(*components(({"cpu": first}, {"cpu": second})))
    return scene(draw, nodes, [own], [("n0", 0), ("n1", 0)])


def _not_offered(draw: st.DrawFn, broken: bool) -> Scene:
    # A resource that a node does not name, or names as 0, is not offered.
    step = draw(st.sampled_from(STEPS))
    named = _offer("gpu", Decimal(0)) if draw(st.booleans()) else {}
    own = topology(component("a", gpu=step if broken else Decimal(0)), component("b"))
    return scene(draw, [node(**named)], [own], labels(draw, 2))


def _no_limit(draw: st.DrawFn, broken: bool) -> Scene:
    # ``null`` is no limit, however large the load; memory is limited beside it.
    step = draw(st.sampled_from(STEPS))
    need = amount(draw, step)
    huge = Decimal(10) ** draw(st.sampled_from((0, 3, 9)))
    here = node(cpu=None, memory_mb=_limit(need, step, broken))
    return scene(draw, [here], [topology(component("a", cpu=huge, onheap_mb=need))], [("n0", 0)])


def _soft(draw: st.DrawFn, broken: bool) -> Scene:
    # A soft resource may be overloaded, a hard one may not.
    step = draw(st.sampled_from(STEPS))
    need, over = amounts(draw, step, 2)
    here = node(cpu=need, memory_mb=_limit(need, step, broken))
    own = topology(component("a", cpu=need + over, onheap_mb=need))
    return scene(draw, [here], [own], [("n0", 0)], objective=Objective(soft={"cpu": 1}))


def _two_topologies(draw: st.DrawFn, broken: bool) -> Scene:
    step = draw(st.sampled_from(STEPS))
    first, second = amounts(draw, step, 2)
    both = [topology(component("a", cpu=first)), topology(component("a", cpu=second), key="u")]
    here = node(cpu=_limit(first + second, step, broken))
    return scene(draw, [here], both, [("n0", 0), ("n0", 1)])


def _ackers(draw: st.DrawFn, broken: bool) -> Scene:
    step = draw(st.sampled_from(STEPS))
    need, each = amounts(draw, step, 2)
    count = draw(st.integers(1, 2))
    own = topology(component("a", cpu=need), ackers=Ackers(count, resources={"cpu": each}))
    here = node(cpu=_limit(need + count * each, step, broken))
    return scene(draw, [here], [own], labels(draw, 1 + count))


def _least_of_a_worker(draw: st.DrawFn, broken: bool) -> Scene:
    # A worker counts at least this much cpu, and more where its tasks need more.
    step = draw(st.sampled_from(STEPS))
    least, *needs = amounts(draw, step, 3)
    apart = draw(st.booleans())
    loads = needs if apart else [sum(needs, Decimal(0))]
    total = sum((max(load, least) for load in loads), Decimal(0))
    own = topology(*components({"cpu": need} for need in needs))
    spots = [("n0", 0), ("n0", int(apart))]
    here = node(cpu=_limit(total, step, broken))
    return scene(draw, [here], [own], spots, worker_min_cpu=least)


def _idle_workers(draw: st.DrawFn, broken: bool) -> Scene:
    # Tasks that need no cpu: each worker counts the least of one.
    step = draw(st.sampled_from(STEPS))
    least, count = amount(draw, step), draw(st.integers(1, 3))
    here = node(cpu=_limit(count * least, step, broken))
    spots = [("n0", label) for label in range(count)]
    return scene(draw, [here], [topology(component("a", count))], spots, worker_min_cpu=least)


def _left_out(draw: st.DrawFn, broken: bool) -> Scene:
    # A topology that is left out loads nothing.
    step = draw(st.sampled_from(STEPS))
    need, out = amounts(draw, step, 2)
    both = [topology(component("a", cpu=need)), topology(component("a", cpu=out), key="u")]
    here = node(cpu=_limit(need, step, broken))
    return scene(draw, [here], both, [("n0", 0), None], objective=LEFT_OUT)


CAPACITY = tuple(
    SubCase("capacity", name, build)
    for name, build in (
        ("cpu", partial(_several_tasks, resource="cpu", key="cpu")),
        ("memory", partial(_several_tasks, resource="memory_mb", key="onheap_mb")),
        ("off-heap memory", partial(_several_tasks, resource="memory_mb", key="offheap_mb")),
        ("another resource", partial(_several_tasks, resource="gpu", key="gpu")),
        ("tasks of one component", _parallelism),
        ("decimals", _decimals),
        ("each node by itself", _each_node),
        ("a resource not offered", _not_offered),
        ("null is no limit", _no_limit),
        ("a soft resource beside a hard one", _soft),
        ("two topologies", _two_topologies),
        ("ackers", _ackers),
        ("minimum cpu of a worker", _least_of_a_worker),
        ("minimum cpu of workers without demand", _idle_workers),
        ("a topology left out", _left_out),
    )
)


# Cases of ``heap``: the on-heap memory of a worker is at most its topology's limit.


def _several_heaps(draw: st.DrawFn, broken: bool) -> Scene:
    step = draw(st.sampled_from(STEPS))
    needs = amounts(draw, step, draw(st.integers(1, 3)))
    own = topology(
        *components({"onheap_mb": need} for need in needs),
        worker_max_heap_mb=sum(needs, Decimal(0)) - broken * step,
    )
    return scene(draw, [node()], [own], [("n0", 0)] * len(needs))


def _each_worker(draw: st.DrawFn, broken: bool) -> Scene:
    # Two workers, of one node or with one label on two nodes, each with a heap of its own.
    step = draw(st.sampled_from(STEPS))
    most = amount(draw, step)
    own = topology(
        *components(({"onheap_mb": most}, {"onheap_mb": most + broken * step})),
        worker_max_heap_mb=most,
    )
    other = draw(st.sampled_from((("n0", 1), ("n1", 0))))
    return scene(draw, [node("n0"), node("n1")], [own], [("n0", 0), other])


def _heap_alone(draw: st.DrawFn, broken: bool) -> Scene:
    step = draw(st.sampled_from(STEPS))
    on, off = amounts(draw, step, 2)
    own = topology(
        component("a", onheap_mb=on, offheap_mb=off), worker_max_heap_mb=on - broken * step
    )
    return scene(draw, [node()], [own], [("n0", 0)])


def _heap_decimals(draw: st.DrawFn, broken: bool) -> Scene:
    needs = [Decimal(text) for text in draw(st.sampled_from(INEXACT))]
    own = topology(
        *components({"onheap_mb": need} for need in needs),
        worker_max_heap_mb=sum(needs, Decimal(0)) - broken * FINEST,
    )
    return scene(draw, [node()], [own], [("n0", 0)] * len(needs))


def _no_heap_limit(draw: st.DrawFn, broken: bool, *, first: bool) -> Scene:
    # Each topology has its own limit, and ``null`` is none; it is the first one's or the last's.
    step = draw(st.sampled_from(STEPS))
    need, more = amounts(draw, step, 2)
    limited = topology(component("a", onheap_mb=need), worker_max_heap_mb=need - broken * step)
    free = topology(component("a", onheap_mb=need + more), key="u")
    both = [free, limited] if first else [limited, free]
    return scene(draw, [node()], both, [("n0", 0), ("n0", 1)])


def _own_limit(draw: st.DrawFn, broken: bool) -> Scene:
    # Two limits: what the one topology has too little, the other has too much.
    step = draw(st.sampled_from(STEPS))
    first, second = amounts(draw, step, 2)
    spare = broken * step
    both = [
        topology(component("a", onheap_mb=first), worker_max_heap_mb=first - spare),
        topology(component("a", onheap_mb=second), key="u", worker_max_heap_mb=second + spare),
    ]
    return scene(draw, [node()], both, [("n0", 0), ("n0", 1)])


def _acker_heap(draw: st.DrawFn, broken: bool) -> Scene:
    step = draw(st.sampled_from(STEPS))
    need, each = amounts(draw, step, 2)
    own = topology(
        component("a", onheap_mb=need),
        ackers=Ackers(1, resources={"onheap_mb": each}),
        worker_max_heap_mb=need + each - broken * step,
    )
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 0)])


def _no_heap(draw: st.DrawFn, broken: bool) -> Scene:
    # A limit of 0 is a limit.
    step = draw(st.sampled_from(STEPS))
    own = topology(
        component("a", onheap_mb=broken * step, offheap_mb=amount(draw, step)),
        worker_max_heap_mb=Decimal(0),
    )
    return scene(draw, [node()], [own], [("n0", 0)])


HEAP = tuple(
    SubCase("heap", name, build)
    for name, build in (
        ("on-heap memory", _several_heaps),
        ("each worker by itself", _each_worker),
        ("off-heap memory", _heap_alone),
        ("decimals", _heap_decimals),
        ("null is no limit", partial(_no_heap_limit, first=False)),
        ("null in the first topology", partial(_no_heap_limit, first=True)),
        ("each topology its own limit", _own_limit),
        ("ackers", _acker_heap),
        ("a limit of 0", _no_heap),
    )
)


# Cases of ``capacity`` and ``heap`` with memory that tasks share.

OF_A_WORKER = ("onheap", "offheap_worker")


def _on_and_off_the_heap(draw: st.DrawFn, broken: bool) -> Scene:
    # On-heap, off-heap and shared memory add up on the node.
    step = draw(st.sampled_from(STEPS))
    on, off, size = amounts(draw, step, 3)
    kind = draw(st.sampled_from((*OF_A_WORKER, "offheap_node")))
    own = topology(
        component("a", onheap_mb=on, offheap_mb=off),
        shared_memory=(SharedMemory("s", kind, size, ("a",)),),
    )
    here = node(memory_mb=on + off + size - broken * step)
    return scene(draw, [here], [own], [("n0", 0)])


def _counted(draw: st.DrawFn, broken: bool, *, apart: bool) -> Scene:
    # A region of the worker: once for its two tasks together, once for each of two workers.
    step = draw(st.sampled_from(STEPS))
    first, second, size = amounts(draw, step, 3)
    kind = draw(st.sampled_from(OF_A_WORKER))
    own = topology(
        *components(({"onheap_mb": first}, {"onheap_mb": second})),
        shared_memory=(SharedMemory("s", kind, size, ("a", "b")),),
    )
    here = node(memory_mb=first + second + (2 if apart else 1) * size - broken * step)
    return scene(draw, [here], [own], [("n0", 0), ("n0", int(apart))])


def _once_on_a_node(draw: st.DrawFn, broken: bool) -> Scene:
    # A region of the node counts once, in however many workers its tasks are.
    step = draw(st.sampled_from(STEPS))
    need, size = amounts(draw, step, 2)
    count = draw(st.integers(2, 3))
    region = SharedMemory("s", "offheap_node", size, ("a",))
    own = topology(component("a", count, onheap_mb=need), shared_memory=(region,))
    here = node(memory_mb=count * need + size - broken * step)
    return scene(draw, [here], [own], [("n0", label) for label in range(count)])


def _for_each_topology(draw: st.DrawFn, broken: bool) -> Scene:
    # Regions of the node count once for each topology, also where they have one id.
    step = draw(st.sampled_from(STEPS))
    sizes = amounts(draw, step, 2)
    both = [
        topology(
            component("a"),
            key=key,
            shared_memory=(SharedMemory("s", "offheap_node", size, ("a",)),),
        )
        for key, size in zip("tu", sizes, strict=True)
    ]
    here = node(memory_mb=sum(sizes, Decimal(0)) - broken * step)
    return scene(draw, [here], both, [("n0", 0), ("n0", 1)])


def _not_touched(draw: st.DrawFn, broken: bool) -> Scene:
    # A region counts where a task of its components is, and nowhere else.
    step = draw(st.sampled_from(STEPS))
    need, size = amounts(draw, step, 2)
    kind = draw(st.sampled_from((*OF_A_WORKER, "offheap_node")))
    own = topology(
        component("a", onheap_mb=need),
        component("b"),
        shared_memory=(SharedMemory("s", kind, size, ("b",)),),
    )
    nodes = [node("n0", memory_mb=need - broken * step), node("n1", memory_mb=size)]
    return scene(draw, nodes, [own], [("n0", 0), ("n1", 0)])


def _in_the_heap(draw: st.DrawFn, broken: bool) -> Scene:
    # Shared on-heap memory counts once in the heap of a worker.
    step = draw(st.sampled_from(STEPS))
    first, second, size = amounts(draw, step, 3)
    own = topology(
        *components(({"onheap_mb": first}, {"onheap_mb": second})),
        shared_memory=(SharedMemory("s", "onheap", size, ("a", "b")),),
        worker_max_heap_mb=first + second + size - broken * step,
    )
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 0)])


def _in_each_heap(draw: st.DrawFn, broken: bool) -> Scene:
    # Shared on-heap memory counts in the heap of each worker with a task of it.
    step = draw(st.sampled_from(STEPS))
    need, size = amounts(draw, step, 2)
    own = topology(
        *components(({"onheap_mb": need}, {"onheap_mb": need + broken * step})),
        shared_memory=(SharedMemory("s", "onheap", size, ("a", "b")),),
        worker_max_heap_mb=need + size,
    )
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 1)])


def _off_the_heap(draw: st.DrawFn, broken: bool) -> Scene:
    # Shared off-heap memory is not in the heap.
    step = draw(st.sampled_from(STEPS))
    need, size = amounts(draw, step, 2)
    kind = draw(st.sampled_from(("offheap_worker", "offheap_node")))
    own = topology(
        component("a", onheap_mb=need),
        shared_memory=(SharedMemory("s", kind, size, ("a",)),),
        worker_max_heap_mb=need - broken * step,
    )
    return scene(draw, [node()], [own], [("n0", 0)])


SHARED_CAPACITY = tuple(
    SubCase("capacity", name, build)
    for name, build in (
        ("on-heap, off-heap and shared memory", _on_and_off_the_heap),
        ("shared memory once in a worker", partial(_counted, apart=False)),
        ("shared memory for each worker", partial(_counted, apart=True)),
        ("shared memory once on a node", _once_on_a_node),
        ("shared memory of two topologies", _for_each_topology),
        ("shared memory of tasks elsewhere", _not_touched),
    )
)
SHARED_HEAP = tuple(
    SubCase("heap", name, build)
    for name, build in (
        ("shared on-heap memory", _in_the_heap),
        ("shared on-heap memory for each worker", _in_each_heap),
        ("shared off-heap memory", _off_the_heap),
    )
)
