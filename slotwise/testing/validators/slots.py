"""Cases of ``slots``: a node has a limited number of workers."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from slotwise.models.instance.topology import Ackers
from slotwise.testing.validators.case import (
    Scene,
    Spot,
    SubCase,
    any_label,
    component,
    node,
    scene,
    topology,
)


def _several_workers(draw: st.DrawFn, broken: bool) -> Scene:
    count = draw(st.integers(1, 3))
    spots = [("n0", label) for label in range(count)]
    return scene(draw, [node(slots=count - broken)], [topology(component("a", count))], spots)


def _tasks_together(draw: st.DrawFn, broken: bool) -> Scene:
    # Tasks of one worker need one slot.
    together = draw(st.integers(1, 2))
    spots = [*[("n0", 0)] * together, ("n0", 1)]
    own = topology(component("a", together + 1))
    return scene(draw, [node(slots=2 - broken)], [own], spots)


def _any_labels(draw: st.DrawFn, broken: bool) -> Scene:
    # Labels tell workers apart; they are no numbers of slots.
    first, last = draw(st.sampled_from(((1, 0), (7, 3), (6700, 6703))))
    spots = [("n0", first), ("n0", last)]
    return scene(draw, [node(slots=2 - broken)], [topology(component("a", 2))], spots)


def _two_topologies(draw: st.DrawFn, broken: bool) -> Scene:
    both = [topology(component("a")), topology(component("a"), key="u")]
    return scene(draw, [node(slots=2 - broken)], both, [("n0", 0), ("n0", 1)])


def _no_slots(draw: st.DrawFn, broken: bool) -> Scene:
    # A node of 0 slots takes no worker.
    count = draw(st.integers(1, 2))
    spots: list[Spot] = [("n1", label) for label in range(count)]
    if broken:
        spots[-1] = ("n0", any_label(draw))
    nodes = [node("n0", slots=0), node("n1", slots=draw(st.sampled_from((count, None))))]
    return scene(draw, nodes, [topology(component("a", count))], spots)


def _no_limit(draw: st.DrawFn, broken: bool) -> Scene:
    # ``null`` is no limit.
    spots = [("n0", 0), ("n0", 1), ("n1", 0)]
    nodes = [node("n0"), node("n1", slots=1 - broken)]
    return scene(draw, nodes, [topology(component("a", 3))], spots)


def _each_node(draw: st.DrawFn, broken: bool) -> Scene:
    # Two full nodes; a slot that one of them lacks, the other has.
    spots = [("n0", 0), ("n0", 1), ("n1", 0)]
    nodes = [node("n0", slots=2 - broken), node("n1", slots=1 + broken)]
    return scene(draw, nodes, [topology(component("a", 3))], spots)


def _same_label(draw: st.DrawFn, broken: bool) -> Scene:
    # One label on two nodes makes two workers.
    label = any_label(draw)
    nodes = [node("n0", slots=1), node("n1", slots=1 - broken)]
    return scene(draw, nodes, [topology(component("a", 2))], [("n0", label), ("n1", label)])


def _one_host(draw: st.DrawFn, broken: bool) -> Scene:
    # Nodes of one host have slots of their own.
    nodes = [node("n0", slots=1), node("n1", slots=1 - broken)]
    shared = [replace(one, host="h") for one in nodes]
    return scene(draw, shared, [topology(component("a", 2))], [("n0", 0), ("n1", any_label(draw))])


def _ackers(draw: st.DrawFn, broken: bool) -> Scene:
    own = topology(component("a"), ackers=Ackers(1))
    return scene(draw, [node(slots=2 - broken)], [own], [("n0", 0), ("n0", 1)])


SLOTS = tuple(
    SubCase("slots", name, build)
    for name, build in (
        ("several workers", _several_workers),
        ("tasks in one worker", _tasks_together),
        ("any labels", _any_labels),
        ("two topologies", _two_topologies),
        ("0 slots", _no_slots),
        ("null is no limit", _no_limit),
        ("each node by itself", _each_node),
        ("one label on two nodes", _same_label),
        ("two nodes of one host", _one_host),
        ("ackers", _ackers),
    )
)
