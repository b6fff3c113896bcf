"""Instances by kind, and their parts: clusters and topologies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from hypothesis import strategies as st

from slotwise.models.errors import InputError, suggestion
from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Topology
from slotwise.models.values import one_of, whole
from slotwise.testing.choices import chance, pick
from slotwise.testing.random_instances.feasible import one_unit_short, tightened, with_placement
from slotwise.testing.random_instances.features import (
    Wanted,
    with_constraint,
    with_cycle,
    with_shared_memory,
)
from slotwise.testing.random_instances.infeasible import REASONS, Reason, without_rejected
from slotwise.testing.random_instances.tiny import (
    RESOURCES,
    make_cluster,
    make_instance,
    make_resources,
    make_topology,
    moderate_instance,
    ruled_instance,
    with_tasks,
)

KINDS: Mapping[str, str] = {
    "any": "Every rule of the problem occurs; some are infeasible, and some are by one unit.",
    "feasible": "A placement that keeps every rule is drawn first, then limits that keep it.",
    "infeasible": "No placement is valid, for one reason that has a name.",
    "tight": "Feasible; at most one unit or 5 % of some resource is spare in the whole cluster.",
    "heterogeneous": "Feasible; two nodes at least, of different capacities or slots.",
    "cyclic": "Feasible; the streams of a topology form a cycle.",
    "constrained": "Feasible; a topology limits who may share a worker or node, or its heap.",
    "shared-memory": "Feasible; tasks of a topology share a region of memory.",
    "several-topologies": "Feasible; two topologies.",
    "running": "Feasible; at least one task runs already.",
}
"""Kind of `instances` -> what it is."""

_WANTED: Mapping[str, Wanted] = {
    "feasible": Wanted(tasks=1),
    "tight": Wanted(tasks=1),
    "heterogeneous": Wanted(tasks=1, nodes=2),
    "cyclic": Wanted(tasks=2, feature=with_cycle),
    "constrained": Wanted(tasks=1, feature=with_constraint),
    "shared-memory": Wanted(tasks=1, memory=True, feature=with_shared_memory),
    "several-topologies": Wanted(tasks=1, topologies=2),
    "running": Wanted(tasks=1, running=True),
}


def instances(
    kind: str = "any", most_tasks: int = 6, most_nodes: int = 4, *, wide_numbers: bool = False
) -> st.SearchStrategy[Instance]:
    """Return a strategy for instances of a kind.

    They shrink towards one node, one task and no rule beyond what the kind asks for.

    Parameters
    ----------
    kind
        One of `KINDS`.
    most_tasks
        Most tasks of all topologies together, ackers included; 1 or more.
    most_nodes
        Most nodes; 1 or more.
    wide_numbers
        Only for the kind ``any``: whether some instances have numbers of widely differing size, up
        to the limits of an instance file.

    Raises
    ------
    InputError
        When there is no such kind, or it needs more tasks or nodes: ``heterogeneous`` two nodes,
        ``cyclic`` and ``several-topologies`` two tasks.
    """
    if kind not in KINDS:
        raise InputError(f"unknown kind; {suggestion(kind, list(KINDS))}", field="kind", value=kind)
    whole(most_tasks, "most_tasks", least=1)
    whole(most_nodes, "most_nodes", least=1)
    if kind == "any":
        return _any_instances(most_tasks, most_nodes, wide_numbers)
    if kind == "infeasible":
        return infeasible_with_reason(most_tasks, most_nodes).map(lambda found: found[0])
    return feasible_pairs(kind, most_tasks, most_nodes).map(lambda found: found[0])


@st.composite
def _any_instances(
    draw: st.DrawFn, most_tasks: int, most_nodes: int, wide_numbers: bool
) -> Instance:
    choose = FromHypothesis(draw)
    make = make_instance if wide_numbers else moderate_instance
    instance = make(choose, most_tasks, most_nodes)
    return one_unit_short(choose, instance) if chance(choose, 25) else instance


def feasible_pairs(
    kind: str = "feasible", most_tasks: int = 6, most_nodes: int = 4
) -> st.SearchStrategy[tuple[Instance, Placement]]:
    """Return a strategy for feasible instances with a valid placement of each.

    The placement is complete, and need not be optimal. Arguments are as in `instances`; `kind` is
    any but ``any`` and ``infeasible``.

    Raises
    ------
    InputError
        When the kind is none of those, or needs more tasks or nodes.
    """
    if kind not in _WANTED:
        raise InputError(
            f"not a feasible kind; {suggestion(kind, list(_WANTED))}", field="kind", value=kind
        )
    wanted = _WANTED[kind]
    whole(most_tasks, "most_tasks", least=wanted.least_tasks)
    whole(most_nodes, "most_nodes", least=wanted.nodes)
    return _pairs(kind, most_tasks, most_nodes)


@st.composite
def _pairs(
    draw: st.DrawFn, kind: str, most_tasks: int, most_nodes: int
) -> tuple[Instance, Placement]:
    choose = FromHypothesis(draw)
    drawn = ruled_instance(choose, most_tasks, most_nodes, _WANTED[kind])
    instance, placement = with_placement(choose, replace(drawn, name=kind))
    if kind == "tight":
        return tightened(choose, (instance, placement))
    if kind == "heterogeneous":
        return _unlike(instance), placement
    return instance, placement


def infeasible_with_reason(
    most_tasks: int = 6, most_nodes: int = 4, *, reason: str | None = None
) -> st.SearchStrategy[tuple[Instance, Reason]]:
    """Return a strategy for infeasible instances with the reason of each.

    An instance that is feasible is made infeasible by that reason; at times others come with it.

    Parameters
    ----------
    most_tasks, most_nodes
        As in `instances`.
    reason
        The name of one of `REASONS`; ``None`` = any that this number of tasks and nodes allows.

    Raises
    ------
    InputError
        When there is no such reason, or it needs more tasks or nodes.
    """
    names = [one.name for one in REASONS]
    if reason is not None and reason not in names:
        rule = f"unknown reason; {suggestion(reason, names)}"
        raise InputError(rule, field="reason", value=reason)
    whole(most_tasks, "most_tasks", least=1)
    whole(most_nodes, "most_nodes", least=1)
    asked = [one for one in REASONS if reason in (None, one.name)]
    if len(asked) == 1:
        whole(most_tasks, "most_tasks", least=asked[0].wanted.least_tasks)
        whole(most_nodes, "most_nodes", least=asked[0].wanted.nodes)
    possible = [
        one
        for one in asked
        if one.wanted.least_tasks <= most_tasks and one.wanted.nodes <= most_nodes
    ]
    return _infeasible(possible, most_tasks, most_nodes)


@st.composite
def _infeasible(
    draw: st.DrawFn, possible: list[Reason], most_tasks: int, most_nodes: int
) -> tuple[Instance, Reason]:
    choose = FromHypothesis(draw)
    reason = pick(choose, possible)
    drawn = ruled_instance(choose, most_tasks, most_nodes, reason.wanted)
    named = replace(without_rejected(drawn), name=f"infeasible: {reason.name}")
    instance, _ = with_placement(choose, named)
    return reason.change(choose, instance), reason


def _unlike(instance: Instance) -> Instance:
    """Return the instance; where all nodes are alike, the last one becomes a large machine."""
    *others, last = instance.cluster.nodes
    if any((n.slots, n.resources) != (last.slots, last.resources) for n in others):
        return instance
    usual = last.resources.get("cpu", Decimal(0))
    room = Decimal(1000) if usual is None else usual + 100
    large = replace(last, resources={**last.resources, "cpu": room})
    return replace(instance, cluster=replace(instance.cluster, nodes=(*others, large)))


X = TypeVar("X")


@dataclass(frozen=True)
class FromHypothesis:
    """A `Chooser` whose every choice is one draw, for use in a composite strategy.

    Parameters
    ----------
    draw
        What Hypothesis passes to a composite strategy.
    """

    draw: st.DrawFn

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included; shrinks towards `low`."""
        return self.draw(st.integers(low, high))

    def parts(self, least: int, most: int, make: Callable[[], X | None]) -> list[X]:
        """Return what `make` returns, called `least` to `most` times, without ``None``.

        Hypothesis shrinks it like any list: it leaves out parts, each with all its choices.
        """
        drawn = self.draw(st.lists(st.builds(make), min_size=least, max_size=most))
        return [part for part in drawn if part is not None]


