"""Changes of one worker: what it may hold after at most K moves, and what it then costs."""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.core.memory import RunToken
from slotwise.solver.few_moves.changes import Changes
from slotwise.solver.structure.task_types import TaskTypes, flow_inside

WORKERS, CPU, MEMORY, NETWORK = range(4)
"""Costs of a worker: itself; cpu and memory beyond what its tasks need; minus the flow inside."""


def worker_changes(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    held: IntArray,
    most: int,
    token: RunToken,
) -> Changes:
    """Return the changes of a worker that holds `held` [K] of its topology now.

    A fresh worker holds nothing. Those that break a rule of the worker are left out.
    """
    own = np.flatnonzero(kinds.topology == topology)
    net = np.zeros((1, len(own)), dtype=np.int64)
    for column, kind in enumerate(own.tolist()):
        token.check()
        least = -min(most, int(held[kind]))
        largest = min(most, int(kinds.sizes[kind] - held[kind]))
        steps = np.arange(least, largest + 1)
        used = np.abs(net).sum(axis=1)[:, None] + np.abs(steps)[None, :]
        row, step = np.nonzero(used <= most)
        net = net[row]
        net[:, column] = steps[step]
    counts = held[own][None, :] + net
    costs, allowed = _costs(problem, kinds, topology, own, counts)
    whole = np.zeros((len(net), kinds.count), dtype=np.int64)
    whole[:, own] = net
    moves = np.maximum(-net, 0).sum(axis=1)
    return Changes(whole[allowed], moves[allowed], costs[allowed])


def _costs(
    problem: Problem, kinds: TaskTypes, topology: int, own: IntArray, counts: IntArray
) -> tuple[IntArray, BoolArray]:
    """Return [S, 4] costs of workers that hold `counts` [S, k], and which keep their rules."""
    rules = problem.rules[topology]
    firsts = [kinds.members[k][0] for k in own.tolist()]
    used = counts.any(axis=1)
    costs = np.zeros((len(counts), 4), dtype=np.int64)
    costs[:, WORKERS] = used
    costs[:, NETWORK] = -flow_inside(kinds.flow[np.ix_(own, own)], counts)
    heap = counts @ problem.heap[firsts]
    for region in problem.regions:
        if region.topology == topology and region.kind != "offheap_node":
            users = np.isin(firsts, region.classes)
            size = region.size * (counts[:, users] > 0).any(axis=1)
            costs[:, MEMORY] += size
            heap = heap + (size if region.kind == "onheap" else 0)
    if problem.cpu is not None:
        cpu = counts @ problem.demand[firsts, problem.cpu]
        costs[:, CPU] = used * np.maximum(problem.min_worker_cpu - cpu, 0)
    allowed = heap <= rules.heap_limit
    component = [problem.classes[c].component for c in firsts]
    for a in range(len(firsts)):
        if rules.keeps_apart(component[a], component[a]):
            allowed &= counts[:, a] <= 1
        for b in range(a):
            if rules.keeps_apart(component[a], component[b]):
                allowed &= (counts[:, a] == 0) | (counts[:, b] == 0)
    return costs, np.asarray(allowed, dtype=np.bool_)
