"""What the workers on a node use together, in Storm's doubles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slotwise.heuristics.ras.model.model import RasModel
from slotwise.heuristics.ras.model.requests import Offer
from slotwise.heuristics.ras.state.worker import RasWorker

Load = tuple[float, float, float, tuple[float, ...]]
"""Cpu, on-heap and off-heap MB, generic resources."""


def added_up(model: RasModel, workers: Iterable[RasWorker], shared: Iterable[float]) -> Load:
    """Return the load of workers, and of memory shared on the node, in the order given."""
    cpu = onheap = offheap = 0.0
    generic = [0.0] * len(model.cluster.generic)
    for worker in workers:
        cpu += worker.charged
        onheap += worker.onheap
        offheap += worker.offheap
        for g, amount in enumerate(worker.generic):
            generic[g] += amount
    for amount in shared:
        offheap += amount
    return cpu, onheap, offheap, tuple(generic)


def exchanged(load: Load, before: RasWorker | None, after: RasWorker | None) -> Load:
    """Return a load with one worker in place of another, where no sum is ever rounded."""
    cpu, onheap, offheap, generic = load
    for worker, sign in ((before, -1.0), (after, 1.0)):
        if worker is not None:
            cpu += sign * worker.charged
            onheap += sign * worker.onheap
            offheap += sign * worker.offheap
            if generic:
                pairs = zip(generic, worker.generic, strict=True)
                generic = tuple([a + sign * b for a, b in pairs])
    return cpu, onheap, offheap, generic


def left_together(model: RasModel, loads: Sequence[Load]) -> Offer:
    """Return what all nodes have left (``getNonBlacklistedClusterAvailableResources``).

    Capacities are added and loads subtracted node by node, 0 at the least each time.
    """
    cluster = model.cluster
    cpu = memory = 0.0
    generic = [0.0] * len(cluster.generic)
    for node in cluster.supervisor_order:
        used_cpu, onheap, offheap, used = loads[node]
        cpu = max(0.0, cpu + cluster.cpu[node] - used_cpu)
        memory = max(0.0, memory + cluster.memory[node] - (onheap + offheap))
        for g, amount in enumerate(cluster.generics[node]):
            generic[g] = max(0.0, generic[g] + amount - used[g])
    return Offer(cpu, memory, dict(zip(cluster.generic, generic, strict=True)))
