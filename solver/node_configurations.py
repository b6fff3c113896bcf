"""Configurations: every content that fits one node, with what it costs.

Whatever is local to a node disappears into the column: hard rules decide whether the
configuration exists, soft ones and savings are constants of it (design section 8, step 2).
Topologies here have one worker per node (`has_single_workers`), so a configuration is a vector
of counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from slotwise.models.numbers import NO_LIMIT
from slotwise.models.problem import RACK, WORKER, BoolArray, IntArray, Problem
from slotwise.solver.kinds import Kinds

MOST_ROWS = 1_000_000
"""Beyond this many configurations of one node the engine does not take the instance."""


class TooManyConfigurationsError(Exception):
    """A node has more than `MOST_ROWS` configurations."""


@dataclass(frozen=True, slots=True, eq=False)
class Configurations:
    """All contents of a node type.

    Parameters
    ----------
    counts
        [Y, K] tasks of each kind; row 0 is the empty node.
    parts
        Part of the objective -> [Y] its value on this node; ``network`` is minus the saving
        against tasks on different nodes of one rack.
    """

    counts: IntArray
    parts: Mapping[str, IntArray]

    def where(self, kept: BoolArray) -> Configurations:
        """Return only the rows of `kept`."""
        return Configurations(
            self.counts[kept], {part: values[kept] for part, values in self.parts.items()}
        )


def enumerate_configurations(problem: Problem, kinds: Kinds, node: int) -> Configurations:
    """Return every content that keeps the hard rules of a node like `node`.

    Raises
    ------
    TooManyConfigurationsError
        When there are more than `MOST_ROWS`.
    """
    counts = _fitting(problem, kinds, node)
    load, workers = _load(problem, kinds, counts)
    kept = (workers <= problem.slots[node]) & _capped(problem, kinds, counts)
    capacity = problem.capacity[node]
    kept &= ((load <= capacity) | ~problem.hard).all(axis=1)
    counts, load, workers = counts[kept], load[kept], workers[kept]
    saving = int(problem.distance[RACK] - problem.distance[WORKER])
    linear = np.zeros(len(counts), dtype=np.int64)
    if problem.linear is not None:
        firsts = [group[0] for group in kinds.members]
        linear = counts @ problem.linear[firsts, node]
    return Configurations(
        counts=counts,
        parts={
            "overload": np.maximum(load - capacity, 0) @ problem.soft_weight,
            "network": -saving * kinds.pairs(counts),
            "nodes": (workers > 0).astype(np.int64),
            "workers": workers,
            "linear": linear,
        },
    )


def _fitting(problem: Problem, kinds: Kinds, node: int) -> IntArray:
    """Return [Y, K] all counts whose bare demand keeps the hard capacities, the empty one first."""
    capacity = np.where(problem.hard, problem.capacity[node], NO_LIMIT)
    rows = np.zeros((1, 0), dtype=np.int64)
    load = np.zeros((1, len(problem.dims)), dtype=np.int64)
    for k in range(kinds.count):
        steps = np.arange(int(kinds.sizes[k]) + 1, dtype=np.int64)
        loads = load[:, None, :] + steps[None, :, None] * kinds.demand[k][None, None, :]
        fits = (loads <= capacity).all(axis=2)
        if int(fits.sum()) > MOST_ROWS:
            raise TooManyConfigurationsError
        row, step = np.nonzero(fits)
        rows = np.concatenate([rows[row], steps[step][:, None]], axis=1)
        load = loads[row, step]
    return rows


def _load(problem: Problem, kinds: Kinds, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return [Y, D] loads with shared regions and least cpu, and [Y] number of workers."""
    load = counts @ kinds.demand
    workers = np.zeros(len(counts), dtype=np.int64)
    for t in range(len(problem.rules)):
        columns = kinds.topology == t
        present = (counts[:, columns] > 0).any(axis=1)
        workers += present
        if problem.cpu is not None and problem.min_worker_cpu:
            cpu = counts[:, columns] @ kinds.demand[columns, problem.cpu]
            load[:, problem.cpu] += present * np.maximum(problem.min_worker_cpu - cpu, 0)
    for region in problem.regions:
        columns = np.array([group[0] in region.classes for group in kinds.members], dtype=np.bool_)
        assert problem.memory is not None, "a region gives the problem a memory dimension"
        load[:, problem.memory] += region.size * (counts[:, columns] > 0).any(axis=1)
    return load, workers


def _capped(problem: Problem, kinds: Kinds, counts: IntArray) -> BoolArray:
    """Return [Y] whether the most tasks per node of each component are kept."""
    kept = np.ones(len(counts), dtype=np.bool_)
    for rules in problem.rules:
        for component, most in rules.max_per_node:
            columns = [problem.classes[group[0]].component == component for group in kinds.members]
            kept &= counts[:, np.array(columns, dtype=np.bool_)].sum(axis=1) <= most
    return kept