@st.composite
def _clusters(
    draw: st.DrawFn, most_nodes: int, most_racks: int, resources: Sequence[str] | None
) -> Cluster:
    choose = FromHypothesis(draw)
    dims = make_resources(choose) if resources is None else tuple(resources)
    return make_cluster(choose, most_nodes, dims, most_racks=most_racks)


def clusters(
    *, most_nodes: int = 4, most_racks: int = 3, resources: Sequence[str] | None = None
) -> st.SearchStrategy[Cluster]:
    """Return a strategy for clusters: nodes ``n1``, ``n2``, ... in racks ``r1``, ``r2``, ...

    Nodes are alike or not, offer some of ``cpu``, ``memory_mb`` and ``gpu``, with or without a
    limit, and have slots or no limit of them. Distances are by level or a matrix. They shrink
    towards one node without limits.

    Parameters
    ----------
    most_nodes, most_racks
        1 or more each.
    resources
        What every node offers, out of ``cpu``, ``memory_mb`` and ``gpu``; ``None`` = some of them.

    Raises
    ------
    InputError
        When a number is out of range, or a resource is none of these.
    """
    whole(most_nodes, "most_nodes", least=1)
    whole(most_racks, "most_racks", least=1)
    for key in resources or ():
        one_of(key, RESOURCES, "resources")
    return _clusters(most_nodes, most_racks, resources)


