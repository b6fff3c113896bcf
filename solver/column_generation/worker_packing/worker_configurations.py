"""All configurations of one worker of a topology, as the rules of its workers allow."""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.params import PackingParams
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.structure.task_types import TaskTypes


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
