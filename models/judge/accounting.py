"""What a placement puts where: task counts per worker and node, and the loads they make.

Counts of classes per place, never pairs of tasks: a topology of thousands of tasks and millions
of communicating pairs is a few small matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.problem.problem import BoolArray, IntArray, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Workers:
    """The workers of one topology, ascending by node, then label.

    Parameters
    ----------
    classes
        [K] the topology's classes, the columns of `counts`.
    placed
        Number of its tasks that are placed.
    node, label
        [G] node index and label of each worker.
    counts
        [G, K] tasks of each class in each worker.
    load
        [G, D] what each worker takes from its node: tasks, shared regions of the worker, and the
        least cpu of a worker (Storm 3.0's ``Cluster.calculateWorkerResources``).
    heap
        [G] on-heap memory with shared on-heap regions.
    node_ids
        [M] the nodes in use, ascending.
    node_of
        [G] index into `node_ids`.
    node_counts
        [M, K] tasks of each class on each node.
    node_extra
        [M] memory of shared regions counted once per node.
    """

    classes: IntArray
    placed: int
    node: IntArray
    label: IntArray
    counts: IntArray
    load: IntArray
    heap: IntArray
    node_ids: IntArray
    node_of: IntArray
    node_counts: IntArray
    node_extra: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Accounting:
    """All workers of a placement, one `Workers` per topology, and the load [N, D] of each node."""

    topologies: tuple[Workers, ...]
    node_load: IntArray

    def worker_nodes(self) -> IntArray:
        """Return the node of each worker in use, ascending.

        A worker with tasks of two topologies, which no rule allows, is one worker.
        """
        none = np.empty(0, dtype=np.int64)
        nodes = np.concatenate([none, *(workers.node for workers in self.topologies)])
        labels = np.concatenate([none, *(workers.label for workers in self.topologies)])
        order = np.lexsort((labels, nodes))
        nodes, labels = nodes[order], labels[order]
        first = np.ones(len(nodes), dtype=np.bool_)
        first[1:] = (nodes[1:] != nodes[:-1]) | (labels[1:] != labels[:-1])
        return nodes[first]


def account(problem: Problem, placement: Placement) -> Accounting:
    """Return what `placement` puts where; unplaced tasks put nothing anywhere."""
    nodes = np.asarray(placement.nodes, dtype=np.int64)
    labels = np.asarray(placement.workers, dtype=np.int64)
    topologies = tuple(_workers(problem, t, nodes, labels) for t in range(len(problem.rules)))
    node_load = np.zeros_like(problem.capacity)
    for workers in topologies:
        np.add.at(node_load, workers.node, workers.load)
        if problem.memory is not None:
            np.add.at(node_load[:, problem.memory], workers.node_ids, workers.node_extra)
    return Accounting(topologies, node_load)


def _workers(problem: Problem, topology: int, nodes: IntArray, labels: IntArray) -> Workers:
    classes = np.asarray(problem.rules[topology].classes, dtype=np.int64)
    tasks = np.asarray([task for c in classes for task in problem.classes[c].tasks], dtype=np.int64)
    column = np.repeat(np.arange(len(classes)), [problem.classes[c].size for c in classes])
    placed = nodes[tasks] != UNPLACED
    tasks, column = tasks[placed], column[placed]
    keys = np.stack([nodes[tasks], labels[tasks]], axis=1)
    unique, worker_of = np.unique(keys, axis=0, return_inverse=True)
    counts = _counts(worker_of.reshape(-1), column, len(unique), len(classes))
    node_ids, node_of = np.unique(unique[:, 0], return_inverse=True)
    node_counts = _counts(node_of[worker_of.reshape(-1)], column, len(node_ids), len(classes))
    load, heap = _worker_loads(problem, topology, classes, counts)
    return Workers(
        classes=classes,
        placed=len(tasks),
        node=unique[:, 0],
        label=unique[:, 1],
        counts=counts,
        load=load,
        heap=heap,
        node_ids=node_ids,
        node_of=node_of,
        node_counts=node_counts,
        node_extra=_node_extra(problem, topology, classes, node_counts),
    )


def _counts(rows: IntArray, columns: IntArray, height: int, width: int) -> IntArray:
    """Return how often each pair occurs; columns lie together, for flows pair them."""
    flat = np.bincount(columns * height + rows, minlength=height * width)
    return flat.astype(np.int64, copy=False).reshape(width, height).T


def _worker_loads(
    problem: Problem, topology: int, classes: IntArray, counts: IntArray
) -> tuple[IntArray, IntArray]:
    load = counts @ problem.demand[classes]
    heap = counts @ problem.heap[classes]
    for region in problem.regions:
        if region.topology != topology or region.kind == "offheap_node":
            continue
        assert problem.memory is not None, "a region gives the problem a memory dimension"
        size = region.size * touches(counts, classes, region.classes)
        load[:, problem.memory] += size
        if region.kind == "onheap":
            heap += size
    if problem.cpu is not None and problem.min_worker_cpu:
        load[:, problem.cpu] = np.maximum(load[:, problem.cpu], problem.min_worker_cpu)
    return load, heap


def _node_extra(
    problem: Problem, topology: int, classes: IntArray, node_counts: IntArray
) -> IntArray:
    extra = np.zeros(len(node_counts), dtype=np.int64)
    for region in problem.regions:
        if region.topology == topology and region.kind == "offheap_node":
            extra += region.size * touches(node_counts, classes, region.classes)
    return extra


def touches(counts: IntArray, classes: IntArray, wanted: tuple[int, ...]) -> BoolArray:
    """Return, per row of `counts`, whether it holds a task of one of the `wanted` classes."""
    columns = np.isin(classes, np.asarray(wanted, dtype=np.int64))
    return np.asarray((counts[:, columns] > 0).any(axis=1), dtype=np.bool_)
