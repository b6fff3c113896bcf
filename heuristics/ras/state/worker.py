"""What one worker holds and asks for, in Storm's doubles (``Cluster.calculateWorkerResources``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slotwise.heuristics.ras.java.hash_codes import executor_hash, set_order
from slotwise.heuristics.ras.model.topology import RasTopology


@dataclass(frozen=True, slots=True)
class RasWorker:
    """A worker of one topology; never changed, only replaced.

    Parameters
    ----------
    topology
        Index in the instance.
    tasks
        Its executors in the order in which Java would add up what they ask for.
    counts
        Component index -> executors of it.
    cpu, charged
        Cpu of its executors, and what counts on the node: at least the least cpu of a worker.
    onheap, offheap
        MB with shared regions of the worker, not those of the node.
    generic
        Of each generic resource.
    regions
        Indices of the shared regions that its executors touch.
    """

    topology: int
    tasks: tuple[int, ...]
    counts: dict[int, int]
    cpu: float
    charged: float
    onheap: float
    offheap: float
    generic: tuple[float, ...]
    regions: frozenset[int]


def worker_of(
    topology: RasTopology, index: int, tasks: Sequence[int], least_cpu: float
) -> RasWorker:
    """Return the worker of `tasks`, added up in their order."""
    cpu = onheap = offheap = 0.0
    generic = [0.0] * len(topology.components[topology.component_of[tasks[0]]].need.generic)
    counts: dict[int, int] = {}
    regions: dict[int, None] = {}
    for task in tasks:
        c = topology.component_of[task]
        component = topology.components[c]
        need = component.need
        cpu += need.cpu
        onheap += need.onheap
        offheap += need.offheap
        for g, amount in enumerate(need.generic):
            generic[g] += amount
        counts[c] = counts.get(c, 0) + 1
        regions.update(dict.fromkeys(component.regions))
    for r in topology.in_set(regions):
        offheap += topology.regions[r].offheap_worker
        onheap += topology.regions[r].onheap
    charged = max(cpu, least_cpu)
    held = frozenset(regions)
    return RasWorker(
        index, tuple(tasks), counts, cpu, charged, onheap, offheap, tuple(generic), held
    )


def with_task(
    topology: RasTopology, index: int, worker: RasWorker | None, task: int, least_cpu: float
) -> RasWorker:
    """Return the worker with one more executor, added up in the order of Java's set of them."""
    before = () if worker is None else worker.tasks
    return worker_of(topology, index, set_order((task, *before), executor_hash), least_cpu)


def with_task_exactly(
    topology: RasTopology, index: int, worker: RasWorker | None, task: int, least_cpu: float
) -> RasWorker:
    """Return the same where no sum of doubles is ever rounded: by adding to what is there."""
    c = topology.component_of[task]
    component = topology.components[c]
    need = component.need
    if worker is None:
        return worker_of(topology, index, (task,), least_cpu)
    cpu = worker.cpu + need.cpu
    onheap, offheap = worker.onheap + need.onheap, worker.offheap + need.offheap
    regions = worker.regions
    for r in component.regions:
        if r not in regions:
            onheap += topology.regions[r].onheap
            offheap += topology.regions[r].offheap_worker
            regions = regions | {r}
    generic = worker.generic
    if generic:
        generic = tuple([a + b for a, b in zip(generic, need.generic, strict=True)])
    counts = dict(worker.counts)
    counts[c] = counts.get(c, 0) + 1
    charged = cpu if cpu > least_cpu else least_cpu
    return RasWorker(
        index, (*worker.tasks, task), counts, cpu, charged, onheap, offheap, generic, regions
    )
