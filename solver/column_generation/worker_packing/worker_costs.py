"""What a worker of a topology costs on a node, beyond what its tasks need, and in which respects.

The costs decide between splits (`pareto_splits`): of a fresh worker, and of one that some tasks
have their home in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import NODE, WORKER, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.params import PackingParams
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.structure.dominance import lexicographic_rank
from slotwise.solver.structure.node_types import home_labels
from slotwise.solver.structure.task_types import TaskTypes, flow_inside

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


def shared_and_heap(
    problem: Problem, topology: int, firsts: Sequence[int], counts: IntArray
) -> tuple[IntArray, IntArray]:
    """Return [W] memory that the tasks of a worker share, and [W] the heap that it needs.

    Parameters
    ----------
    firsts
        [k] a class of each kind.
    counts
        [W, k] tasks of each kind in a worker of the topology.
    """
    shared = np.zeros(len(counts), dtype=np.int64)
    heap = counts @ problem.heap[firsts]
    for region in problem.regions:
        if region.topology == topology and region.kind != "offheap_node":
            users = np.isin(firsts, region.classes)
            size = region.size * (counts[:, users] > 0).any(axis=1)
            shared += size
            heap = heap + (size if region.kind == "onheap" else 0)
    return shared, heap


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
    costs[:, MEMORY], heap = shared_and_heap(problem, topology, firsts, counts)
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


def split_criteria(problem: Problem, node: int, costs: IntArray) -> IntArray:
    """Return [S, ..] what decides between splits of the same tasks on the node, less is better.

    Of `costs` [S, 5]: what takes room, and the shares of the terms.
    """
    room = {
        WORKERS: bool(problem.slots[node] < problem.task_count),
        CPU: problem.min_worker_cpu > 0,
        MEMORY: bool(problem.regions),
    }
    scarce = [cost for cost, matters in room.items() if matters]
    criteria = criteria_of(problem, costs @ _shares(problem).T, costs[:, MOVED])
    return np.concatenate([costs[:, scarce], criteria], axis=1)


def network_first(problem: Problem) -> bool:
    """Return whether flow between two workers of a node costs more than any number of moves.

    It does where the network is in a term before those that count moves, and moves have no limit.
    """
    dearer = problem.distance[NODE] > problem.distance[WORKER]
    if problem.move_limit != NO_LIMIT or not dearer:
        return False
    for term in problem.terms:
        parts = dict(term.parts)
        if "moved" in parts:
            return False
        if "network" in parts:
            return True
    return False


def criteria_of(problem: Problem, shares: IntArray, moved: IntArray) -> IntArray:
    """Return [S, ..] what decides between rows of the same tasks that take the same room.

    By `shares` [S, T] of the terms: their lexicographic rank. A limit of moves counts the `moved`
    [S] of all nodes together, so there each term and the moves decide on their own.
    """
    if problem.move_limit == NO_LIMIT:
        return lexicographic_rank(shares)
    return np.concatenate([shares, moved[:, None]], axis=1)


def _shares(problem: Problem) -> IntArray:
    """Return [T, 5] the weight of each cost of a split in each term that it enters."""
    in_worker = int(problem.distance[NODE] - problem.distance[WORKER])
    enters = {"network": (NETWORK, in_worker), "workers": (WORKERS, 1), "moved": (MOVED, 1)}
    rows = []
    for term in problem.terms:
        row = [0] * 5
        for part, multiplier in term.parts:
            if part in enters:
                cost, weight = enters[part]
                row[cost] += multiplier * weight
        if any(row):
            rows.append(row)
    return np.array(rows, dtype=np.int64).reshape(len(rows), 5)


# All configurations of one worker of a topology, as the rules of its workers allow.


def worker_configurations(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    most: IntArray,
    params: PackingParams,
    token: RunToken,
    node: int | None = None,
) -> IntArray:
    """Return [W, k] all configurations of one worker but the empty one, up to `most` [k].

    Shared memory and least cpu aside; with a node, only those that fit its hard capacities.
    """
    rules = problem.rules[topology]
    columns = np.flatnonzero(kinds.topology == topology)
    room = np.full(len(problem.dims), NO_LIMIT, dtype=np.int64)
    if node is not None:
        room[problem.hard] = problem.capacity[node, problem.hard]
    heap = np.array([problem.heap[kinds.members[k][0]] for k in columns.tolist()], dtype=np.int64)
    component = [problem.classes[kinds.members[k][0]].component for k in columns.tolist()]
    rows = np.zeros((1, 0), dtype=np.int64)
    used = np.zeros(1, dtype=np.int64)
    load = np.zeros((1, len(room)), dtype=np.int64)
    for k in range(len(columns)):
        token.check()
        rivals = [j for j in range(k) if rules.keeps_apart(component[j], component[k])]
        alone = rules.keeps_apart(component[k], component[k])
        steps = np.arange(min(int(most[k]), 1 if alone else NO_LIMIT) + 1, dtype=np.int64)
        if len(rows) * len(steps) > params.max_entries:
            raise NotTakenError(
                f"a worker has more than {params.max_configurations:,} configurations"
            )
        size = 10 * len(rows) * len(steps) * (len(room) + 2)
        token.check_room(size, "the configurations of a worker")
        heaps = used[:, None] + steps[None, :] * heap[k]
        loads = load[:, None, :] + steps[None, :, None] * kinds.demand[columns[k]]
        fits: BoolArray = (heaps <= rules.heap_limit) & (loads <= room).all(axis=2)
        with_rivals = np.flatnonzero(rows[:, rivals].any(axis=1))
        fits[with_rivals, 1:] = False
        if int(fits.sum()) > params.max_configurations:
            raise NotTakenError(
                f"a worker has more than {params.max_configurations:,} configurations"
            )
        row, step = np.nonzero(fits)
        rows = np.concatenate([rows[row], steps[step][:, None]], axis=1)
        used, load = heaps[row, step], loads[row, step]
    return rows[rows.any(axis=1)]