@st.composite
def _topologies(
    draw: st.DrawFn,
    id: str,
    most_components: int,
    most_tasks: int,
    resources: Sequence[str] | None,
    rates: bool | None,
) -> Topology:
    choose = FromHypothesis(draw)
    dims = make_resources(choose) if resources is None else tuple(resources)
    tasks = choose.whole(1, most_tasks)
    rated = chance(choose, 40) if rates is None else rates
    return with_tasks(make_topology(choose, id, tasks, dims, rated, most_components))


def topologies(
    id: str = "topology-1",
    *,
    most_components: int = 4,
    most_tasks: int = 6,
    resources: Sequence[str] | None = None,
    rates: bool | None = None,
) -> st.SearchStrategy[Topology]:
    """Return a strategy for topologies with at least one task.

    A spout, bolts, streams between them, now and then in a circle; demands of ``cpu``, memory and
    ``gpu``; at times ackers, shared memory, a heap limit, or rules on who may share a worker or a
    node. They shrink towards one spout with one task and no demand.

    Parameters
    ----------
    id
        Of each topology.
    most_components
        Most components without ackers, 1 or more.
    most_tasks
        Most tasks, ackers included, 1 or more.
    resources
        What tasks may need, out of ``cpu``, ``memory_mb`` and ``gpu``; ``None`` = some of them.
    rates
        Whether streams have rates, which an instance with ``flow="rates"`` needs; ``None`` = some.

    Raises
    ------
    InputError
        When a number is out of range, or a resource is none of these.
    """
    whole(most_components, "most_components", least=1)
    whole(most_tasks, "most_tasks", least=1)
    for key in resources or ():
        one_of(key, RESOURCES, "resources")
    return _topologies(id, most_components, most_tasks, resources, rates)
