"""A topology that fits one node whole: its workers are the places, its node is one rack.

Where there is one node only, or `reduce_nodes` leaves one, the tasks have to be shared out
among workers that differ in nothing: a flat problem with heaps for capacities, and as many places
as the node has slots or workers could be of use (docs/design.md, 8.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import NODE, WORKER, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.structure.node_types import most_tasks, worker_count
from slotwise.solver.structure.separability import only_network_counts


@dataclass(frozen=True, slots=True, eq=False)
class SingleNode:
    """The problem whose nodes are the workers of one node, and the way back."""

    problem: Problem

    def restore(self, placement: Placement) -> Placement:
        """Return the placement on the one node of the original problem."""
        return Placement((0,) * len(placement.nodes), placement.nodes)

    def project(self, placement: Placement) -> Placement | None:
        """Return a placement on the one node by workers; ``None`` if it uses too many."""
        index = {label: i for i, label in enumerate(dict.fromkeys(placement.workers))}
        if UNPLACED in index or len(index) > self.problem.node_count:
            return None
        nodes = tuple(index[label] for label in placement.workers)
        return Placement(nodes, (0,) * len(nodes))


def as_one_node(problem: Problem, token: CancellationToken) -> SingleNode | None:
    """Return the problem of a single node's workers; ``None`` where it is not just that.

    It is where there is one node, it has room for all tasks, these are of one topology, and
    nothing but heaps keeps them apart.
    """
    topologies = [t for t, rules in enumerate(problem.rules) if rules.classes]
    if problem.node_count != 1 or problem.matrix is not None or len(topologies) != 1:
        return None
    rules = problem.rules[topologies[0]]
    useful = worker_count(problem, topologies[0], 0, most_tasks(problem), token)
    workers = min(useful, int(problem.slots[0]))
    total = np.array(problem.sizes, dtype=np.int64) @ problem.demand
    if (
        problem.regions
        or problem.linear is not None
        or least_cpu_may_bind(problem, 0, workers)
        or problem.move_limit != NO_LIMIT
        or rules.one_component_per_worker
        or rules.one_task_per_worker
        or rules.incompatible
        or rules.max_per_node
        or rules.heap_limit == NO_LIMIT
        or (total > problem.capacity[0]).any()
        or not workers
        or not only_network_counts(problem)
    ):
        return None
    near, far = int(problem.distance[WORKER]), int(problem.distance[NODE])
    freed = tuple(replace(one, heap_limit=NO_LIMIT) for one in problem.rules)
    return SingleNode(
        replace(
            problem,
            instance=_of_workers(problem.instance, workers),
            dims=("onheap_mb",),
            units=(problem.units[0],),
            capacity=np.full((workers, 1), rules.heap_limit, dtype=np.int64),
            soft_weight=np.zeros(1, dtype=np.int64),
            hard=np.ones(1, dtype=np.bool_),
            slots=np.ones(workers, dtype=np.int64),
            node_rack=np.zeros(workers, dtype=np.int64),
            racks=problem.racks[:1],
            demand=problem.heap[:, None].copy(),
            heap=np.zeros_like(problem.heap),
            distance=np.array([near, near, far, far], dtype=np.int64),
            rules=freed,
            min_worker_cpu=0,
            cpu=None,
            memory=None,
        )
    )


def least_cpu_may_bind(problem: Problem, node: int, workers: int | Fraction) -> bool:
    """Return whether all tasks, in at most `workers` workers of a node, may count too much cpu.

    A worker counts at most the least cpu more than its tasks.
    """
    if problem.cpu is None or not problem.min_worker_cpu:
        return False
    total = int(np.array(problem.sizes, dtype=np.int64) @ problem.demand[:, problem.cpu])
    return bool(total + workers * problem.min_worker_cpu > problem.capacity[node, problem.cpu])


def _of_workers(instance: Instance, count: int) -> Instance:
    """Return the instance with a node for each worker, so messages can name workers."""
    nodes = tuple(Node(f"worker {i}", "node") for i in range(count))
    objective = replace(instance.objective, soft={}, limits={})  # no limit of moves binds here
    cluster = Cluster(nodes)
    return replace(instance, cluster=cluster, running=None, linear=(), objective=objective)
