"""Cases of ``heap``: the on-heap memory of a worker is at most its topology's limit."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from hypothesis import strategies as st

from slotwise.models.instance.topology import Ackers
from slotwise.testing.validators.case import (
    FINEST,
    INEXACT,
    STEPS,
    Scene,
    SubCase,
    amount,
    amounts,
    component,
    components,
    node,
    scene,
    topology,
)


def _several_tasks(draw: st.DrawFn, broken: bool) -> Scene:
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


def _off_the_heap(draw: st.DrawFn, broken: bool) -> Scene:
    step = draw(st.sampled_from(STEPS))
    on, off = amounts(draw, step, 2)
    own = topology(
        component("a", onheap_mb=on, offheap_mb=off), worker_max_heap_mb=on - broken * step
    )
    return scene(draw, [node()], [own], [("n0", 0)])


def _decimals(draw: st.DrawFn, broken: bool) -> Scene:
    needs = [Decimal(text) for text in draw(st.sampled_from(INEXACT))]
    own = topology(
        *components({"onheap_mb": need} for need in needs),
        worker_max_heap_mb=sum(needs, Decimal(0)) - broken * FINEST,
    )
    return scene(draw, [node()], [own], [("n0", 0)] * len(needs))


def _no_limit(draw: st.DrawFn, broken: bool, *, first: bool) -> Scene:
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


def _ackers(draw: st.DrawFn, broken: bool) -> Scene:
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
        ("on-heap memory", _several_tasks),
        ("each worker by itself", _each_worker),
        ("off-heap memory", _off_the_heap),
        ("decimals", _decimals),
        ("null is no limit", partial(_no_limit, first=False)),
        ("null in the first topology", partial(_no_limit, first=True)),
        ("each topology its own limit", _own_limit),
        ("ackers", _ackers),
        ("a limit of 0", _no_heap),
    )
)
