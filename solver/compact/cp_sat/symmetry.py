"""Symmetry of the compact model: equal places are ordered by what they hold.

Sound together: the order of workers concerns the inside of a node, that of nodes the inside of a
rack, that of racks whole racks; each is reached by exchanging equal places of its own level,
which leaves the sums that the other orders compare as they are or moves them along whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ortools.sat.python import cp_model

from slotwise.models.problem.problem import Problem
from slotwise.solver.compact.cp_sat.variables import Count, Counts
from slotwise.solver.structure.node_types import equal_nodes, equal_racks


def break_symmetry(model: cp_model.CpModel, problem: Problem, counts: Counts) -> None:
    """Order interchangeable workers, nodes, racks and (by matrix) tasks."""
    order_workers(model, counts)
    if problem.matrix is None:
        keys = [_key(problem, counts, n) for n in range(problem.node_count)]
        for nodes in equal_nodes(problem):
            _descending(model, [keys[n] for n in nodes])
        for racks in equal_racks(problem):
            _descending(model, [sum(keys[n] for n in nodes) for nodes in racks])
    else:
        _order_tasks(model, problem, counts)


def _descending(model: cp_model.CpModel, keys: Sequence[Count]) -> None:
    for more, less in pairwise(keys):
        model.add(more >= less)


def _key(problem: Problem, counts: Counts, node: int) -> Count:
    """Return a count that tells nodes apart as far as one sum can: a mixed sum of all counts."""
    return sum(
        (g + 1) * count
        for t in range(len(problem.rules))
        for worker in counts.workers[t, node]
        for g, count in worker.counts.items()
    )


def order_workers(model: cp_model.CpModel, counts: Counts) -> None:
    """Order fresh workers of one topology on one node by their number of tasks."""
    for workers in counts.workers.values():
        fresh = [sum(w.counts.values()) for w in workers if w.label is None]
        _descending(model, fresh)


def _order_tasks(model: cp_model.CpModel, problem: Problem, counts: Counts) -> None:
    """Order the single tasks of a class by the index of their node; all or none are placed.

    Only where a node has one worker of the topology, so that the node says all.
    """
    for c, one in enumerate(problem.classes):
        groups = counts.groups_of((c,))
        nodes = range(problem.node_count)
        if any(len(counts.workers[one.topology, n]) > 1 for n in nodes):
            continue
        _descending(
            model,
            [sum(n * counts.on_node(one.topology, g, n) for n in nodes) for g in groups],
        )
