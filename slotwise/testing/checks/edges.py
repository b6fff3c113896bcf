"""Instances for which a placement is just wrong.

It breaks one rule of theirs, by one unit or task (`edges`); or their distances are large where it
has its tasks (`far_apart`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import Placement, tasks_by_worker, to_places
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.values import as_decimal


def edges(instance: Instance, placement: Placement) -> Iterator[Instance]:
    """Yield for each rule the instance with one unit or task too little for `placement`.

    For ``capacity``, resource by resource, and ``slots`` every node that it uses is short; for
    ``heap``, ``max_per_node``, ``incompatible``, ``one_task_per_worker`` and
    ``one_component_per_worker`` every topology has the rule where its tasks together break it; for
    ``max_moved`` one task fewer may move than does, or all run there but one, which may not move.
    Rules that it cannot break in this way are left out. Nothing is yielded for a placement that
    breaks a rule already.
    """
    verdict = judge(instance, placement)
    if not verdict.valid:
        return
    yield from _capacity(instance, verdict)
    yield from _slots(instance, verdict)
    yield from _heap(instance, verdict)
    components = _components_by_worker(instance, placement)
    for rule in (_one_task, _one_component, _incompatible):
        yield from _changed(instance, lambda one, rule=rule: rule(one, components))  # type: ignore[misc]
    on_nodes = _most_on_a_node(instance, placement)
    yield from _changed(instance, lambda one: _max_per_node(one, on_nodes))
    yield from _moves(instance, placement, verdict)


def _capacity(instance: Instance, verdict: Verdict) -> Iterator[Instance]:
    problem, load = verdict.problem, verdict.accounting.node_load
    for d, key in enumerate(problem.dims):
        if key in instance.objective.soft or not load[:, d].any():
            continue
        nodes = []
        for n, node in enumerate(instance.cluster.nodes):
            used = int(load[n, d])
            short = as_decimal((used - 1) * problem.units[d]) if used else None
            resources = {**node.resources, key: short} if used else node.resources
            nodes.append(replace(node, resources=resources))
        yield replace(instance, cluster=replace(instance.cluster, nodes=tuple(nodes)))


def _slots(instance: Instance, verdict: Verdict) -> Iterator[Instance]:
    used = Counter(verdict.accounting.worker_nodes().tolist())
    nodes = tuple(
        replace(node, slots=used[n] - 1) if used[n] else node
        for n, node in enumerate(instance.cluster.nodes)
    )
    if used:
        yield replace(instance, cluster=replace(instance.cluster, nodes=nodes))


def _heap(instance: Instance, verdict: Verdict) -> Iterator[Instance]:
    problem = verdict.problem
    if problem.memory is None:
        return
    unit = problem.units[problem.memory]
    heaps = {
        rules.id: int(max(workers.heap, default=0))
        for rules, workers in zip(problem.rules, verdict.accounting.topologies, strict=True)
    }

    def shorter(topology: Topology) -> Topology:
        heap = heaps[topology.id]
        most = as_decimal((heap - 1) * unit) if heap else topology.worker_max_heap_mb
        return replace(topology, worker_max_heap_mb=most)

    yield from _changed(instance, shorter)


def _changed(instance: Instance, change: Callable[[Topology], Topology]) -> Iterator[Instance]:
    """Yield the instance with its topologies changed, if that changes any."""
    topologies = tuple(map(change, instance.topologies))
    if topologies != instance.topologies:
        yield replace(instance, topologies=topologies)


Workers = dict[str, list[Counter[str]]]
"""Topology -> for each of its workers, component -> tasks."""


def _one_task(topology: Topology, workers: Workers) -> Topology:
    shared = any(worker.total() > 1 for worker in workers[topology.id])
    return replace(topology, one_task_per_worker=True) if shared else topology


def _one_component(topology: Topology, workers: Workers) -> Topology:
    shared = any(len(worker) > 1 for worker in workers[topology.id])
    is_stricter = topology.one_task_per_worker
    return (
        replace(topology, one_component_per_worker=True) if shared and not is_stricter else topology
    )


def _incompatible(topology: Topology, workers: Workers) -> Topology:
    rules = topology.constraints
    together = {
        *(pair for worker in workers[topology.id] for pair in combinations(sorted(worker), 2)),
        *((key, key) for one in workers[topology.id] for key, count in one.items() if count > 1),
    }
    if not together:
        return topology
    pairs = (*rules.incompatible, min(together))
    return replace(topology, constraints=replace(rules, incompatible=pairs))


def _max_per_node(topology: Topology, on_nodes: dict[tuple[str, str], int]) -> Topology:
    rules = topology.constraints
    fewer = {
        component: count - 1
        for (key, component), count in on_nodes.items()
        if key == topology.id and count > 1
    }
    most = {**rules.max_per_node, **fewer}
    return replace(topology, constraints=replace(rules, max_per_node=most))


def _moves(instance: Instance, placement: Placement, verdict: Verdict) -> Iterator[Instance]:
    moved, running = int(verdict.parts["moved"]), instance.running
    if not moved:
        places = to_places(instance, placement)
        if not places:
            return
        running, tasks = places, next(iter(places.values()))
        task, here = next(iter(tasks.items()))
        others = [node.id for node in instance.cluster.nodes if node.id != here.node]
        tasks[task] = Place(next(iter(others), here.node), 1 + max(placement.workers))
        moved = 1
    limits = {**instance.objective.limits, "moved": moved - 1}
    objective = replace(instance.objective, limits=limits)
    yield replace(instance, running=running, objective=objective)


def _components_by_worker(instance: Instance, placement: Placement) -> Workers:
    workers: Workers = {topology.id: [] for topology in instance.topologies}
    for (topology, _, _), tasks in tasks_by_worker(instance, placement).items():
        workers[topology].append(Counter(map(_component, tasks)))
    return workers


def _most_on_a_node(instance: Instance, placement: Placement) -> dict[tuple[str, str], int]:
    """Return (topology, component) -> most of its tasks on a node."""
    on_node: Counter[tuple[str, str, int]] = Counter()
    for (topology, node, _), tasks in tasks_by_worker(instance, placement).items():
        on_node.update((topology, _component(task), node) for task in tasks)
    most: dict[tuple[str, str], int] = {}
    for (topology, component, _), count in on_node.items():
        most[topology, component] = max(most.get((topology, component), 0), count)
    return most


def _component(task: str) -> str:
    return task.rpartition("[")[0]


NEAR, FAR = Decimal(1), Decimal(3)


def far_apart(instance: Instance, placement: Placement) -> Iterator[Instance]:
    """Yield the instance with distances by which other nodes are nearer to each other.

    First by racks: the first node that is used is alone in one, and the others have slots for all.
    Then by a matrix. Tasks that share a worker pay nothing for streams, so each gets one of its
    own. Nothing is yielded where that makes no difference: on a single node, or where the network
    costs nothing.
    """
    cluster = instance.cluster
    used = set(placement.nodes)
    if len(cluster.nodes) < 2 or "network" not in instance.objective.parts:
        return
    if not any(topology.streams for topology in instance.topologies):
        return
    count = range(len(cluster.nodes))
    matrix = tuple(tuple(FAR if {i, j} <= used else NEAR for j in count) for i in count)
    alone = tuple(replace(one, one_task_per_worker=True) for one in instance.topologies)
    apart = replace(instance, topologies=alone)
    if len(cluster.nodes) > 2:
        yield _one_alone(apart, min(used), -(-len(placement.nodes) // (len(cluster.nodes) - 1)))
    yield replace(apart, cluster=replace(cluster, matrix=matrix))


def _one_alone(instance: Instance, alone: int, slots: int) -> Instance:
    nodes = tuple(
        replace(node, slots=slots, rack="alone" if n == alone else "together")
        for n, node in enumerate(instance.cluster.nodes)
    )
    return replace(instance, cluster=instance.cluster.with_nodes(nodes, None))
