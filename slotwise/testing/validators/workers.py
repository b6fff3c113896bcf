"""Cases of the rules on who shares a worker: one topology, one task, one component."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import strategies as st

from slotwise.models.instance.topology import Ackers, Topology
from slotwise.testing.validators.case import (
    Scene,
    Spot,
    SubCase,
    any_label,
    component,
    node,
    other_than,
    scene,
    topology,
)

TASK, COMPONENT = "one_task_per_worker", "one_component_per_worker"


def _holding(rule: str, holds: bool = True) -> dict[str, Any]:
    return {rule: holds}


def _meet(draw: st.DrawFn, broken: bool, topologies: list[Topology]) -> Scene:
    # Put the last of two tasks into the first one's worker, or into another of the node.
    label = any_label(draw)
    last = label if broken else other_than(label)
    return scene(draw, [node()], topologies, [("n0", label), ("n0", last)])


def _meet_by_label(draw: st.DrawFn, broken: bool, topologies: list[Topology]) -> Scene:
    # Give two tasks one label, on one node or on two.
    label = any_label(draw)
    spots = [("n0", label), ("n0" if broken else "n1", label)]
    return scene(draw, [node("n0"), node("n1")], topologies, spots)


def _strangers() -> list[Topology]:
    return [topology(component("a")), topology(component("a"), key="u")]


def _two_topologies(draw: st.DrawFn, broken: bool) -> Scene:
    return _meet(draw, broken, _strangers())


def _topologies_by_label(draw: st.DrawFn, broken: bool) -> Scene:
    return _meet_by_label(draw, broken, _strangers())


def _one_task_strays(draw: st.DrawFn, broken: bool) -> Scene:
    # The tasks of a topology share a worker; one more, of another topology, joins or does not.
    both = [topology(component("a"), component("b")), topology(component("a"), key="u")]
    return scene(draw, [node()], both, [("n0", 0), ("n0", 0), ("n0", 1 - broken)])


def _acker_strays(draw: st.DrawFn, broken: bool) -> Scene:
    both = [topology(component("a")), topology(component("a", 0), key="u", ackers=Ackers(1))]
    return _meet(draw, broken, both)


def _of_one_component(draw: st.DrawFn, broken: bool) -> Scene:
    return _meet(draw, broken, [topology(component("a", 2), one_task_per_worker=True)])


def _of_two_components(draw: st.DrawFn, broken: bool, *, rule: str) -> Scene:
    return _meet(draw, broken, [topology(component("a"), component("b"), **_holding(rule))])


def _components_by_label(draw: st.DrawFn, broken: bool, *, rule: str) -> Scene:
    return _meet_by_label(
        draw, broken, [topology(component("a"), component("b"), **_holding(rule))]
    )


def _with_acker(draw: st.DrawFn, broken: bool, *, rule: str) -> Scene:
    # An acker is a task of a component of its own.
    return _meet(draw, broken, [topology(component("a"), ackers=Ackers(1), **_holding(rule))])


def _first_and_last(draw: st.DrawFn, broken: bool, *, rule: str) -> Scene:
    # The two that meet are not neighbours in the order of tasks.
    own = topology(component("a"), component("b"), component("c"), **_holding(rule))
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 1), ("n0", 0 if broken else 2)])


def _both_rules(draw: st.DrawFn, broken: bool) -> Scene:
    own = topology(component("a", 2), one_task_per_worker=True, one_component_per_worker=True)
    return _meet(draw, broken, [own])


def _whose_rule(draw: st.DrawFn, broken: bool, *, rule: str) -> Scene:
    # Two topologies, and the rule is that of one: its tasks alone may not share a worker.
    own = topology(component("a"), **_holding(rule, not broken))
    other = topology(component("a"), component("b"), key="u", **_holding(rule, broken))
    return scene(draw, [node()], [own, other], [("n0", 0), ("n0", 1), ("n0", 1)])


def _tasks_of_one_component(draw: st.DrawFn, broken: bool) -> Scene:
    # Tasks of one component share a worker; a task of another component joins or does not.
    own = topology(component("a", 2), component("b"), one_component_per_worker=True)
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 0), ("n0", 1 - broken)])


ONE_TOPOLOGY = tuple(
    SubCase("one_topology_per_worker", name, build)
    for name, build in (
        ("two tasks", _two_topologies),
        ("one label on two nodes", _topologies_by_label),
        ("one task strays", _one_task_strays),
        ("an acker strays", _acker_strays),
    )
)
ONE_TASK = tuple(
    SubCase(TASK, name, build)
    for name, build in (
        ("tasks of one component", _of_one_component),
        ("tasks of two components", partial(_of_two_components, rule=TASK)),
        ("one label on two nodes", partial(_components_by_label, rule=TASK)),
        ("first and last of three tasks", partial(_first_and_last, rule=TASK)),
        ("ackers", partial(_with_acker, rule=TASK)),
        ("with one component per worker", _both_rules),
        ("a topology without the rule", partial(_whose_rule, rule=TASK)),
    )
)
ONE_COMPONENT = tuple(
    SubCase(COMPONENT, name, build)
    for name, build in (
        ("two components", partial(_of_two_components, rule=COMPONENT)),
        ("tasks of one component may", _tasks_of_one_component),
        ("one label on two nodes", partial(_components_by_label, rule=COMPONENT)),
        ("first and last of three tasks", partial(_first_and_last, rule=COMPONENT)),
        ("ackers", partial(_with_acker, rule=COMPONENT)),
        ("a topology without the rule", partial(_whose_rule, rule=COMPONENT)),
    )
)


# Cases of ``slots``: a node has a limited number of workers.


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
    # Labels tell workers apart; they are not numbers of slots.
    first, last = draw(st.sampled_from(((1, 0), (7, 3), (6700, 6703))))
    spots = [("n0", first), ("n0", last)]
    return scene(draw, [node(slots=2 - broken)], [topology(component("a", 2))], spots)


def _two_topologies_on_slots(draw: st.DrawFn, broken: bool) -> Scene:
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
        ("two topologies", _two_topologies_on_slots),
        ("0 slots", _no_slots),
        ("null is no limit", _no_limit),
        ("each node by itself", _each_node),
        ("one label on two nodes", _same_label),
        ("two nodes of one host", _one_host),
        ("ackers", _ackers),
    )
)
