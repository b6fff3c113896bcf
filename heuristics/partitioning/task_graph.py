"""The tasks of a problem as a graph to partition.

The weight of a task is its ``cpu`` and the capacity of a node its cpu; where no task needs cpu,
each weighs 1 and a node takes its task slots (`node_capacity`). The weight of an edge is the flow
of the two tasks, both directions added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.heuristics.node_capacity import computation, task_costs, task_slots
from slotwise.heuristics.partitioning.partition import FloatArray
from slotwise.models.graph_files.csr import CsrGraph, from_edges
from slotwise.models.graph_files.vertex_stream import IdArray
from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """The tasks of a problem as a graph.

    Parameters
    ----------
    weights
        [T] of the tasks.
    capacities
        [N] of the nodes, in the same unit.
    edge_weight
        Sum of all flows, an edge counted once.
    """

    problem: Problem
    weights: FloatArray
    capacities: FloatArray
    edge_weight: float

    @property
    def sizes(self) -> FloatArray:
        """[N] the nodes' shares of all capacity; where there is none, equal ones."""
        total = self.capacities.sum()
        if not total:
            return np.full(len(self.capacities), 1 / len(self.capacities))
        shares: FloatArray = self.capacities / total
        return shares

    def whole(self) -> CsrGraph:
        """Return the graph with all its edges."""
        pairs: list[IdArray] = [np.empty((0, 2), dtype=np.int32)]
        flows = [np.empty(0)]
        for (a, b), flow in self.problem.pair_flows().items():
            one, other = (np.array(self.problem.classes[c].tasks) for c in (a, b))
            if flow:
                ends = (np.repeat(one, len(other)), np.tile(other, len(one)))
                pairs.append(np.stack(ends, axis=1).astype(np.int32))
                flows.append(np.full(len(one) * len(other), float(flow)))
        return from_edges(np.concatenate(pairs), np.concatenate(flows), self.weights)


def task_graph(problem: Problem) -> TaskGraph:
    """Return the graph of a problem."""
    costs, capacities = [1] * len(problem.classes), task_slots(problem)
    if problem.cpu is not None and any(task_costs(problem)):
        costs, capacities = task_costs(problem), computation(problem)
    sizes = problem.sizes
    flows = problem.pair_flows().items()
    return TaskGraph(
        problem,
        np.array(costs, dtype=float)[problem.task_class],
        np.array(capacities, dtype=float),
        float(sum(flow * sizes[a] * sizes[b] for (a, b), flow in flows)),
    )
