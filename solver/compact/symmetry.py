"""Symmetry of the compact model: equal places are ordered by what they hold.

Sound together: the order of workers concerns the inside of a node, that of nodes the inside of a
rack, that of racks whole racks; each is reached by exchanging equal places of its own level,
which leaves the sums that the other orders compare as they are or moves them along whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.builder import E, ModelBuilder
from slotwise.solver.compact.variables import Counts
from slotwise.solver.structure.node_types import equal_nodes, equal_racks


def break_symmetry(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> None:
    """Order interchangeable workers, nodes, racks and (by matrix) tasks."""
    order_workers(model, counts)
    if problem.matrix is not None:
        _order_tasks(model, problem, counts)
        return
    keys = [_key(model, problem, counts, n) for n in range(problem.node_count)]
    for nodes in equal_nodes(problem):
        _descending(model, "order_nodes", [keys[n] for n in nodes])
    for racks in equal_racks(problem):
        sums = [model.total(keys[n] for n in nodes) for nodes in racks]
        _descending(model, "order_racks", sums)


def _descending(model: ModelBuilder[E], name: str, keys: Sequence[E]) -> None:
    for more, less in pairwise(keys):
        model.at_least(name, more, less)


def _key(model: ModelBuilder[E], problem: Problem, counts: Counts[E], node: int) -> E:
    """Return a count that tells nodes apart as far as one sum can: a mixed sum of all counts."""
    return model.total(
        (g + 1) * count
        for t in range(len(problem.rules))
        for worker in counts.workers[t, node]
        for g, count in worker.counts.items()
    )


def order_workers(model: ModelBuilder[E], counts: Counts[E]) -> None:
    """Order fresh workers of one topology on one node by their number of tasks."""
    for workers in counts.workers.values():
        fresh = [model.total(w.counts.values()) for w in workers if w.label is None]
        _descending(model, "order_workers", fresh)


def _order_tasks(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> None:
    """Order the single tasks of a class by the index of their node; all or none are placed.

    Only where a node has one worker of the topology, so that the node says all.
    """
    nodes = range(problem.node_count)
    for c, one in enumerate(problem.classes):
        if any(len(counts.workers[one.topology, n]) > 1 for n in nodes):
            continue
        keys = [
            model.total(n * counts.on_node(model, one.topology, g, n) for n in nodes)
            for g in counts.groups_of((c,))
        ]
        _descending(model, "order_tasks", keys)
