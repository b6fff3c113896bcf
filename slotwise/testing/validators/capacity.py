"""Cases of ``capacity``: the load of a hard resource is at most the node's capacity."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import Any

from hypothesis import strategies as st

from slotwise.models.instance.instance import Objective
from slotwise.models.instance.topology import Ackers
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
    # A worker counts at least so much cpu, and more where its tasks need more.
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
