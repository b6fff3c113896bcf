"""Objectives drawn as random sequences of terms, with what they count and limit.

Every part may stand in every place: alone or in a sum, before or after those it competes with.
Steps that solve another problem first (without `running`, without some terms) go wrong where a
part stands in an unusual place, so the terms are not taken from a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.instance import (
    ALONE,
    TERM_PARTS,
    Instance,
    LinearCost,
    Objective,
    Place,
    Running,
)
from slotwise.testing.choices import Chooser, chance, pick

MOST_TERMS = 4
RUNS = 59
"""Per cent with `running`: of `mixed_instance`, which simplifies 15 %, half have it."""


def with_any_objective(
    choose: Chooser, instance: Instance, running: Running | None = None
) -> Instance:
    """Return the instance with one to four terms of any parts.

    Resources turn soft at random. Many instances have `running`, and many of these a limit
    of moves; some lose all resources, so that slots alone bind.

    Parameters
    ----------
    choose, instance
        Whose choices, and what is changed.
    running
        What runs where something does; ``None`` = the instance's own, or drawn where it has none.
    """
    if chance(choose, 6):
        instance = without_resources(instance)
    names, cluster = instance.task_names(), instance.cluster
    runs = chance(choose, RUNS)
    if runs:
        running = running or instance.running or drawn_running(choose, names, cluster)
    terms = drawn_terms(choose, counts_moves=runs)
    linear = instance.linear
    if not linear and any("linear" in term for term in terms) and chance(choose, 80):
        linear = drawn_linear(choose, names, cluster)
    offered = sorted({key for node in cluster.nodes for key in node.resources})
    soft = {key: choose.whole(1, 3) for key in offered if chance(choose, 25)}
    limits = {"moved": choose.whole(0, 3)} if runs and chance(choose, 40) else {}
    return replace(
        instance,
        running=running if runs else None,
        objective=Objective(terms, soft, limits),
        linear=linear,
    )


def drawn_terms(choose: Chooser, *, counts_moves: bool) -> tuple[str, ...]:
    """Return one to `MOST_TERMS` terms, some of them sums; no part stands twice.

    Without `ALONE`: those need a workload.
    """
    left = [part for part in TERM_PARTS if part not in ALONE and (counts_moves or part != "moved")]
    terms = []
    for _ in range(choose.whole(1, MOST_TERMS)):
        size = min(pick(choose, (1, 1, 1, 1, 2, 3)), len(left))
        if size:
            terms.append("+".join(left.pop(choose.whole(0, len(left) - 1)) for _ in range(size)))
    return tuple(terms)


def drawn_running(
    choose: Chooser, names: Sequence[tuple[str, str]], cluster: Cluster
) -> dict[str, dict[str, Place]]:
    """Return a running placement of most tasks, one topology per worker."""
    tenant: dict[Place, str] = {}
    running: dict[str, dict[str, Place]] = {}
    for topology, task in names:
        place = Place(pick(choose, cluster.nodes).id, choose.whole(0, 2))
        if chance(choose, 80) and tenant.setdefault(place, topology) == topology:
            running.setdefault(topology, {})[task] = place
    return running


def drawn_linear(
    choose: Chooser, names: Sequence[tuple[str, str]], cluster: Cluster
) -> tuple[LinearCost, ...]:
    """Return costs of many tasks on many nodes."""
    rows = []
    for topology, task in names:
        for node in cluster.nodes:
            if chance(choose, 40):
                cost = Decimal(pick(choose, ("1", "0", "2", "3.5", "0.1")))
                rows.append(LinearCost(f"{topology}/{task}", node.id, cost))
    return tuple(rows)


def without_resources(instance: Instance) -> Instance:
    """Return the instance in which no node and no task names a resource."""
    nodes = tuple(replace(node, resources={}) for node in instance.cluster.nodes)
    topologies = tuple(
        replace(
            topology,
            components=tuple(replace(one, resources={}) for one in topology.components),
            worker_max_heap_mb=None,
            shared_memory=(),
            ackers=topology.ackers and replace(topology.ackers, resources={}),
        )
        for topology in instance.topologies
    )
    return replace(
        instance,
        cluster=replace(instance.cluster, nodes=nodes),
        topologies=topologies,
        scheduler=replace(instance.scheduler, worker_min_cpu=Decimal(0)),
        objective=replace(instance.objective, soft={}),
    )
