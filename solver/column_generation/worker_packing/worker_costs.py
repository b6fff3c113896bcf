"""What a worker of a topology costs on a node, beyond what its tasks need, and in which respects.

The costs decide between splits (`pareto_splits`): of a fresh worker, and of one that some tasks
have their home in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import IntArray, Problem
from slotwise.solver.column_generation.params import PackingParams
from slotwise.solver.column_generation.worker_packing.worker_configurations import (
    worker_configurations,
)
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.task_types import TaskTypes, flow_inside
from slotwise.solver.structure.worker_layout import home_labels

WORKERS, CPU, MEMORY, NETWORK, MOVED = range(5)
"""Costs of a split: workers; cpu and memory beyond what the tasks need; minus the flow inside
workers; minus the tasks that stay at home."""


@dataclass(frozen=True, slots=True, eq=False)
class WorkerConfigurations:
    """What one worker can hold: [W, k] counts, [W, 5] costs, [W] first kind, by first kind.

    `label` is the home it has, ``None`` for a fresh worker.
    """

    counts: IntArray
    costs: IntArray
    label: int | None

    @property
    def firsts(self) -> IntArray:
        """The first kind of each."""
        return np.asarray((self.counts > 0).argmax(axis=1), dtype=np.int64)


def costed_configurations(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    node: int,
    params: PackingParams,
    token: RunToken,
) -> tuple[WorkerConfigurations, ...]:
    """Return the configurations of a fresh worker, then those of each home on the node."""
    columns = np.flatnonzero(kinds.topology == topology)
    most = kinds.sizes[columns]
    counts = worker_configurations(problem, kinds, topology, most, params, token, node)
    costs = np.zeros((len(counts), 5), dtype=np.int64)
    costs[:, WORKERS] = 1
    flow = kinds.flow[np.ix_(columns, columns)]
    costs[:, NETWORK] = -flow_inside(flow, counts)
    firsts = [kinds.members[k][0] for k in columns.tolist()]
    heap = counts @ problem.heap[firsts]
    for region in problem.regions:
        if region.topology == topology and region.kind != "offheap_node":
            users = np.isin(firsts, region.classes)
            size = region.size * (counts[:, users] > 0).any(axis=1)
            costs[:, MEMORY] += size
            heap = heap + (size if region.kind == "onheap" else 0)
    if problem.cpu is not None:
        cpu = counts @ problem.demand[firsts, problem.cpu]
        costs[:, CPU] = np.maximum(problem.min_worker_cpu - cpu, 0)
    fits = heap <= problem.rules[topology].heap_limit
    order = np.argsort((counts[fits] > 0).argmax(axis=1), kind="stable")
    fresh = WorkerConfigurations(counts[fits][order], costs[fits][order], None)
    labels = home_labels(problem, topology).get(node, ())
    homes = (_at_home(problem, kinds, columns, fresh, (node, label)) for label in labels)
    return (fresh, *homes)


def _at_home(
    problem: Problem,
    kinds: TaskTypes,
    columns: IntArray,
    fresh: WorkerConfigurations,
    home: tuple[int, int],
) -> WorkerConfigurations:
    """Return the configurations that hold some task whose home this is."""
    homed = [
        sum(problem.classes[c].size for c in kinds.members[k] if problem.classes[c].home == home)
        for k in columns.tolist()
    ]
    stay = np.minimum(fresh.counts, np.array(homed, dtype=np.int64)).sum(axis=1)
    costs = fresh.costs.copy()
    costs[:, MOVED] = -stay
    return WorkerConfigurations(fresh.counts[stay > 0], costs[stay > 0], home[1])


def relevant_costs(problem: Problem, node: int) -> list[int]:
    """Return the costs that can make a difference on the node."""
    parts = {part for term in problem.terms for part, _ in term.parts}
    able = {
        WORKERS: "workers" in parts or bool(problem.slots[node] < problem.task_count),
        CPU: problem.min_worker_cpu > 0,
        MEMORY: bool(problem.regions),
        NETWORK: "network" in parts,
        MOVED: problem.counts_moves,
    }
    return [cost for cost, matters in able.items() if matters]
