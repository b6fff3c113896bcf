"""Instances without the rules that ``connected``, ``subset-dp`` and ``dual-ascent`` do not take."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.models.instance.topology import Constraints, Topology
from slotwise.testing.choices import Chooser, chance, pick


def simplified(choose: Chooser, instance: Instance) -> Instance:
    """Return one topology of the instance with a network alone; capacities and isolation stay.

    Where distances come as a matrix linear costs stay, too, and nodes have a worker.
    """
    topology = _plain(choose, pick(choose, instance.topologies))
    cluster = instance.cluster
    linear = tuple(row for row in instance.linear if row.task.startswith(f"{topology.id}/"))
    if chance(choose, 40) or cluster.matrix is not None:
        rows = range(len(cluster.nodes))
        matrix = tuple(tuple(Decimal(choose.whole(0, 5)) for _ in rows) for _ in rows)
        cluster = replace(cluster, matrix=matrix)
        topology = replace(topology, one_task_per_worker=False, one_component_per_worker=False)
        terms: tuple[str, ...] = ("network+linear",) if linear else ("network",)
    else:
        linear = ()
        terms = pick(choose, (("network",), ("overload", "network")))
    return replace(
        instance,
        cluster=cluster,
        topologies=(topology,),
        scheduler=Scheduler(),
        running=None,
        objective=Objective(terms),
        linear=linear,
    )


def _plain(choose: Chooser, topology: Topology) -> Topology:
    return replace(
        topology,
        constraints=Constraints(),
        worker_max_heap_mb=None if chance(choose, 60) else topology.worker_max_heap_mb,
        shared_memory=(),
    )
