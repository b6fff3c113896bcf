"""What of the problem a scheduler is for: instances without the rest.

Each rule has a name and is taken out of an instance by itself, so that what was feasible stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

import networkx as nx

from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance, Scheduler
from slotwise.models.instance.topology import ACKER, MEMORY_PARTS, Topology
from slotwise.models.judge import rules as hard
from slotwise.models.judge.rules import without_field
from slotwise.models.values import known
from slotwise.solver.explain.constraint import with_topologies
from slotwise.testing.checks.reduction import (
    without_component,
    without_resource,
)

Change = Callable[[Instance], Instance]

USUAL = ("cpu", "memory_mb")
"""Resources that are counted by the rule ``capacity``; others are ``other_resources``."""


def _each_node(change: Callable[[Node], Node]) -> Change:
    def changed(instance: Instance) -> Instance:
        nodes = tuple(map(change, instance.cluster.nodes))
        return replace(instance, cluster=replace(instance.cluster, nodes=nodes))

    return changed


def _each_topology(change: Callable[[Topology], Topology]) -> Change:
    return lambda one: with_topologies(one, tuple(map(change, one.topologies)))


def _without_incompatible(topology: Topology) -> Topology:
    return replace(topology, constraints=replace(topology.constraints, incompatible=()))


def _without_max_per_node(topology: Topology) -> Topology:
    return replace(topology, constraints=replace(topology.constraints, max_per_node={}))


def _without_part(part: str, instance: Instance) -> Instance:
    """Return the instance without a part of its objective; ``network`` where nothing is left."""
    kept = ([one for one in term.split("+") if one != part] for term in instance.objective.terms)
    terms = tuple("+".join(parts) for parts in kept if parts) or ("network",)
    return replace(instance, objective=replace(instance.objective, terms=terms))


def _without_ackers(topology: Topology) -> Topology:
    return replace(without_component(topology, ACKER), ackers=None, acked=None)


def _without_limits(instance: Instance) -> Instance:
    return replace(instance, objective=replace(instance.objective, limits={}))


def _without_running(instance: Instance) -> Instance:
    return replace(_without_limits(_without_part("moved", instance)), running=None)


def _without_linear(instance: Instance) -> Instance:
    return replace(_without_part("linear", instance), linear=())


def _without_matrix(instance: Instance) -> Instance:
    return replace(instance, cluster=replace(instance.cluster, matrix=None))


def _without_soft(instance: Instance) -> Instance:
    """Make soft resources unlimited: an overload that cost something costs nothing then."""
    soft = instance.objective.soft
    hard = replace(instance, objective=replace(instance.objective, soft={}))
    return _each_node(
        lambda node: replace(
            node, resources={k: None if k in soft else v for k, v in node.resources.items()}
        )
    )(hard)


def _without_other_resources(instance: Instance) -> Instance:
    parts = [c for topology in instance.topologies for c in topology.placed_components]
    named = {key for node in instance.cluster.nodes for key in node.resources}
    named |= {key for component in parts for key in component.resources}
    for key in sorted(named.difference(USUAL, MEMORY_PARTS)):
        instance = without_resource(instance, key)
    return instance


def _without_cycles(topology: Topology) -> Topology:
    """Leave out the streams that are part of a cycle, those of a component to itself among them."""
    graph = nx.DiGraph([(one.source, one.target) for one in topology.streams])
    rounds = enumerate(nx.strongly_connected_components(graph))
    part = {component: number for number, members in rounds for component in members}
    kept = (one for one in topology.streams if part[one.source] != part[one.target])
    return replace(topology, streams=tuple(kept))


_WITHOUT: Mapping[str, Change] = {
    "running": _without_running,
    "max_moved": _without_limits,
    "linear": _without_linear,
    "matrix": _without_matrix,
    "rates": lambda one: replace(one, flow="pairs"),
    "rejected": lambda one: _without_part("rejected", one),
    "soft": _without_soft,
    "shared_memory": _each_topology(lambda one: replace(one, shared_memory=())),
    "ackers": _each_topology(_without_ackers),
    "worker_min_cpu": lambda one: replace(one, scheduler=Scheduler()),
    "other_resources": _without_other_resources,
    "cycles": _each_topology(_without_cycles),
    "incompatible": _each_topology(_without_incompatible),
    "max_per_node": _each_topology(_without_max_per_node),
    **{
        name: _each_topology(partial(without_field, field=rule.field))
        for name, rule in reversed(hard.RULES.items())
        if rule.field is not None and name != "heap"
    },
    "one_topology_per_worker": lambda one: with_topologies(one, one.topologies[:1]),
    "heap": _each_topology(partial(without_field, field="worker_max_heap_mb")),
    "slots": _each_node(lambda one: replace(one, slots=None)),
    "capacity": _each_node(lambda one: replace(one, resources=dict.fromkeys(one.resources))),
}

RULES = tuple(reversed(tuple(_WITHOUT)))
"""The hard rules by the judge's names, then what else occurs; the plainest first.

Without ``one_topology_per_worker`` there is one topology, without ``cycles`` no stream is part of
one.
"""


def parse_rules(text: str | None) -> frozenset[str] | None:
    """Return the rules of ``capacity,slots,heap``; ``None`` = nothing was said.

    Raises
    ------
    InputError
        When one is none of `RULES`.
    """
    return None if text is None else known_rules(one.strip() for one in text.split(","))


def known_rules(names: Iterable[str]) -> frozenset[str]:
    """Return the names as a set; raises `InputError` for one that is none of `RULES`."""
    return frozenset(known(one, RULES, "rules") for one in names)


def within(instance: Instance, rules: Iterable[str]) -> Instance:
    """Return the instance without those of `RULES` that are not in `rules`."""
    kept = frozenset(rules)
    for rule, change in _WITHOUT.items():
        if rule not in kept:
            instance = change(instance)
    return instance


def supported(instance: Instance, supports: Callable[[Instance], bool]) -> Instance:
    """Return the instance with as many of its rules as `supports` says yes to.

    Rules go one by one, the plainest last, until it says yes; then each that can comes back. Where
    it says no to all, the instance stays as it is.
    """
    left = list(reversed(RULES))
    gone: list[str] = []
    while left and not supports(within(instance, left)):
        gone.append(left.pop(0))
    if not left and not supports(within(instance, ())):
        return instance
    for rule in reversed(gone):
        if supports(within(instance, (*left, rule))):
            left.append(rule)
    return within(instance, left)
