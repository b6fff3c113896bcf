"""All configurations of one worker of a topology, as the rules of its workers allow."""

from __future__ import annotations

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray, Problem, Rules
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.params import PackingParams
from slotwise.solver.core.ctrl_c import check_stop
from slotwise.solver.core.engine import NotTakenError
from slotwise.solver.core.memory import check_room
from slotwise.solver.structure.task_types import TaskTypes


def worker_configurations(
    problem: Problem,
    kinds: TaskTypes,
    topology: int,
    most: IntArray,
    params: PackingParams,
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
    limit = 1 if rules.one_task_per_worker else int(most.sum())
    rows = np.zeros((1, 0), dtype=np.int64)
    used = np.zeros(1, dtype=np.int64)
    load = np.zeros((1, len(room)), dtype=np.int64)
    tasks = np.zeros(1, dtype=np.int64)
    for k in range(len(columns)):
        check_stop()
        steps = np.arange(int(most[k]) + 1, dtype=np.int64)
        if len(rows) * len(steps) > params.max_entries:
            raise NotTakenError(
                f"a worker has more than {params.max_configurations:,} configurations"
            )
        check_room(10 * len(rows) * len(steps) * (len(room) + 2), "the configurations of a worker")
        heaps = used[:, None] + steps[None, :] * heap[k]
        counts = tasks[:, None] + steps[None, :]
        loads = load[:, None, :] + steps[None, :, None] * kinds.demand[columns[k]]
        fits = (heaps <= rules.heap_limit) & (counts <= limit) & (loads <= room).all(axis=2)
        fits &= _together(rules, component, rows, k)[:, None] | (steps == 0)[None, :]
        fits &= (steps <= _most_of_one(rules, component, rows, k)[:, None]) | (steps == 0)[None, :]
        if int(fits.sum()) > params.max_configurations:
            raise NotTakenError(
                f"a worker has more than {params.max_configurations:,} configurations"
            )
        row, step = np.nonzero(fits)
        rows = np.concatenate([rows[row], steps[step][:, None]], axis=1)
        used, load, tasks = heaps[row, step], loads[row, step], counts[row, step]
    return rows[tasks > 0]


def _together(rules: Rules, component: list[int], rows: IntArray, k: int) -> BoolArray:
    """Return which partial configurations a task of kind k may join, isolation rules considered."""
    allowed = np.ones(len(rows), dtype=np.bool_)
    pairs = set(rules.incompatible)
    for j in range(rows.shape[1]):
        a, b = sorted((component[j], component[k]))
        apart = a != b and (rules.one_component_per_worker or (a, b) in pairs)
        if apart:
            allowed &= rows[:, j] == 0
    return allowed


def _most_of_one(rules: Rules, component: list[int], rows: IntArray, k: int) -> IntArray:
    """Return how many tasks of kind k may join: 1 in all of a component apart from itself."""
    if (component[k], component[k]) not in rules.incompatible:
        return np.full(len(rows), NO_LIMIT, dtype=np.int64)
    same = [j for j in range(rows.shape[1]) if component[j] == component[k]]
    return np.asarray(1 - rows[:, same].sum(axis=1), dtype=np.int64)
