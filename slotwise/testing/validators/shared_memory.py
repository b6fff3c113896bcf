"""Cases of ``capacity`` and ``heap`` with memory that tasks share."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from hypothesis import strategies as st

from slotwise.models.instance.topology import SharedMemory
from slotwise.testing.validators.case import (
    STEPS,
    Scene,
    SubCase,
    amounts,
    component,
    components,
    node,
    scene,
    topology,
)

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
