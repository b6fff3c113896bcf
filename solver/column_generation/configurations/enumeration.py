"""Configurations: every set of tasks that fits one node, with its costs.

Whatever is local to a node disappears into the column: hard rules decide whether the
configuration exists; soft ones, savings and the best split into workers are constants of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import NODE, RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.params import ConfigurationsParams
from slotwise.solver.column_generation.worker_packing.table import Packing, pack
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.structure.node_types import has_single_workers
from slotwise.solver.structure.task_types import TaskTypes

RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "shared_memory",
        "worker_min_cpu",
        "soft",
    }
)
"""Rules that configurations keep."""

PARTS = frozenset(("overload", "network", "nodes", "workers", "linear"))
"""Parts of the objective that configurations count."""


@dataclass(frozen=True, slots=True, eq=False)
class Configurations:
    """All configurations of a node type.

    Parameters
    ----------
    counts
        [Y, K] tasks of each kind.
    parts
        Part of the objective -> [Y] its value on this node; ``network`` is minus the saving
        against tasks on different nodes of one rack.
    packings
        Topology -> how its tasks are split into workers; absent where one worker is enough.
    """

    counts: IntArray
    parts: Mapping[str, IntArray]
    packings: Mapping[int, Packing]

    def where(self, mask: BoolArray) -> Configurations:
        """Return only the rows of `mask`."""
        parts = {part: values[mask] for part, values in self.parts.items()}
        return Configurations(self.counts[mask], parts, self.packings)


def enumerate_configurations(
    problem: Problem,
    kinds: TaskTypes,
    nodes: Sequence[int],
    time_s: float,
    params: ConfigurationsParams,
    token: RunToken,
) -> tuple[Configurations, ...]:
    """Return, for each of the nodes, every configuration that keeps the hard rules of such a node.

    Raises
    ------
    NotTakenError
        When there are more than `params` allow, or tabling their workers would take longer than
        `time_s` seconds for one topology.
    """
    fitting = [_fitting(problem, kinds, node, params, token) for node in nodes]
    packings = {
        t: pack(problem, kinds, t, fitting, time_s, params.packing, token)
        for t in range(len(problem.rules))
        if not has_single_workers(problem, t)
    }
    return tuple(
        _configurations(problem, kinds, node, counts, packings, time_s, token)
        for node, counts in zip(nodes, fitting, strict=True)
    )


def _configurations(
    problem: Problem,
    kinds: TaskTypes,
    node: int,
    counts: IntArray,
    packings: Mapping[int, Packing],
    time_s: float,
    token: RunToken,
) -> Configurations:
    saving, workers, packed = _split(problem, kinds, packings, counts)
    slots = int(problem.slots[node])
    if packings and (workers[packed] > slots).any():
        if len(problem.rules) > 1:
            raise NotTakenError("the best workers of several topologies exceed a node's slots")
        packings = {t: packing.within(slots, time_s, token) for t, packing in packings.items()}
        saving, workers, packed = _split(problem, kinds, packings, counts)
    counts, saving, workers = counts[packed], saving[packed], workers[packed]
    load = least_load(problem, kinds, counts)
    capacity = problem.capacity[node]
    mask = ((load <= capacity) | ~problem.hard).all(axis=1) & (workers <= slots)
    linear = np.zeros(len(counts), dtype=np.int64)
    if problem.linear is not None:
        linear = counts @ problem.linear[[group[0] for group in kinds.members], node]
    parts = {
        "overload": np.maximum(load - capacity, 0) @ problem.soft_weight,
        "network": -saving,
        "nodes": (workers > 0).astype(np.int64),
        "workers": workers,
        "linear": linear,
    }
    return Configurations(counts, parts, packings).where(mask)


def _split(
    problem: Problem, kinds: TaskTypes, packings: Mapping[int, Packing], counts: IntArray
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return [Y] network saving, number of workers, and whether the tasks split at all."""
    on_node = int(problem.distance[RACK] - problem.distance[NODE])
    in_worker = int(problem.distance[NODE] - problem.distance[WORKER])
    saving = on_node * kinds.pairs(counts)
    workers = np.zeros(len(counts), dtype=np.int64)
    packed = np.ones(len(counts), dtype=np.bool_)
    for t in range(len(problem.rules)):
        if t in packings:
            gain, opened, possible = packings[t].gains(counts)
            packed &= possible
        else:
            own = counts * (kinds.topology == t)
            gain, opened = kinds.pairs(own), own.any(axis=1).astype(np.int64)
        saving = saving + in_worker * gain
        workers = workers + opened
    return saving, workers, packed


def _fitting(
    problem: Problem, kinds: TaskTypes, node: int, params: ConfigurationsParams, token: RunToken
) -> IntArray:
    """Return [Y, K] all counts whose bare demand keeps the hard capacities and caps."""
    capacity = np.where(problem.hard, problem.capacity[node], NO_LIMIT)
    rows = np.zeros((1, 0), dtype=np.int64)
    load = np.zeros((1, len(problem.dims)), dtype=np.int64)
    for k in range(kinds.count):
        token.check()
        steps = _steps(problem, kinds, k, capacity, len(rows), params, token)
        loads = load[:, None, :] + steps[None, :, None] * kinds.demand[k][None, None, :]
        fits = (loads <= capacity).all(axis=2)
        count = int(np.count_nonzero(fits))
        size = 8 * count * (2 * (k + 2) + load.shape[1])
        token.check_room(size, f"{count:,} configurations of a node")
        row, step = np.nonzero(fits)
        rows = np.concatenate([rows[row], steps[step][:, None]], axis=1)
        load = loads[row, step]
        if not any(rules.max_per_node for rules in problem.rules):
            _check_count(len(rows) + _larger_by_one_kind(kinds, k + 1, capacity - load), params)
    rows = rows[within_node_caps(problem, kinds, rows)]
    _check_count(len(rows), params)
    return rows


def _check_count(least: int, params: ConfigurationsParams) -> None:
    """Decline a problem whose nodes have `least` configurations or more, if these are too many."""
    if least > params.max_configurations:
        raise _too_many(params)


def _too_many(params: ConfigurationsParams) -> NotTakenError:
    return NotTakenError(f"a node has more than {params.max_configurations:,} configurations")


def _larger_by_one_kind(kinds: TaskTypes, first: int, room: IntArray) -> int:
    """Return how many contents add tasks of one kind, `first` or later, to a row of `room` [Y, D].

    They are configurations, so that too many are known before the last kinds fill the memory.
    """
    count = 0
    for k in range(first, kinds.count):
        needs = kinds.demand[k] > 0
        more = np.min(room[:, needs] // kinds.demand[k][needs], axis=1, initial=kinds.sizes[k])
        count += int(more.sum())
    return count


def _steps(
    problem: Problem,
    kinds: TaskTypes,
    k: int,
    capacity: IntArray,
    rows: int,
    params: ConfigurationsParams,
    token: RunToken,
) -> IntArray:
    """Return the counts of kind k that one node can hold, if trying them all is affordable."""
    needs = kinds.demand[k] > 0
    most = int(min([kinds.sizes[k], *(capacity[needs] // kinds.demand[k][needs]).tolist()]))
    _check_count(rows, params)
    if rows * (most + 1) * max(1, len(problem.dims)) > params.max_entries:
        raise _too_many(params)
    size = 10 * rows * (most + 1) * len(problem.dims)
    token.check_room(size, f"the loads of {rows * (most + 1):,} configurations of a node")
    return np.arange(most + 1, dtype=np.int64)


def least_load(problem: Problem, kinds: TaskTypes, counts: IntArray) -> IntArray:
    """Return [Y, D] loads with shared regions and least cpu of single workers: the least there is.

    More workers of a topology only add to them.
    """
    load = counts @ kinds.demand
    for t in range(len(problem.rules)):
        columns = kinds.topology == t
        present = (counts[:, columns] > 0).any(axis=1)
        if problem.cpu is not None and problem.min_worker_cpu:
            cpu = counts[:, columns] @ kinds.demand[columns, problem.cpu]
            load[:, problem.cpu] += present * np.maximum(problem.min_worker_cpu - cpu, 0)
    for region in problem.regions:
        columns = kinds.among(region.classes)
        assert problem.memory is not None, "a region gives the problem a memory dimension"
        load[:, problem.memory] += region.size * (counts[:, columns] > 0).any(axis=1)
    return load


def within_node_caps(problem: Problem, kinds: TaskTypes, counts: IntArray) -> BoolArray:
    """Return [Y] whether the most tasks per node of each component are kept."""
    mask = np.ones(len(counts), dtype=np.bool_)
    for rules in problem.rules:
        for component, most in rules.max_per_node:
            columns = [problem.classes[group[0]].component == component for group in kinds.members]
            mask &= counts[:, np.array(columns, dtype=np.bool_)].sum(axis=1) <= most
    return mask
